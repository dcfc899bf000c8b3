"""`testwright view`: a run's site on loopback. While the run goes on it says how far each trial is.

Pages that show what has changed are written anew; the others are left as they are.
"""

import errno
import json
import os
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path, PurePosixPath
from typing import Any, cast

from harness.models.replay import now
from harness.results.site.build import SiteBuilder
from harness.results.site.material import link, run_names
from harness.results.site.pages import visible
from harness.runs.at_work import AT_WORK, read_at_work
from harness.specs.catalog_places import Places
from harness.specs.errors import Extra, UserError, check_extra

_SECONDS = 2.0
"""Between two looks at the run's files."""


class _Handler(SimpleHTTPRequestHandler):
    """Files of the site, for whoever asks by this machine's own name: another site's page can't read them."""

    def __init__(self, *arguments: Any, runs: Sequence[Path], **options: Any) -> None:
        self._runs = runs
        super().__init__(*arguments, **options)

    def do_GET(self) -> None:
        if not self._is_ours():
            return
        if self.path == f"/{AT_WORK}":
            self._tell_at_work()
        else:
            super().do_GET()

    def _tell_at_work(self) -> None:
        data = json.dumps(at_work(self._runs)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_HEAD(self) -> None:
        if self._is_ours():
            super().do_HEAD()

    def _is_ours(self) -> bool:
        port = cast("tuple[str, int]", self.server.server_address)[1]
        if self.headers.get("Host") in (f"127.0.0.1:{port}", f"localhost:{port}"):
            return True
        self.send_error(421)
        return False

    def end_headers(self) -> None:
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def list_directory(self, path: Any) -> None:  # noqa: ARG002  # the name is http.server's
        self.send_error(404)

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing for a request."""


class _Server(ThreadingHTTPServer):
    """A server that says nothing of a browser that hangs up before it has everything."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def view(directories: list[Path], port: int, catalog: Places) -> int:
    """Serve the site of some runs on 127.0.0.1 until Ctrl-C.

    Raises:
        UserError: A run can't be read, or the port is in use.
    """
    check_extra(Extra.SITE, "view")
    with tempfile.TemporaryDirectory(prefix="testwright-view-") as folder:
        builder = SiteBuilder(directories, Path(folder), catalog, is_live=True)
        with listening(Path(folder), port, directories) as server:
            builder.build()
            threading.Thread(target=server.serve_forever, daemon=True).start()
            print(f"http://127.0.0.1:{server.server_address[1]}/ (Ctrl-C ends it)", flush=True)
            with suppress(KeyboardInterrupt):
                follow(builder, threading.Event())
    return 0


@contextmanager
def listening(folder: Path, port: int, runs: Sequence[Path] = ()) -> Iterator[ThreadingHTTPServer]:
    """Provide a server that has its port and answers once it is told to; 0 takes a free one."""
    try:
        server = _Server(("127.0.0.1", port), partial(_Handler, directory=str(folder), runs=runs))
    except (OSError, OverflowError) as error:
        in_use = isinstance(error, OSError) and error.errno == errno.EADDRINUSE
        why = "is in use" if in_use else f"can't be had: {getattr(error, 'strerror', None) or error}"
        raise UserError(f"port {port} of 127.0.0.1 {why}; name another with --port, or 0 for a free one") from None
    try:
        yield server
    finally:
        server.server_close()


def at_work(directories: Sequence[Path]) -> list[dict[str, Any]]:
    """Return how far each run is that is at work, with the pages of its trials; strings are fit to be shown.

    `is_lost`: the process has ended without a word, so that this is how far it was.
    """
    told = []
    names = run_names(list(directories))
    for name, directory in zip(names, directories, strict=True):
        file = read_at_work(directory)
        if file is None:
            continue
        found = file.model_dump(mode="json", exclude={"trials", "schema_version"})
        place = name if len(directories) > 1 else ""
        trials = [
            {
                **trial.model_dump(mode="json", exclude={"schema_version"}),
                "label": visible(trial.label),
                "href": link(str(PurePosixPath("trials", place, f"{trial.place}.html"))),
                "seconds": round((now() - trial.began).total_seconds()),
            }
            for trial in file.trials
        ]
        told.append({**found, "run": visible(name), "is_lost": not _is_alive(file.pid), "trials": trials})
    return told


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def follow(builder: SiteBuilder, stop: threading.Event) -> None:
    """Build again whenever the run's files have changed, until `stop` is set."""
    seen = files_seen(builder.directories)
    while not stop.wait(_SECONDS):
        now_seen = files_seen(builder.directories)
        if now_seen != seen:
            seen = now_seen
            builder.build()


def files_seen(directories: Iterable[Path]) -> frozenset[tuple[str, int, int]]:
    """Return what changes with every step that a run takes."""
    found = []
    for directory in directories:
        for pattern in ("run.yaml", "events.jsonl", "trials/*/*/*/*", "trials/*/*/*/*/*"):
            for path in directory.glob(pattern):
                try:
                    status = path.stat()
                except OSError:
                    continue
                found.append((str(path), status.st_mtime_ns, status.st_size))
    return frozenset(found)
