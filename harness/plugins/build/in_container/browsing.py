"""What hidden tests of an application with pages use: one browser a run, and pages that share nothing.

A test module that has `pytest_plugins = ["browsing"]` has the fixtures. A page on which a test fails leaves its
picture beside the reports.
"""

import os
import re
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest
from conftest import Application, ask
from playwright.sync_api import Browser, Error, Page, Route, expect, sync_playwright

MILLISECONDS = 500 * float(os.environ["START_SECONDS"])
"""For anything that a page is waited for: 10 seconds on a machine of reference speed."""
WINDOW = {"width": 1000, "height": 700}
_KEPT_HEADERS = {"content-type", "origin", "referer", "accept"}
_LOOSE = """form => {
    form.noValidate = true;
    for (const field of form.elements) {
        for (const name of ['required', 'min', 'max', 'step', 'pattern', 'minlength', 'maxlength']) {
            field.removeAttribute(name);
        }
        if (field.type === 'number' || field.type === 'date') field.type = 'text';
    }
}"""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=MILLISECONDS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch()
        yield browser
        browser.close()


def open_page(browser: Browser, app: Application) -> Page:
    """Return a page in a context of its own, which has neither cookies nor storage of others."""
    context = browser.new_context(base_url=f"http://127.0.0.1:{app.port}", viewport=WINDOW)
    context.set_default_timeout(MILLISECONDS)
    return context.new_page()


@pytest.fixture
def new_page(app: Application, browser: Browser) -> Iterator[Callable[[], Page]]:
    pages: list[Page] = []

    def opened() -> Page:
        pages.append(open_page(browser, app))
        return pages[-1]

    yield opened
    for page in pages:
        page.context.close()


@pytest.fixture
def page(new_page: Callable[[], Page]) -> Page:
    return new_page()


def script_errors(page: Page) -> "list[str]":
    """Return a list that gets what goes wrong in a page's scripts, and what they say is wrong."""
    found: list[str] = []
    page.on("pageerror", lambda error: found.append(str(error)))

    def told(message: object) -> None:
        place = message.location["url"]  # type: ignore[attr-defined]
        if message.type == "error" and not place.endswith("/favicon.ico"):  # type: ignore[attr-defined]
            found.append(f"{message.text} ({place})")  # type: ignore[attr-defined]

    page.on("console", told)
    return found


def loosen(page: Page) -> None:
    """Take from a page's forms what lets a browser refuse a value, so that the service has to."""
    for form in page.locator("form").all():
        form.evaluate(_LOOSE)


class Recorded(NamedTuple):
    """A request that a page was about to send."""

    method: str
    path: str
    headers: "dict[str, str]"
    body: bytes

    def send(self, app: Application, old: str = "", new: str = "") -> int:
        """Send it, with another text in its body, and return the answer's status."""
        body = self.body.replace(old.encode(), new.encode()) if old else self.body
        return ask(app.port, self.method, self.path, body, self.headers).status


def recorded(page: Page, does: "Callable[[], object]") -> Recorded:
    """Return the first request other than GET that something makes the page send. It is broken off."""
    found: list[Recorded] = []

    def hold(route: Route) -> None:
        request = route.request
        if request.method == "GET":
            route.continue_()
            return
        cookies = "; ".join(f"{item['name']}={item['value']}" for item in page.context.cookies())
        headers = {
            name: value for name, value in request.headers.items() if name in _KEPT_HEADERS or name[:2] == "x-"
        }
        path = re.sub(r"^https?://[^/]+", "", request.url)
        found.append(Recorded(request.method, path, {**headers, "Cookie": cookies}, request.post_data_buffer or b""))
        route.abort("aborted")

    page.route("**/*", hold)
    with page.expect_event("requestfailed", lambda request: request.method != "GET"):
        does()
    page.unroute("**/*", hold)
    return found[0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Function,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    browser = item.funcargs.get("browser")
    if browser and report.when == "call" and report.failed:
        name = re.sub(r"\W+", "-", item.nodeid.partition("[")[0])
        for page in [page for context in browser.contexts for page in context.pages][-1:]:
            with suppress(Error):  # a page that hangs or is gone has no picture
                page.screenshot(path=Path(os.environ["TESTWRIGHT_REPORT_DIR"]) / f"{name}.png", timeout=2_000)
    return report
