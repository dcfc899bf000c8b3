"""The home page of an application with pages: the same for every brief that has them."""

import os
from pathlib import Path

from browsing import script_errors
from playwright.sync_api import Page

pytest_plugins = ["browsing"]


def test_the_home_page_opens_without_a_script_error(page: Page) -> None:
    errors = script_errors(page)
    answer = page.goto(os.environ["HOME_PAGE"])
    page.wait_for_load_state("networkidle")
    page.screenshot(path=Path(os.environ["TESTWRIGHT_REPORT_DIR"]) / "home.png")
    assert answer
    assert answer.ok, f"status {answer.status}"
    assert errors == []
