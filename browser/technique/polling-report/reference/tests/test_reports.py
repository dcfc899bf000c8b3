"""Reports, however long they take: each test waits for what the page says, and for no longer than a minute."""

from pathlib import Path

from playwright.sync_api import Page, expect

LONGEST_MS = 45_000


def order(page: Page, year: int) -> None:
    page.goto("/reports")
    page.get_by_label("Year").fill(str(year))
    page.get_by_role("button", name="Make report").click()


def test_a_report_gets_ready_and_has_the_rows_of_its_year(page: Page) -> None:
    order(page, 2024)
    expect(page.get_by_role("status")).to_have_text("The report is ready.", timeout=LONGEST_MS)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the report").click()
    text = Path(download.value.path()).read_text()
    assert text.splitlines() == ["client,hours", "Baker & Sons,40", "Müller GmbH,12"]


def test_a_year_without_entries_has_no_report(page: Page) -> None:
    order(page, 1999)
    expect(page.get_by_role("status")).to_have_text("There is nothing to report on.", timeout=LONGEST_MS)
    expect(page.get_by_role("link", name="Download the report")).to_be_hidden()
