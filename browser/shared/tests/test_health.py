"""The application is up."""

from playwright.sync_api import Playwright


def test_the_first_page_answers(playwright: Playwright, base_url: str) -> None:
    api = playwright.request.new_context(base_url=base_url)
    assert api.get("/").status == 200
    api.dispose()
