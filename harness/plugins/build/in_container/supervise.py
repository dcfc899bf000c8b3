"""The main command of an application's container: starts the application, stops it and kills it when it is told to.

    python3 -I supervise.py SETTINGS

SETTINGS is a JSON file: `port` (the application's), `control` (ours), `stop_seconds`, `environment`. What an earlier
start left in DATA_DIR lies beside it as `kept.tar`. DATA_DIR is below the directory of reports, so that the engine
reads it once everything here has been killed. All else but WRITABLE is mounted read-only.

Whoever asks is in another container, on the same loopback network:

    POST /start     starts the application
    POST /stop      SIGTERM; answers {seconds, status, left, written}, and kills what is left
    POST /kill      kills every process of the application
    GET  /state     {status}: None while the application runs

No process of the application can look into this one or write to it: see `hide`. It can end it, which loses the run.
Runs on Python 3.11 or newer alone.
"""

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import tarfile
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

READY = "testwright: ready"
LOOK_SECONDS = 0.02
PR_SET_DUMPABLE = 4
HERE = Path(__file__).parent
TREE = Path.cwd()
REPORTS = Path(os.environ["TESTWRIGHT_REPORT_DIR"])
DATA = REPORTS / "data"
WRITABLE = (REPORTS, Path("/tmp"), Path("/dev/shm"))
KEPT_FROM_APP = {"PATH", "HOME", "LANG"}


def hide():
    """Let no other process of the same user trace this one, read its memory or take its sockets."""
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


class Application:
    """One application, and the files that were there before its start."""

    def __init__(self, settings):
        self.settings = settings
        self.process = None
        self.before = {}

    def start(self):
        if not self.before:
            self.before = self._files()
        env = {name: value for name, value in os.environ.items() if name in KEPT_FROM_APP}
        env["PATH"] = f"{TREE}/.packages/bin:{env.get('PATH', '')}"
        env |= {"PORT": str(self.settings["port"]), "DATA_DIR": str(DATA), "PYTHONPATH": f"{TREE}/.packages"}
        env |= self.settings["environment"]
        env["PYTHONDONTWRITEBYTECODE"] = env["PYTHONUNBUFFERED"] = "1"
        try:
            self.process = subprocess.Popen(
                [str(TREE / "run")], env=env, stdin=subprocess.DEVNULL, start_new_session=True
            )
        except OSError as error:
            return {"error": f"./run: {error.strerror}"}
        return {}

    def status(self):
        return self.process.poll() if self.process else None

    def stop(self):
        began, most = time.monotonic(), self.settings["stop_seconds"]
        status = None
        if self.process:
            with contextlib.suppress(ProcessLookupError):
                self.process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                status = self.process.wait(most)
        seconds = time.monotonic() - began
        left = len(others())
        self.kill()
        return {"seconds": seconds, "status": status, "left": left, "written": self.written()}

    def kill(self):
        """Kill every process but this one and those above it."""
        while found := others():
            for pid in found:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if self.process:
                self.process.poll()
            time.sleep(LOOK_SECONDS)
        return {}

    def written(self):
        """Return paths outside DATA_DIR that are new or changed."""
        return sorted(path for path, facts in self._files().items() if self.before.get(path) != facts)[:20]

    def _files(self):
        found = {}
        for top in WRITABLE:
            for folder, inner, names in os.walk(top):
                inner[:] = [name for name in inner if Path(folder, name) != DATA]
                for path in (Path(folder, name) for name in names):
                    with contextlib.suppress(OSError):
                        facts = path.lstat()
                        found[str(path)] = (facts.st_size, facts.st_mtime_ns)
        return found


def others():
    """Return the processes with a thread that goes on, but for this one and those above it."""
    own, pid = {1}, os.getpid()
    while pid > 1:
        own.add(pid)
        pid = int(facts_of(pid)[1])
    found = []
    for name in (path.name for path in Path("/proc").iterdir()):
        if name.isdigit() and int(name) not in own:
            with contextlib.suppress(OSError):
                if any(is_alive(thread.name) for thread in Path(f"/proc/{name}/task").iterdir()):
                    found.append(int(name))
    return found


def is_alive(thread):
    """Return whether a thread, or the first one of a process, goes on. Others may go on where the first has ended."""
    with contextlib.suppress(OSError):
        return facts_of(thread)[0] not in ("Z", "X")
    return False


def facts_of(pid):
    """Return state and parent of a process, or of a thread."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]


def main():
    if not Path("/.testwright/init").exists():  # `kill` spares nothing that it can see
        sys.exit("this runs in a container of testwright alone")
    if not all(os.statvfs(place).f_flag & os.ST_RDONLY for place in ("/", TREE)):
        sys.exit("the root of an application's container isn't read-only")
    hide()
    settings = json.loads(Path(sys.argv[1]).read_text())
    DATA.mkdir()
    if (HERE / "kept.tar").is_file():
        with tarfile.open(HERE / "kept.tar") as archive:
            archive.extractall(DATA)
    application = Application(settings)

    class Told(BaseHTTPRequestHandler):
        def log_message(self, *_):
            """Say nothing: the log is the application's."""

        def do_POST(self):
            does = {"/start": application.start, "/stop": application.stop, "/kill": application.kill}.get(self.path)
            self._answer(does() if does else None)

        def do_GET(self):
            self._answer({"status": application.status()} if self.path == "/state" else None)

        def _answer(self, told):
            body = json.dumps(told).encode()
            self.send_response(404 if told is None else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", settings["control"]), Told)
    print(READY, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
