"""SWE-ReX's own server in a process of its own, on loopback with a random port and token."""

import secrets
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_SERVE = """
import os, sys, uvicorn
import swerex.server as server
server.AUTH_TOKEN = os.environ.pop("TOKEN_OF_TEST")
uvicorn.run(server.app, fd=int(sys.argv[1]), log_level="error")
"""
"""Its own command would make us guess a free port."""
_START_SECONDS = 60


@dataclass(frozen=True)
class Server:
    url: str
    token: str
    process: subprocess.Popen[bytes]


@contextmanager
def swerex_server(home: Path) -> Iterator[Server]:
    """A server that runs commands as this user; it sees none of our environment."""
    token = secrets.token_hex(16)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.set_inheritable(True)
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(home), "TOKEN_OF_TEST": token}
        process = subprocess.Popen(
            [sys.executable, "-c", _SERVE, str(listening.fileno())],
            env=environment,
            cwd=home,
            pass_fds=[listening.fileno()],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    try:
        _await_answer(url, token, process)
        yield Server(url, token, process)
    finally:
        process.kill()
        process.wait(timeout=10)


def _await_answer(url: str, token: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while True:
        assert process.poll() is None, "the SWE-ReX server has ended"
        try:
            request = urllib.request.Request(f"{url}/is_alive", headers={"X-API-Key": token})
            with urllib.request.urlopen(request, timeout=_START_SECONDS):
                return
        except urllib.error.URLError:
            assert time.monotonic() < deadline, "the SWE-ReX server doesn't answer"
