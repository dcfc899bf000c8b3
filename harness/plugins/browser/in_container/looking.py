"""The fixture by which a walk through pages keeps what a screen reader would say of each.

It lies in the tests' container as their conftest.py.
"""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

SEEN = "pages.json"


@pytest.fixture
def look(base_url: str) -> Iterator[Callable[[Page, str], None]]:
    seen: list[tuple[str, str]] = []

    def keep(page: Page, name: str) -> None:
        seen.append((name, page.locator("body").aria_snapshot().replace(base_url, "")))

    yield keep
    Path(os.environ["TESTWRIGHT_REPORT_DIR"], SEEN).write_text(json.dumps(seen))
