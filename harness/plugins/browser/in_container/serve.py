"""The main command of a companion: starts the application, waits until it is healthy, and passes requests on.

    python3 serve.py SETTINGS

SETTINGS is a JSON file: `program` (the application's Python program and its arguments; `{port}` and `{data}` stand
for what is drawn here), `health` (a path of it), `port` (ours), `proxy` (see proxy.py). Runs on Python 3.11 or newer
alone.

The application answers only the proxy, by a word that is drawn here (see guarded.py).

Prints a line when all is up, and before that why it isn't yet, once each. Once the application has ended it says so
in the log of requests, and goes on: what the tests did to it is for others to judge.
"""

import http.client
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from proxy import Application, Log, proxy_server

READY = "testwright: ready"
LOOK_SECONDS, ANSWER_SECONDS = 0.02, 5
WORD_BYTES = 16
GUARDED = str(Path(__file__).with_name("guarded.py"))


def main() -> None:
    settings = json.loads(Path(sys.argv[1]).read_text())
    log = Log(Path(os.environ["TESTWRIGHT_REPORT_DIR"]) / "stage.jsonl")
    to = Application(free_port(besides=settings["port"]), secrets.token_bytes(WORD_BYTES))
    data = tempfile.mkdtemp(prefix="data-")
    program = [word.replace("{port}", str(to.port)).replace("{data}", data) for word in settings["program"]]
    env = {**os.environ, "STAGE_WORD": to.word.hex()}
    application = subprocess.Popen([sys.executable, GUARDED, *program], env=env)
    said = ""
    while why := unhealthy(to, settings["health"]):
        if application.poll() is not None:
            sys.exit(f"the application ended with status {application.returncode}: {' '.join(program)}")
        if why != said:
            print(f"GET {settings['health']}: {why}", flush=True)
        said = why
        time.sleep(LOOK_SECONDS)
    try:
        server = proxy_server(settings["port"], to, settings["proxy"], log)
    except OSError as error:
        application.kill()
        sys.exit(f"port {settings['port']}: {error.strerror}")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    # In one piece, and on a line of its own even where the application has begun one.
    sys.stdout.write(f"\n{READY}\n")
    sys.stdout.flush()
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


def unhealthy(to: Application, path: str) -> str:
    """Return why the application isn't up; empty where it is. One that accepts and says nothing isn't."""
    connection = to.connection(ANSWER_SECONDS)
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
