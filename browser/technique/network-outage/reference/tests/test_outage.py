"""The to-do page while its service is well, and while it isn't. The tests answer in the service's place."""

from collections.abc import Callable

from playwright.sync_api import Page, Route, expect

TODOS = {"todos": [{"id": 1, "title": "Sharpen pencils", "done": False}, {"id": 2, "title": "Bake", "done": True}]}
SERVICE = "**/api/todos"


def well(route: Route) -> None:
    route.fulfill(json=TODOS)


def opened(page: Page, service: Callable[[Route], None]) -> Page:
    page.route(SERVICE, service)
    page.goto("/")
    return page


def test_the_list_has_what_the_service_says(page: Page) -> None:
    opened(page, well)
    expect(page.get_by_role("listitem")).to_have_text(["Sharpen pencils", "Bake"])
    expect(page.get_by_role("alert")).to_be_hidden()


def test_a_request_that_breaks_off_is_told(page: Page) -> None:
    opened(page, lambda route: route.abort())
    expect(page.get_by_role("alert")).to_contain_text("can't be loaded")
    expect(page.get_by_role("listitem")).to_have_count(0)


def test_an_error_of_the_service_is_told(page: Page) -> None:
    opened(page, lambda route: route.fulfill(status=500, json={"error": "no"}))
    expect(page.get_by_role("alert")).to_contain_text("can't be loaded")


def test_trying_again_shows_the_list(page: Page) -> None:
    opened(page, lambda route: route.abort())
    expect(page.get_by_role("alert")).to_be_visible()
    page.unroute(SERVICE)
    page.route(SERVICE, well)
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("listitem")).to_have_count(2)
    expect(page.get_by_role("alert")).to_be_hidden()
