"""Where the tests find the application: at BASE_URL, or on a server of their own.

Where reports are asked for, a page on which a test fails leaves its picture beside them. A machine may have another
window (BROWSER_WINDOW, such as 1100x640) and another language (BROWSER_LOCALE).
"""

import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Error

HERE = Path(__file__).parent


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
        command = [sys.executable, "serve_app.py", "--port", str(port), "--data", data]
        server = subprocess.Popen(command, cwd=HERE, stderr=subprocess.DEVNULL)
        try:
            while server.poll() is None and not _is_up(url):
                time.sleep(0.05)
            yield url
        finally:
            server.terminate()
            server.wait()


def _is_up(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5):
            return True
    except (urllib.error.URLError, ConnectionError):
        return False


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict[str, Any]) -> dict[str, Any]:
    here: dict[str, Any] = {}
    if window := os.environ.get("BROWSER_WINDOW"):
        width, height = map(int, window.split("x"))
        here["viewport"] = {"width": width, "height": height}
    if language := os.environ.get("BROWSER_LOCALE"):
        here["locale"] = language
    return {**here, **browser_context_args}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Function, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    browser = item.funcargs.get("browser")
    if (reports := os.environ.get("TESTWRIGHT_REPORT_DIR")) and browser and report.when == "call" and report.failed:
        name = re.sub(r"\W+", "-", item.nodeid.partition("[")[0])
        for page in [page for context in browser.contexts for page in context.pages][-1:]:
            with suppress(Error):  # a page that hangs or is gone has no picture
                page.screenshot(path=Path(reports) / f"{name}.png", timeout=2_000)
    return report
