"""Inspect's viewer, the released one, shows logs that we export: `pip install inspect-ai` lets this run."""

import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.support.command import typed

pytest.importorskip("inspect_ai", reason="pip install inspect-ai (the dependency group exchange)")
pytestmark = pytest.mark.long
SAMPLE = Path(__file__).parents[2] / "docs" / "sample-run"
_URL = re.compile(r"https?://127\.0\.0\.1:\d+\S*")


@pytest.fixture
def viewer(tmp_path) -> Iterator[str]:
    """The address of a viewer of the recorded run's logs."""
    done = typed("report", SAMPLE, "--export", "logs", "--format", "inspect", cwd=tmp_path)
    assert done.status == 0, done.complaint
    program = Path(sys.executable).with_name("inspect")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    serving = subprocess.Popen(
        [program, "view", "--log-dir", "logs", "--host", "127.0.0.1", "--port", port],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    assert serving.stdout
    try:
        yield next(found[0] for line in serving.stdout if (found := _URL.search(line)))
    finally:
        serving.kill()
        serving.wait()


def test_the_viewer_lists_our_logs_and_shows_a_transcript(viewer: str, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 1600, "height": 1000})
    page.goto(viewer)
    expect(page.get_by_text("aiosmtpd-proxy-tlv").first).to_be_visible(timeout=30_000)
    expect(page.get_by_text("jansson-object-merge").first).to_be_visible()
    assert page.get_by_text("No matching items").count() == 0
    page.get_by_text("scripted-gpt.yaml").last.click()
    page.get_by_role("gridcell", name="failed").first.click()
    expect(page.get_by_text(re.compile("model call", re.IGNORECASE)).first).to_be_visible(timeout=30_000)
    page.close()
