"""Hours of clients, whoever else has some: each test has a client of its own."""

from uuid import uuid4

import pytest
from playwright.sync_api import Locator, Page, expect


def add(page: Page, client: str, hours: object) -> None:
    page.goto("/clients")
    page.get_by_label("Client", exact=True).fill(client)
    page.get_by_label("Hours", exact=True).fill(str(hours))
    page.get_by_role("button", name="Add hours").click()


def row(page: Page, client: str) -> Locator:
    return page.get_by_role("row").filter(has=page.get_by_role("cell", name=client, exact=True))


def in_all(page: Page) -> int:
    return int(page.get_by_role("status").inner_text().partition(" ")[0])


@pytest.fixture
def client() -> str:
    return f"Client {uuid4().hex}"


def test_a_new_client_gets_a_row(page: Page, client: str) -> None:
    add(page, client, 7)
    expect(row(page, client).get_by_role("cell").nth(1)).to_have_text("7")


def test_hours_of_one_client_add_up(page: Page, client: str) -> None:
    add(page, client, 7)
    add(page, client, 5)
    expect(row(page, client)).to_have_count(1)
    expect(row(page, client).get_by_role("cell").nth(1)).to_have_text("12")


def test_the_sum_grows(page: Page, client: str) -> None:
    page.goto("/clients")
    before = in_all(page)
    add(page, client, 40)
    expect(page.get_by_role("status")).to_contain_text(f"{before + 40} hours")


@pytest.mark.parametrize("hours", [1, 1000])
def test_from_1_to_1000_hours_are_added(page: Page, client: str, hours: int) -> None:
    add(page, client, hours)
    expect(row(page, client).get_by_role("cell").nth(1)).to_have_text(str(hours))


@pytest.mark.parametrize("hours", [0, 1001, "", "many"])
def test_other_numbers_are_refused(page: Page, client: str, hours: object) -> None:
    add(page, client, hours)
    expect(page.get_by_role("alert")).to_contain_text("from 1 to 1000")
    expect(row(page, client)).to_have_count(0)


def test_hours_need_a_client(page: Page) -> None:
    add(page, "", 3)
    expect(page.get_by_role("alert")).to_be_visible()
