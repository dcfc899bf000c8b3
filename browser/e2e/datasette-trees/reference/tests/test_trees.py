"""The register's pages against the register itself, which is downloaded: nothing is known of it beforehand."""

import csv
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

COLUMNS = ["id", "street", "species_id", "planted", "height", "note"]


class Register:
    """The database file: `all` asks it."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path)

    def all(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, values).fetchall()

    def one(self, sql: str, *values: object) -> Any:
        return self.all(sql, *values)[0][0]

    def close(self) -> None:
        self._connection.close()


@pytest.fixture
def register(page: Page, base_url: str, tmp_path: Path) -> Iterator[Register]:
    (tmp_path / "trees.db").write_bytes(page.request.get(f"{base_url}/trees.db").body())
    register = Register(tmp_path / "trees.db")
    yield register
    register.close()


def column(page: Page, name: str) -> list[str]:
    """Return the texts of a column, once the page is whole: where it stands is read from its heading."""
    page.wait_for_load_state()
    rows = page.get_by_role("table").get_by_role("row")
    heads = [text.replace("▼", "").replace("▲", "").strip() for text in
             rows.first.get_by_role("columnheader").all_inner_texts()]  # fmt: skip
    cells = page.get_by_role("table").get_by_role("cell").all_inner_texts()
    return [text.strip() for text in cells[heads.index(name) :: len(heads)]]


def narrow(page: Page, name: str, how: str, value: str) -> None:
    page.get_by_role("combobox").filter(has_text="- column -").select_option(name)
    page.get_by_role("combobox").filter(has_text="starts with").last.select_option(label=how)
    page.get_by_role("textbox").last.fill(value)
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_role("heading", name=f"where {name}")).to_be_visible()


def head(page: Page, name: str) -> Locator:
    return page.get_by_role("columnheader", name=name)


def test_a_filter_lets_through_what_it_says(page: Page, register: Register) -> None:
    year = register.one("SELECT planted FROM trees WHERE planted BETWEEN 1980 AND 2000 ORDER BY height LIMIT 1")
    page.goto("/trees/trees?_size=max")
    narrow(page, "planted", ">", str(year))
    fitting = register.all("SELECT id FROM trees WHERE planted > ? ORDER BY id", year)
    expect(page.get_by_role("heading", name=f"{len(fitting)} rows where planted > {year}")).to_be_visible()
    assert column(page, "id") == [str(number) for (number,) in fitting]


def test_a_column_is_sorted_up_and_then_down(page: Page, register: Register) -> None:
    heights = [str(height) for (height,) in register.all("SELECT height FROM trees ORDER BY height")]
    page.goto("/trees/trees?_size=max")
    head(page, "height").get_by_role("link").click()
    expect(page.get_by_role("heading", name="sorted by height")).to_be_visible()
    assert column(page, "height") == heights
    head(page, "height").get_by_role("link").click()
    expect(page.get_by_role("heading", name="sorted by height descending")).to_be_visible()
    assert column(page, "height") == heights[::-1]


def test_a_facet_counts_what_the_filter_lets_through_and_narrows_it(page: Page, register: Register) -> None:
    page.goto("/trees/trees?_size=max&planted__gt=1980&_facet=street")
    streets = register.all("SELECT street, count(*) FROM trees WHERE planted > 1980 GROUP BY 1 ORDER BY 2 DESC, 1")
    for street, count in streets:
        item = page.get_by_role("listitem").filter(has=page.get_by_role("link", name=street, exact=True))
        expect(item).to_have_text(f"{street} {count}")
    street, count = streets[-1]
    page.get_by_role("listitem").get_by_role("link", name=street, exact=True).click()
    expect(page.get_by_role("heading", name=f"{count} row")).to_be_visible()
    assert set(column(page, "street")) == {street}
    assert min(map(int, column(page, "planted"))) > 1980


def test_the_pages_together_have_every_row_once(page: Page, register: Register) -> None:
    page.goto("/trees/trees")
    seen = column(page, "id")
    while page.get_by_role("link", name="Next page").count():
        last = seen[-1]
        page.get_by_role("link", name="Next page").click()
        expect(page.get_by_role("cell", name=last, exact=True).get_by_role("link")).to_have_count(0)
        seen += column(page, "id")
    assert seen == [str(number) for (number,) in register.all("SELECT id FROM trees ORDER BY id")]


def test_a_tree_leads_to_its_species_and_that_to_its_trees(page: Page, register: Register) -> None:
    tree, species, name = register.all(
        "SELECT t.id, s.id, s.name FROM trees t JOIN species s ON s.id = species_id WHERE planted > 2000 LIMIT 1"
    )[0]
    page.goto(f"/trees/trees?id={tree}")
    page.get_by_role("cell").get_by_role("link", name=name).click()
    expect(page.get_by_role("heading", name=f"species: {species}")).to_be_visible()
    assert column(page, "name") == [name]
    count = register.one("SELECT count(*) FROM trees WHERE species_id = ?", species)
    page.get_by_role("listitem").get_by_role("link", name=f"{count} rows").click()
    expect(page.get_by_role("heading", name=f"{count} rows where species_id = {species}")).to_be_visible()


def test_the_exported_file_has_every_row_of_the_filter(page: Page, register: Register, tmp_path: Path) -> None:
    page.goto("/trees/trees?planted__gt=1952")
    page.get_by_label("download file").check()
    page.get_by_label("stream all rows").check()
    with page.expect_download() as download:
        page.get_by_role("button", name="Export CSV").click()
    download.value.save_as(tmp_path / "trees.csv")
    with (tmp_path / "trees.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    fitting = register.all("SELECT id, street, height FROM trees WHERE planted > 1952 ORDER BY id")
    assert [(int(row["id"]), row["street"], float(row["height"])) for row in rows] == fitting


def test_a_query_is_asked_with_another_value(page: Page, register: Register) -> None:
    page.goto("/trees?sql=select+id+from+trees+where+planted+=+:year+order+by+id&year=1")
    expect(page.get_by_text("0 results")).to_be_visible()
    year = register.one("SELECT planted FROM trees ORDER BY height DESC")
    page.get_by_label("year").fill(str(year))
    page.get_by_role("button", name="Run SQL").click()
    numbers = [str(number) for (number,) in register.all("SELECT id FROM trees WHERE planted = ? ORDER BY id", year)]
    expect(page.get_by_role("cell")).to_have_text(numbers)


def test_only_a_select_is_a_query(page: Page) -> None:
    page.goto("/trees?sql=delete+from+trees")
    expect(page.get_by_text("Statement must be a SELECT")).to_be_visible()


def test_the_gardeners_are_nobodys_business(page: Page) -> None:
    for address in ("/", "/trees"):
        page.goto(address)
        expect(page.get_by_role("link", name="species")).to_be_visible()
        expect(page.get_by_role("link", name="gardeners")).to_have_count(0)
    page.goto("/trees/gardeners")
    expect(page.get_by_role("heading", name="Forbidden")).to_be_visible()
    expect(page.get_by_role("table")).to_have_count(0)


def test_a_column_can_be_hidden(page: Page) -> None:
    page.goto("/trees/trees?_size=5")
    head(page, "note").get_by_role("img").click()
    page.get_by_role("link", name="Hide this column").click()
    expect(head(page, "note")).to_have_count(0)
    expect(page.get_by_role("columnheader")).to_have_count(len(COLUMNS) - 1)
