"""Who owes what to whom, in a project of each test's own, which the service makes."""

import csv
from base64 import b64encode
from pathlib import Path
from uuid import uuid4

from playwright.sync_api import Browser, Locator, Page, expect

CODE = "blue kettle"
REGISTER = "Register settlement"


class Project:
    """A new project with some people in it, by name and weight."""

    def __init__(self, page: Page, **people: int) -> None:
        self.page, self.id = page, f"flat-{uuid4().hex[:12]}"
        project = {"id": self.id, "name": self.id, "password": CODE, "default_currency": "XXX"}
        page.request.post("/api/projects", form={**project, "contact_email": "flat@example.org"})
        service = page.request.get(
            f"/api/projects/{self.id}/token", headers={"Authorization": _basic(self.id, CODE)}
        ).json()
        self._headers = {"Authorization": f"Bearer {service['token']}"}
        self._people = {name: self._ask("members", f"name={name}&weight={weight}") for name, weight in people.items()}
        page.goto(f"/{self.id}/join/{service['token']}")

    def _ask(self, what: str, data: str) -> int:
        headers = {**self._headers, "Content-Type": "application/x-www-form-urlencoded"}
        answer = self.page.request.post(f"/api/projects/{self.id}/{what}", data=data, headers=headers)
        assert answer.status == 201, answer.text()
        return int(answer.json())

    def has_bill(self, what: str, payer: str, amount: float, *owers: str) -> None:
        of = "".join(f"&payed_for={self._people[name]}" for name in owers)
        fields = f"date=2026-03-01&what={what}&payer={self._people[payer]}&amount={amount}&bill_type=Expense{of}"
        self._ask("bills", fields)

    @property
    def side(self) -> Locator:
        return self.page.get_by_role("complementary")

    @property
    def main(self) -> Locator:
        return self.page.get_by_role("main")

    def open(self, part: str = "") -> None:
        self.page.goto(f"/{self.id}/{part}")

    def add_bill(self, what: str, payer: str, amount: str, *owers: str) -> None:
        self.open()
        self.page.get_by_role("link", name="Add a new bill").click()
        self.page.get_by_label("What?", exact=True).fill(what)
        self.page.get_by_label("Who paid?").select_option(payer)
        self.page.get_by_label("How much?").fill(amount)
        for name in self._people:
            self.page.get_by_role("checkbox", name=name).set_checked(name in owers)
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


def _basic(name: str, code: str) -> str:
    return "Basic " + b64encode(f"{name}:{code}".encode()).decode()


def test_a_bill_is_shared_by_weight_among_those_it_is_for(page: Page) -> None:
    flat = Project(page, Ada=1, Bram=3, Chloe=1)
    flat.add_bill("Rent", "Ada", "800", "Ada", "Bram")
    flat.has_balances(Ada="+600.00", Bram="-600.00", Chloe="0.00")


def test_the_plan_says_who_pays_whom_and_a_settlement_evens_it_out(page: Page) -> None:
    flat = Project(page, Ada=1, Bram=1, Chloe=1)
    flat.has_bill("Boat", "Chloe", 90, "Ada", "Chloe")
    flat.has_bill("Lamp", "Chloe", 25.5, "Bram")
    flat.open("settle_bills")
    expect(flat.main.get_by_role("button", name=REGISTER)).to_have_count(2)
    assert flat.transfers() == [["Ada", "Chloe", "45.00"], ["Bram", "Chloe", "25.50"]]
    flat.main.get_by_role("row").filter(has_text="Ada").get_by_role("button", name=REGISTER).click()
    expect(flat.main.get_by_role("button", name=REGISTER)).to_have_count(1)
    flat.has_balances(Ada="0.00", Bram="-25.50", Chloe="+25.50")
    flat.open("statistics")
    months = flat.main.get_by_role("table").filter(has=page.get_by_role("columnheader", name="Period"))
    expect(months.get_by_role("row").filter(has_text="March 2026").get_by_role("cell").last).to_have_text("115.50")
    spent = [float(text) for text in months.get_by_role("cell").all_inner_texts()[1::2]]
    assert sum(spent) == 115.5


def test_a_wrong_code_is_refused(page: Page, browser: Browser) -> None:
    flat = Project(page, Ada=1)
    context = browser.new_context(base_url=page.url.partition(f"/{flat.id}")[0])
    stranger = context.new_page()
    stranger.goto(f"/authenticate?project_id={flat.id}")
    stranger.get_by_label("Private code").fill("red kettle")
    stranger.get_by_label("Private code").press("Enter")
    expect(stranger.get_by_text("This private code is not the right one")).to_be_visible()
    stranger.goto(f"/{flat.id}/")
    expect(stranger.get_by_label("Private code")).to_be_visible()
    expect(stranger.get_by_role("link", name="Add a new bill")).to_have_count(0)
    context.close()


def test_the_file_has_the_bills_of_the_page(page: Page, tmp_path: Path) -> None:
    flat = Project(page, Ada=1, Bram=1)
    flat.has_bill("Boat, hired", "Ada", 70, "Ada", "Bram")
    flat.has_bill("Lamp", "Bram", 25.55, "Ada")
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
    flat = Project(page, Ada=1, Bram=1)
    flat.has_bill("Boat", "Ada", 70, "Ada", "Bram")
    flat.open()
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
    flat = Project(page, Ada=1)
    flat.has_bill("Boat", "Ada", 70, "Ada")
    flat.open()
    flat.bill("Boat").get_by_role("button", name="delete").click()
    expect(flat.bill("Boat").get_by_role("button", name="Are you sure?")).to_be_visible()
    flat.open()
    flat.bill("Boat").get_by_role("button", name="delete").click()
    flat.bill("Boat").get_by_role("button", name="Are you sure?").click()
    expect(page.get_by_text("The bill has been deleted")).to_be_visible()
    expect(flat.bill("Boat")).to_have_count(0)
