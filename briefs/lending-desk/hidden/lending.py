"""The pages of the lending desk, by the names of the contract, and values that are drawn for each judging."""

import os
import re
import string
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from random import Random

import pytest
from browsing import open_page
from conftest import Application
from playwright.sync_api import Browser, Locator, Page, expect

NUMBERS = count(1)
CHANCE = Random(os.environ["DRAW_SEED"])
"""Other values in each judging, the same ones where a step runs again."""


def word(least: int = 4, most: int = 9) -> str:
    return "".join(CHANCE.choices(string.ascii_lowercase, k=CHANCE.randint(least, most)))


PASSWORD = f"{word()} {word()}"


def in_days(days: int) -> str:
    return (datetime.now(UTC).date() + timedelta(days=days)).isoformat()


def unused() -> str:
    """Return a name that nothing has, with a capital letter."""
    return f"{word().capitalize()} {next(NUMBERS)}x"


def field(place: "Page | Locator", name: str) -> Locator:
    return place.get_by_label(name, exact=True)


def press(place: "Page | Locator", name: str) -> None:
    place.get_by_role("button", name=name, exact=True).click()


def table(page: Page, name: str) -> Locator:
    return page.get_by_role("table", name=name, exact=True)


def row(page: Page, name: str, tool: str) -> Locator:
    """Return the row of a tool. The text is exact: no other cell says the same."""
    return table(page, name).get_by_role("row").filter(has=page.get_by_text(tool, exact=True))


def in_order(page: Page, name: str, of: str, tools: "list[str]") -> None:
    """Wait until the rows of a table that have some text are those of these tools, in this order."""
    rows = table(page, name).get_by_role("row").filter(has_text=of)
    expect(rows).to_have_text([re.compile(re.escape(f"{tool} {of}")) for tool in tools])


def done(page: Page) -> None:
    expect(page.get_by_role("status").filter(has_text=re.compile(r"\w")).first).to_be_visible()


def refused(page: Page) -> None:
    expect(page.get_by_role("alert").filter(has_text=re.compile(r"\w")).first).to_be_visible()


def enter(page: Page, place: str, name: str, password: str) -> None:
    page.goto(place)
    field(page, "Name").fill(name)
    field(page, "Password").fill(password)
    press(page, {"/sign-in": "Sign in", "/register": "Register"}[place])


def signed_in(page: Page, name: str) -> None:
    expect(page.get_by_text(f"Signed in as {name}").first).to_be_visible()


def add_tool(desk: Page, tool: str) -> str:
    desk.goto("/desk")
    field(desk, "Tool name").fill(tool)
    press(desk, "Add tool")
    done(desk)
    return tool


def record(desk: Page, tool: str, neighbour: str, due: str) -> None:
    desk.goto("/desk")
    field(desk, "Tool").fill(tool)
    field(desk, "Neighbour").fill(neighbour)
    field(desk, "Due").fill(due)
    press(desk, "Record loan")
    done(desk)


def ask_for(page: Page, tool: str, days: "int | str | None" = None) -> None:
    """Press the button that borrows a tool, on the page of all tools as it is; for some days, if nothing else is said."""
    here = row(page, "Tools", tool)
    field(here, "Days").fill(str(CHANCE.randint(1, 14) if days is None else days))
    press(here, "Borrow")


def borrow(page: Page, tool: str, days: "int | None" = None) -> None:
    page.goto("/")
    ask_for(page, tool, days)
    done(page)


def take_back(desk: Page, tool: str) -> None:
    desk.goto("/desk")
    press(row(desk, "Loans", tool), "Take back")
    done(desk)


class Neighbour:
    """Somebody who has registered, and their page."""

    def __init__(self, page: Page) -> None:
        self.page, self.name = page, unused()
        enter(page, "/register", self.name, PASSWORD)
        signed_in(page, self.name)


@pytest.fixture(scope="session")
def desk(app: Application, browser: Browser) -> Iterator[Page]:
    page = open_page(browser, app)
    enter(page, "/sign-in", "desk", "desk")
    signed_in(page, "desk")
    yield page
    page.context.close()


@pytest.fixture
def neighbour(new_page: "Callable[[], Page]") -> "Callable[[], Neighbour]":
    return lambda: Neighbour(new_page())


@pytest.fixture
def ann(neighbour: "Callable[[], Neighbour]") -> Neighbour:
    return neighbour()
