"""Who owes what to whom, in a project of each test's own."""

import csv
from pathlib import Path
from uuid import uuid4

from playwright.sync_api import Browser, Locator, Page, expect

CODE = "blue kettle"


class Project:
    """A new project with some people in it."""

    def __init__(self, page: Page, *people: str) -> None:
        self.page, self.id = page, f"flat-{uuid4().hex[:12]}"
        page.goto("/create")
        page.get_by_label("Project identifier").fill(self.id)
        page.get_by_label("Project name").fill(self.id)
        page.get_by_label("Private code").fill(CODE)
        page.get_by_label("Email").fill("flat@example.org")
        page.get_by_role("button", name="submit").click()
        for name in people:
            self.side.get_by_placeholder("Add participant").fill(name)
            self.side.get_by_role("button", name="Add", exact=True).click()
            expect(self.side.get_by_role("row", name=name)).to_be_visible()

    @property
    def side(self) -> Locator:
        return self.page.get_by_role("complementary")

    @property
    def main(self) -> Locator:
        return self.page.get_by_role("main")

    def open(self, part: str = "") -> None:
        self.page.goto(f"/{self.id}/{part}")

    def add(self, what: str, payer: str, amount: str, owers: list[str]) -> None:
        self.open()  # without the message on what was done before, which lies over the link
        self.page.get_by_role("link", name="Add a new bill").click()
        self.page.get_by_label("What?", exact=True).fill(what)
        self.page.get_by_label("Who paid?").select_option(payer)
        self.page.get_by_label("How much?").fill(amount)
        for box in self.page.get_by_role("checkbox").all():
            box.uncheck()
        for name in owers:
            self.page.get_by_role("checkbox", name=name).check()
        self.page.get_by_role("button", name="Submit", exact=True).click()
        expect(self.bill(what)).to_be_visible()

    def bill(self, what: str) -> Locator:
        return self.main.get_by_role("row").filter(has=self.page.get_by_role("cell", name=what, exact=True))

    def has_balances(self, **balances: str) -> None:
        self.open("settle_bills")
        for name, balance in balances.items():
            row = self.side.get_by_role("row").filter(has=self.page.get_by_role("cell", name=name, exact=True))
            expect(row.get_by_role("cell").last).to_have_text(balance)

    def transfers(self) -> list[list[str]]:
        rows = self.main.get_by_role("row").filter(has=self.page.get_by_role("button"))
        return sorted(row.get_by_role("cell").all_inner_texts()[:3] for row in rows.all())


def test_a_bill_is_shared_by_weight(page: Page) -> None:
    flat = Project(page, "Ada", "Bram")
    row = flat.side.get_by_role("row", name="Bram")
    row.hover()
    row.get_by_role("button", name="edit").click()
    page.get_by_label("Weight").fill("3")
    page.get_by_role("button", name="Save").click()
    flat.add("Rent", "Ada", "800", ["Ada", "Bram"])
    flat.has_balances(Ada="+600.00", Bram="-600.00")


def test_who_has_no_part_in_a_bill_owes_nothing(page: Page) -> None:
    flat = Project(page, "Ada", "Bram", "Chloe")
    flat.add("Taxi", "Bram", "30", ["Ada", "Bram"])
    flat.has_balances(Ada="-15.00", Bram="+15.00", Chloe="0.00")


def test_the_plan_says_who_pays_whom(page: Page) -> None:
    flat = Project(page, "Ada", "Bram", "Chloe")
    flat.add("Boat", "Chloe", "90", ["Ada", "Chloe"])
    flat.add("Lamp", "Chloe", "25.50", ["Bram"])
    flat.open("settle_bills")
    expect(flat.main.get_by_role("button", name="Register settlement")).to_have_count(2)
    assert flat.transfers() == [["Ada", "Chloe", "45.00"], ["Bram", "Chloe", "25.50"]]


def test_a_registered_settlement_evens_things_out_and_is_no_expense(page: Page) -> None:
    flat = Project(page, "Ada", "Bram")
    flat.add("Boat", "Ada", "70", ["Ada", "Bram"])
    flat.open("settle_bills")
    flat.main.get_by_role("button", name="Register settlement").click()
    expect(flat.main.get_by_role("button", name="Register settlement")).to_have_count(0)
    flat.has_balances(Ada="0.00", Bram="0.00")
    flat.open("statistics")
    months = flat.main.get_by_role("table").filter(has=page.get_by_role("columnheader", name="Period"))
    expect(months.get_by_role("row").last.get_by_role("cell").last).to_have_text("70.00")


def test_a_wrong_code_is_refused(page: Page, browser: Browser) -> None:
    flat = Project(page, "Ada")
    stranger = browser.new_context(base_url=page.url.partition(f"/{flat.id}")[0]).new_page()
    stranger.goto(f"/authenticate?project_id={flat.id}")
    stranger.get_by_label("Private code").fill("red kettle")
    stranger.get_by_role("button", name="submit").click()
    expect(stranger.get_by_text("This private code is not the right one")).to_be_visible()
    stranger.goto(f"/{flat.id}/")
    expect(stranger.get_by_label("Private code")).to_be_visible()
    expect(stranger.get_by_role("link", name="Add a new bill")).to_have_count(0)
    stranger.context.close()


def test_the_file_has_the_bills_of_the_page(page: Page, tmp_path: Path) -> None:
    flat = Project(page, "Ada", "Bram")
    flat.add("Boat, hired", "Ada", "70", ["Ada", "Bram"])
    flat.add("Lamp", "Bram", "25.55", ["Ada"])
    flat.open("edit")
    with page.expect_download() as download:
        flat.main.get_by_role("link", name="CSV").first.click()
    download.value.save_as(tmp_path / "bills.csv")
    with (tmp_path / "bills.csv").open(newline="") as file:
        rows = {row["what"]: row for row in csv.DictReader(file)}
    assert set(rows) == {"Boat, hired", "Lamp"}
    assert {(row["payer_name"], float(row["amount"])) for row in rows.values()} == {("Ada", 70.0), ("Bram", 25.55)}
    assert sorted(rows["Boat, hired"]["owers"].split(", ")) == ["Ada", "Bram"]
    assert rows["Lamp"]["owers"] == "Ada"


def test_whoever_left_stays_in_old_bills(page: Page) -> None:
    flat = Project(page, "Ada", "Bram")
    flat.add("Boat", "Ada", "70", ["Ada", "Bram"])
    row = flat.side.get_by_role("row", name="Bram")
    row.hover()
    row.get_by_role("button", name="deactivate").click()
    row.get_by_role("button", name="you sure?").click()
    expect(page.get_by_text("has been deactivated")).to_be_visible()
    flat.has_balances(Ada="+35.00", Bram="-35.00")
    flat.open()
    page.get_by_role("link", name="Add a new bill").click()
    expect(page.get_by_role("checkbox", name="Ada")).to_be_visible()
    expect(page.get_by_role("checkbox", name="Bram")).to_have_count(0)


def test_a_bill_is_deleted_once_that_is_confirmed(page: Page) -> None:
    flat = Project(page, "Ada", "Bram")
    flat.add("Boat", "Ada", "70", ["Ada", "Bram"])
    flat.bill("Boat").get_by_role("button", name="delete").click()
    expect(flat.bill("Boat").get_by_role("button", name="Are you sure?")).to_be_visible()
    flat.open()
    flat.bill("Boat").get_by_role("button", name="delete").click()
    flat.bill("Boat").get_by_role("button", name="Are you sure?").click()
    expect(page.get_by_text("The bill has been deleted")).to_be_visible()
    expect(flat.bill("Boat")).to_have_count(0)
