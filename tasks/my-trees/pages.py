"""TODO: go to each page that the tests of this task use, and look at it."""

from collections.abc import Callable

from playwright.sync_api import Page


def test_pages(page: Page, look: Callable[[Page, str], None]) -> None:
    page.goto("/")
    look(page, "home")
