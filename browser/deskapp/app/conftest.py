"""Where the tests find the application: at BASE_URL, or on a server of their own."""

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def base_url() -> Iterator[str]:
    if url := os.environ.get("BASE_URL"):
        yield url
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://localhost:{port}"
    with tempfile.TemporaryDirectory() as data:
        command = [sys.executable, "-m", "deskapp", "--port", str(port), "--data", data]
        server = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            while server.poll() is None and not _is_up(url):
                time.sleep(0.05)
            yield url
        finally:
            server.terminate()
            server.wait()


def _is_up(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/healthz", timeout=5):
            return True
    except (urllib.error.URLError, ConnectionError):
        return False
