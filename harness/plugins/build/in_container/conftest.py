"""What hidden tests use: the application, which runs in another container, and the supervisor beside it."""

import http.client
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ANSWER_SECONDS = 10.0
LOOK_SECONDS = 0.02
STATE = "state.json"


class Answer(NamedTuple):
    status: int
    headers: "dict[str, str]"
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def ask(
    port: int, method: str, path: str, body: "bytes | None" = None, headers: "dict[str, str] | None" = None
) -> Answer:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWER_SECONDS)
    try:
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        found = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(answer.status, found, answer.read())
    finally:
        connection.close()


class Application:
    """The application by HTTP, and what its supervisor does for us."""

    def __init__(self) -> None:
        self.port, self._control = int(os.environ["APP_PORT"]), int(os.environ["CONTROL_PORT"])
        self._start_seconds = float(os.environ["START_SECONDS"])

    def ask(self, method: str, path: str, told: Any = None, headers: "dict[str, str] | None" = None) -> Answer:
        body = None if told is None else json.dumps(told).encode()
        own = {"Content-Type": "application/json"} if told is not None else {}
        return ask(self.port, method, path, body, {**own, **(headers or {})})

    def send(self, path: str, body: bytes) -> Answer:
        return ask(self.port, "POST", path, body, {"Content-Type": "application/json"})

    def at_once(self, count: int, does: Any) -> "list[Any]":
        """Return what `does(number)` returns for each number, all of them begun together."""
        with ThreadPoolExecutor(count) as pool:
            return list(pool.map(does, range(count)))

    def start(self) -> float:
        """Start it and wait until it is healthy; return the seconds. Fail where it isn't in time."""
        began = time.monotonic()
        told = self._tell("/start")
        assert not told, f"it can't be started: {told}"
        why = ""
        while time.monotonic() - began < self._start_seconds:
            why = self._unhealthy()
            if not why:
                return time.monotonic() - began
            time.sleep(LOOK_SECONDS)
        pytest.fail(f"it isn't healthy in time: {why}", pytrace=False)

    def _unhealthy(self) -> str:
        status = ask(self._control, "GET", "/state").json["status"]
        if status is not None:
            pytest.fail(f"it ended with status {status}", pytrace=False)
        try:
            answer = ask(self.port, "GET", "/healthz")
        except (OSError, http.client.HTTPException) as error:
            return type(error).__name__
        return "" if answer.status == 200 else f"status {answer.status}"

    def healthy(self) -> bool:
        return self.ask("GET", "/healthz").status == 200

    def stop(self) -> Any:
        return self._tell("/stop", 60)

    def kill(self) -> None:
        self._tell("/kill")

    def _tell(self, path: str, seconds: float = ANSWER_SECONDS) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self._control, timeout=seconds)
        try:
            connection.request("POST", path)
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

    def leave(self, state: Any) -> None:
        """Keep something for the step after this one."""
        (Path(os.environ["TESTWRIGHT_REPORT_DIR"]) / STATE).write_text(json.dumps(state))

    def left(self) -> Any:
        return json.loads((Path(__file__).parent / STATE).read_text())


@pytest.fixture(scope="session")
def stopped() -> Application:
    return Application()


@pytest.fixture(scope="session")
def app(stopped: Application) -> Application:
    stopped.start()
    return stopped


@pytest.fixture(scope="session")
def served() -> Any:
    from provider import Provider

    found = Provider()
    found.serve(int(os.environ["PROVIDER_PORT"]))
    return found


@pytest.fixture
def provider(served: Any) -> Any:
    """The provider of models that the application asks, with nothing asked yet and nothing to answer."""
    served.begin()
    return served
