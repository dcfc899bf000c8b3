"""The main command of a companion: starts the application, waits until it is healthy, and passes requests on.

    python3 serve.py SETTINGS

SETTINGS is a JSON file: `command` (argv of the application; `{port}` and `{data}` stand for what is drawn here),
`health` (a path of it), `port` (ours), `proxy` (see proxy.py). Runs on Python 3.11 or newer alone.

Prints a line when all is up, and before that why it isn't yet, once each. Once the application has ended it says so in the log of requests, and goes on: what the
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
LOOK_SECONDS, ANSWER_SECONDS = 0.02, 5


def main() -> None:
    settings = json.loads(Path(sys.argv[1]).read_text())
    log = Log(Path(os.environ["TESTWRIGHT_REPORT_DIR"]) / "stage.jsonl")
    port = free_port(besides=settings["port"])
    data = tempfile.mkdtemp(prefix="data-")
    command = [word.replace("{port}", str(port)).replace("{data}", data) for word in settings["command"]]
    application = subprocess.Popen(command)
    said = ""
    while why := unhealthy(port, settings["health"]):
        if application.poll() is not None:
            sys.exit(f"the application ended with status {application.returncode}: {' '.join(command)}")
        if why != said:
            print(f"GET {settings['health']}: {why}", flush=True)
        said = why
        time.sleep(LOOK_SECONDS)
    try:
        server = proxy_server(settings["port"], port, settings["proxy"], log)
    except OSError as error:
        application.kill()
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


def unhealthy(port: int, path: str) -> str:
    """Return why the application isn't up; empty where it is. One that accepts and says nothing isn't, and is asked
    again.
    """
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWER_SECONDS)
    try:
        connection.request("GET", path)
        status = connection.getresponse().status
    except TimeoutError:
        return f"no answer in {ANSWER_SECONDS} seconds"
    except (OSError, http.client.HTTPException) as error:
        return getattr(error, "strerror", None) or type(error).__name__
    finally:
        connection.close()
    return "" if status == http.HTTPStatus.OK else f"status {status}"


if __name__ == "__main__":
    main()
