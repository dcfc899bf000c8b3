"""The exported file, however it arrives: the browser's own download is what is read."""

import csv
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect


def exported(page: Page) -> list[list[str]]:
    with page.expect_download(timeout=40_000) as download:
        page.get_by_role("button", name="Export").click()
    with Path(download.value.path()).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter=";"))


def add(page: Page, client: str, hours: int) -> None:
    page.goto("/clients")
    page.get_by_label("Client", exact=True).fill(client)
    page.get_by_label("Hours", exact=True).fill(str(hours))
    page.get_by_role("button", name="Add hours").click()
    expect(page.get_by_role("cell", name=client, exact=True)).to_be_visible()


def test_the_file_has_the_rows_of_the_table(page: Page) -> None:
    page.goto("/clients")
    rows = [row.get_by_role("cell").all_inner_texts() for row in page.get_by_role("row").all()[1:]]
    heading, *lines = exported(page)
    assert heading == ["client", "hours"]
    assert sorted(lines) == sorted(rows)


@pytest.mark.parametrize("name", ["Müller", "Tea; Coffee", 'The "Cup"'])
def test_a_name_is_in_the_file_as_it_is_on_the_page(page: Page, name: str) -> None:
    client = f"{name} {uuid4().hex}"
    add(page, client, 77)
    assert [client, "77"] in exported(page)


def test_added_hours_are_in_the_file(page: Page) -> None:
    client = f"Client {uuid4().hex}"
    add(page, client, 30)
    add(page, client, 12)
    expect(page.get_by_role("row").filter(has_text=client)).to_contain_text("42")
    assert [client, "42"] in exported(page)
