"""The main command of a companion: starts the application, waits until it is healthy, and passes requests on.

    python3 serve.py SETTINGS

SETTINGS is a JSON file: `command` (argv of the application; `{port}` and `{data}` stand for what is drawn here),
`health` (a path of it), `port` (ours), `proxy` (see proxy.py). Runs on Python 3.11 or newer alone.

Prints a line when all is up. Once the application has ended it says so in the log of requests, and goes on: what the
tests did to it is for others to judge.
"""

import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from proxy import Log, proxy_server  # noqa: E402

READY = "testwright: ready"
LOOK_SECONDS = 0.02


def main() -> None:
    settings = json.loads(Path(sys.argv[1]).read_text())
    log = Log(Path(os.environ["TESTWRIGHT_REPORT_DIR"]) / "stage.jsonl")
    port = free_port(besides=settings["port"])
    data = tempfile.mkdtemp(prefix="data-")
    command = [word.replace("{port}", str(port)).replace("{data}", data) for word in settings["command"]]
    application = subprocess.Popen(command)
    while not healthy(port, settings["health"]):
        if application.poll() is not None:
            sys.exit(f"the application ended with status {application.returncode}: {' '.join(command)}")
        time.sleep(LOOK_SECONDS)
    try:
        server = proxy_server(settings["port"], port, settings["proxy"], log)
    except OSError as error:
        sys.exit(f"port {settings['port']}: {error.strerror}")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(READY, flush=True)
    status = application.wait()
    log.add({"ended": status})
    threading.Event().wait()


def free_port(besides: int) -> int:
    while True:
        with socket.socket() as place:
            place.bind(("127.0.0.1", 0))
            port = int(place.getsockname()[1])
        if port != besides:
            return port


def healthy(port: int, path: str) -> bool:
    """Return whether the application answers; one that accepts and says nothing isn't healthy, and is asked again."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    main()
