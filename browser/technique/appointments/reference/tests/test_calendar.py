"""The calendar, as it looks from two places: each test says where it is."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

Viewer = Callable[[str, str], Page]


@pytest.fixture
def viewer(browser: Browser, base_url: str) -> Iterator[Viewer]:
    contexts = []

    def opened(locale: str, zone: str) -> Page:
        contexts.append(browser.new_context(base_url=base_url, locale=locale, timezone_id=zone))
        page = contexts[-1].new_page()
        page.goto("/calendar")
        return page

    yield opened
    for context in contexts:
        context.close()


def shows(page: Page, title: str, *words: str) -> None:
    line = page.get_by_role("listitem").filter(has_text=title)
    for word in words:
        expect(line).to_contain_text(word)


def test_every_appointment_is_listed(page: Page) -> None:
    page.goto("/calendar")
    expect(page.get_by_role("listitem")).to_have_count(2)
    expect(page.get_by_text("Stocktaking")).to_be_visible()
    expect(page.get_by_text("Summer party")).to_be_visible()


def test_berlin_in_german(viewer: Viewer) -> None:
    page = viewer("de-DE", "Europe/Berlin")
    shows(page, "Stocktaking", "31.01.2025", "23:30")
    shows(page, "Summer party", "04.07.2025", "17:00")


def test_new_york_in_american_english(viewer: Viewer) -> None:
    page = viewer("en-US", "America/New_York")
    shows(page, "Stocktaking", "Jan 31, 2025", "5:30", "PM")
    shows(page, "Summer party", "Jul 4, 2025", "11:00", "AM")
