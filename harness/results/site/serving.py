"""`testwright view`: a run's site on loopback, built anew while the run goes on."""

import errno
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

from harness.results.site.build import SiteBuilder
from harness.specs.catalog import Places
from harness.specs.errors import Extra, UserError, check_extra

VERSION = "version.txt"
"""Its text changes whenever the site has been built anew."""
_SECONDS = 2.0
"""Between two looks at the run's files."""


class _Handler(SimpleHTTPRequestHandler):
    """Files of the site, for whoever asks by this machine's own name: another site's page can't read them."""

    def do_GET(self) -> None:
        if self._is_ours():
            super().do_GET()

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
        """Nothing is said about each request."""


class _Server(ThreadingHTTPServer):
    """Says nothing of a browser that hangs up before it has everything."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def view(directories: list[Path], port: int, catalog: Places) -> int:
    """Serve until Ctrl-C. Raises UserError, also where the port is in use."""
    check_extra(Extra.SITE, "view")
    with tempfile.TemporaryDirectory(prefix="testwright-view-") as folder:
        builder = SiteBuilder(directories, Path(folder), catalog, is_live=True)
        with listening(Path(folder), port) as server:
            _build(builder, 1)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            print(f"http://127.0.0.1:{server.server_address[1]}/ (Ctrl-C ends it)", flush=True)
            with suppress(KeyboardInterrupt):
                follow(builder, threading.Event())
    return 0


@contextmanager
def listening(folder: Path, port: int) -> Iterator[ThreadingHTTPServer]:
    """Provide a server that has its port and answers once it is told to; 0 takes a free one."""
    try:
        server = _Server(("127.0.0.1", port), partial(_Handler, directory=str(folder)))
    except (OSError, OverflowError) as error:
        in_use = isinstance(error, OSError) and error.errno == errno.EADDRINUSE
        why = "is in use" if in_use else f"can't be had: {getattr(error, 'strerror', None) or error}"
        raise UserError(f"port {port} of 127.0.0.1 {why}; name another with --port, or 0 for a free one") from None
    try:
        yield server
    finally:
        server.server_close()


def follow(builder: SiteBuilder, stop: threading.Event) -> None:
    """Build again whenever the run's files have changed, until `stop` is set."""
    seen, number = files_seen(builder.directories), 1
    while not stop.wait(_SECONDS):
        now = files_seen(builder.directories)
        if now != seen:
            seen, number = now, number + 1
            _build(builder, number)


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


def _build(builder: SiteBuilder, number: int) -> None:
    builder.build()
    (builder.out / VERSION).write_text(str(number))
