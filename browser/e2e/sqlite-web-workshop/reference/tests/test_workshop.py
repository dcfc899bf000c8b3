"""A workshop's databases, row by row. Each test has a table of its own, which a statement makes."""

import csv
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import Locator, Page, expect

BOX = "Allow updating this column."
MISSING_MS = 15_000
"""After so long something that is to be clicked isn't there."""


class Table:
    """A table in the database that the page shows."""

    def __init__(self, page: Page, name: str) -> None:
        self.page, self.name = page, name
        page.set_default_timeout(MISSING_MS)

    def run(self, sql: str) -> None:
        """Run a statement without a page."""
        assert self.page.request.post("/query/", form={"sql": sql.format(t=self.name)}).status == 200

    def execute(self, sql: str) -> None:
        self.page.goto("/query/")
        self.page.locator("textarea[name=sql]").fill(sql.format(t=self.name))
        self.page.get_by_role("button", name="Execute").click()

    def open(self, part: str = "content") -> None:
        self.page.goto(f"/{self.name}/{part}/")

    def column(self, name: str) -> list[str]:
        """Return a column of the rows on the page."""
        headings = self.page.get_by_role("columnheader").all_inner_texts()
        place = next(number for number, text in enumerate(headings) if text.strip(" ▲▼\n") == name)
        return [text.strip() for text in self.page.get_by_role("cell").all_inner_texts()[place :: len(headings)]]

    def row(self, text: str) -> Locator:
        return self.page.get_by_role("row").filter(has=self.page.get_by_role("cell", name=text, exact=True))

    def field(self, column: str) -> Locator:
        return self.page.get_by_label(column, exact=True)

    def turn(self, sign: str, to: int) -> None:
        self.page.get_by_role("link", name=sign, exact=True).click()
        expect(self.page.get_by_text(f"Page {to} / ")).to_be_visible()

    def said(self, words: str) -> None:
        expect(self.page.get_by_text(words).first).to_be_visible()
        self.page.wait_for_load_state()


@pytest.fixture
def table(page: Page) -> Table:
    return Table(page, f"t{uuid4().hex[:12]}")


def test_rows_are_paged_sorted_and_exported(table: Table, tmp_path: Path) -> None:
    table.run("CREATE TABLE {t} (id INTEGER PRIMARY KEY, name TEXT, mixed INTEGER)")
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 112)"
    table.run("INSERT INTO {t} " + numbers + " SELECT i, 'row ' || i, i * 45 % 113 FROM n")
    table.open()
    pages = [table.column("name")]
    for number in (2, 3):
        table.turn("›", number)
        pages.append(table.column("name"))
    assert [len(names) for names in pages] == [50, 50, 12]
    assert {name for names in pages for name in names} == {f"row {number}" for number in range(1, 113)}

    table.turn("«", 1)
    for first, second in [("1", "51"), ("112", "62")]:
        with table.page.expect_navigation():
            table.page.get_by_role("link", name="mixed").click()
        assert table.column("mixed")[0] == first
        table.turn("›", 2)
        assert table.column("mixed")[0] == second
        table.turn("«", 1)

    table.open("export")
    table.page.get_by_label("name", exact=True).uncheck()
    table.page.get_by_label("Format").select_option("CSV")
    with table.page.expect_download() as download:
        table.page.get_by_role("button", name="Export").click()
    download.value.save_as(tmp_path / "rows.csv")
    with (tmp_path / "rows.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert set(rows[0]) == {"id", "mixed"}
    assert sorted(int(row["mixed"]) for row in rows) == list(range(1, 113))


def test_a_statement_that_fails_is_told_and_the_last(table: Table) -> None:
    table.execute("SELECT missing_column FROM parts")
    table.said("no such column: missing_column")
    table.execute("CREATE TABLE {t} (name TEXT); INSERT INTO {t} VALUES ('before'); nonsense; INSERT INTO {t} VALUES ('x')")
    table.said('near "nonsense": syntax error')
    table.open()
    assert table.column("name") == ["before"]


def test_texts_null_and_boxes(table: Table) -> None:
    table.run("CREATE TABLE {t} (id INTEGER PRIMARY KEY, name TEXT, note TEXT, shelf TEXT DEFAULT 'A1')")
    table.open("insert")
    table.field("name").fill("empty")
    table.field("note").fill("")
    shelf = table.page.get_by_label(BOX).nth(2)
    shelf.check()
    table.field("shelf").fill("Z9")
    shelf.uncheck()
    table.page.get_by_role("button", name="Insert").click()
    table.said("Successfully inserted record")
    table.run("INSERT INTO {t} (name, note) VALUES ('other', 'there')")
    table.open()
    table.row("other").get_by_role("link", name="Edit").click()
    for place, column, value in [(1, "name", "left alone"), (2, "note", "NULL")]:
        table.page.get_by_label(BOX).nth(place).check()
        table.field(column).fill(value)
    table.page.get_by_label(BOX).nth(1).uncheck()
    table.page.get_by_role("button", name="Update").click()
    table.said("Successfully updated")
    rows = zip(*(table.column(name) for name in ("name", "note", "shelf")), strict=True)
    assert sorted(rows) == [("empty", "", "A1"), ("other", "NULL", "A1")]
    table.execute("SELECT 'null in ' || name FROM {t} WHERE note IS NULL")
    expect(table.page.get_by_role("cell", name="null in", exact=False)).to_have_text("null in other")


def test_rows_are_deleted_once_that_is_confirmed(table: Table) -> None:
    table.run("CREATE TABLE {t} (id INTEGER PRIMARY KEY, name TEXT)")
    table.run("INSERT INTO {t} (name) VALUES ('one'), ('two'), ('three'), ('four'), ('five')")
    table.open()
    table.row("one").get_by_role("link", name="Delete").click()
    expect(table.page.get_by_role("button", name="Delete")).to_be_visible()
    table.open()
    assert sorted(table.column("name")) == ["five", "four", "one", "three", "two"]
    table.row("one").get_by_role("link", name="Delete").click()
    table.page.get_by_role("button", name="Delete").click()
    table.said("Successfully deleted")
    assert sorted(table.column("name")) == ["five", "four", "three", "two"]
    for name in ("two", "four"):
        table.row(name).get_by_label("Select row").check()
    table.page.get_by_role("button", name="Bulk Delete").click()
    table.said("Successfully deleted")
    assert sorted(table.column("name")) == ["five", "three"]


def test_a_unique_index_refuses_a_value_that_is_there(table: Table) -> None:
    table.run("CREATE TABLE {t} (id INTEGER PRIMARY KEY, name TEXT)")
    table.run("INSERT INTO {t} (name) VALUES ('once')")
    table.open("add-index")
    table.page.get_by_label("Indexed Columns").select_option("name")
    table.page.get_by_label("Unique?").select_option("Yes")
    table.page.get_by_role("button", name="Add index").click()
    table.said("Index created successfully")
    table.open("insert")
    table.field("name").fill("once")
    table.page.get_by_role("button", name="Insert").click()
    table.said(f"UNIQUE constraint failed: {table.name}.name")
    table.open()
    assert table.column("name") == ["once"]


def test_the_archive_is_only_looked_at(page: Page) -> None:
    sales = Table(page, "sales")
    page.goto("/")
    page.get_by_role("button", name="stock.db").click()
    page.get_by_role("link", name="archive.db").click()
    page.get_by_role("link", name="sales").click()
    page.get_by_role("link", name="Content").click()
    expect(page.get_by_role("link", name="View").first).to_be_visible()
    days = sales.column("day")
    for name in ("Insert", "Edit", "Delete", "Drop"):
        expect(page.get_by_role("link", name=name, exact=True)).to_have_count(0)
    sales.execute("UPDATE {t} SET day = 'changed'")
    sales.said("attempt to write a readonly database")
    sales.open()
    assert sales.column("day") == days
