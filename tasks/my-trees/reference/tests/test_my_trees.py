"""TODO: say what these tests are about, and write one for each must-have at least."""

from playwright.sync_api import Page, expect


def test_the_first_page(page: Page) -> None:
    page.goto("/")
    expect(page.get_by_role("heading").first).to_be_visible()
