"""The site as a reader has it: from disk, in Chromium."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import unquote, urlparse

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Request, expect

from harness.models.replay import now
from harness.results.site.build import SiteBuilder
from harness.results.site.serving import listening
from harness.runs.at_work import AT_WORK, AtWorkFile, TrialAtWork
from harness.runs.outcome import Phase
from harness.runs.records import write_whole
from tests.browser.conftest import SAMPLE
from tests.support.run_folder import begun, judged, run_folder, worked

TOPICS = ("index", "trials", "axes", "criteria", "activity", "figures", "tasks")
KINDS = (*TOPICS, "task", "resolved", "failed", "invalid", "unscored", "compare", "flip")
"""A page of each kind."""
CHECKED = ("index", "trials", "activity", "tasks", "task", "failed", "compare", "flip")
"""Those that axe-core goes through: the others have nothing that these lack."""
IN_THE_DARK = ("index", "failed", "flip")
OPEN = """document.querySelectorAll('details').forEach(item => { item.open = true });
document.querySelectorAll('section.tab').forEach(item => { item.hidden = false })"""
_TRIALS = {
    "resolved": "trials/aiosmtpd-proxy-tlv/mini/scripted-gpt.yaml/1.html",
    "failed": "trials/jansson-object-merge/claude-code/scripted-gpt.yaml/1.html",
    "invalid": "trials/jansson-object-merge/command/scripted-gpt.yaml/1.html",
    "unscored": "trials/jansson-object-merge/mini/scripted-gpt.yaml/1.html",
}


def place(site: Path, kind: str) -> Path:
    """The file of a page of this kind."""
    pair = "compare/oracle-and-mini*"
    globs = {"task": "tasks/*.html", "compare": f"{pair}.html", "flip": f"{pair}/*.html"}
    if kind in globs:
        return sorted(site.glob(globs[kind]))[0]
    return site / _TRIALS.get(kind, f"{kind}.html")


class Reader:
    """A page, and what it said and asked for that it shouldn't."""

    def __init__(self, page: Page, site: Path) -> None:
        self.page = page
        self.complaints: list[str] = []
        self._site = site.as_uri()
        page.on("console", lambda said: self.complaints.append(f"{said.type}: {said.text}"))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        page.on("request", self._asked)

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((self._site, "data:,")):
            self.complaints.append(f"asked for {request.url}")

    def open(self, file: Path, fragment: str = "") -> Page:
        self.page.goto(file.as_uri() + fragment)
        return self.page


@pytest.fixture(params=["light", "dark"])
def scheme(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def reader(browser: Browser, site: Path) -> Iterator[Reader]:
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        found = Reader(context.new_page(), site)
        yield found
        assert found.complaints == []


def rows(page: Page, table: str) -> list[str]:
    """The first cell of each row that can be seen."""
    cells = page.locator(f"#{table} tbody tr:visible > :first-child").all_inner_texts()
    return [" ".join(cell.split()) for cell in cells]


def test_pages_have_contrast_labels_and_an_order_of_headings(browser: Browser, site: Path, scheme: str) -> None:
    # All else is the same in the dark.
    rules = {"runOnly": ["color-contrast"]} if scheme == "dark" else {}
    # What is in order, with each of its elements, would be as large as the pages.
    asked = {"preload": False, "resultTypes": ["violations"], **rules}
    with browser.new_context(color_scheme="dark" if scheme == "dark" else "light") as context:
        page = context.new_page()
        for kind in IN_THE_DARK if scheme == "dark" else CHECKED:
            page.goto(place(site, kind).as_uri())
            page.evaluate(OPEN)
            found = Axe().run(page, options=asked)
            assert found.violations_count == 0, f"{kind}, {scheme}: {found.generate_report()}"


def test_no_page_complains_or_asks_for_anything_beyond_its_folder(reader: Reader, site: Path) -> None:
    for kind in KINDS:
        page = reader.open(place(site, kind))
        assert page.locator("h1").count() == 1, kind
        assert page.evaluate("getComputedStyle(document.body).marginTop") == "0px", "the style isn't applied"


def test_every_link_leads_to_a_file_and_every_fragment_to_an_element(reader: Reader, site: Path) -> None:
    for kind in KINDS:
        page = reader.open(place(site, kind))
        broken = page.evaluate(
            """() => [...document.querySelectorAll('a[href^="#"]')].map(item => item.getAttribute('href').slice(1))
            .filter(id => !document.getElementById(id))"""
        )
        assert broken == [], kind
        for address in set(page.evaluate("[...document.querySelectorAll('a[href]')].map(item => item.href)")):
            assert Path(unquote(urlparse(address).path)).is_file(), (kind, address)


def test_a_table_is_sorted_by_its_heads_with_the_keyboard_too(reader: Reader, site: Path) -> None:
    page = reader.open(site / "tasks.html")
    head = page.locator("#matrix thead button").first
    head.focus()
    page.keyboard.press("Enter")
    upwards = rows(page, "matrix")
    page.keyboard.press("Enter")
    assert upwards == sorted(upwards)
    assert rows(page, "matrix") == upwards[::-1]
    assert page.locator("#matrix th[aria-sort=descending]").count() == 1


def test_numbers_are_sorted_by_their_values(reader: Reader, site: Path) -> None:
    page = reader.open(site / "index.html")
    page.locator("#leaderboard thead button", has_text="resolve rate").click()
    values = page.eval_on_selector_all(
        "#leaderboard tbody tr", "rows => rows.map(row => Number(row.cells[2].dataset.value))"
    )
    assert values == sorted(values)
    assert len(set(values)) > 1


def test_tasks_and_trials_are_searched_from_any_page(reader: Reader, site: Path) -> None:
    page = reader.open(place(site, "axes"))
    page.get_by_label("Search tasks and trials").fill("tlv placebo")
    page.keyboard.press("Enter")
    page.wait_for_url("**/trials.html#*")
    assert rows(page, "trials") == ["aiosmtpd-proxy-tlv #2"]
    page.get_by_label("Contains").fill("jansson")
    assert page.locator("#found-tasks a").all_inner_texts() == ["jansson-object-merge"]
    page.get_by_label("Verdict").select_option("invalid")
    assert page.locator("output").inner_text() == "1 of 13 trials"
    page.locator("#trials a").click()
    assert page.locator("h1 .verdict").inner_text() == "invalid"


def test_a_number_of_the_leaderboard_leads_to_its_trials(reader: Reader, site: Path) -> None:
    page = reader.open(site / "index.html")
    link = (
        page.locator("#leaderboard tbody tr", has_text="mini/").locator("td:nth-child(7) a, td:nth-child(6) a").first
    )
    number = int(link.inner_text())
    link.click()
    assert len(rows(page, "trials")) == number
    assert page.get_by_label("System").input_value() == "mini/scripted-gpt"


def test_no_page_scrolls_sideways_on_a_phone(browser: Browser, site: Path) -> None:
    with browser.new_context(viewport={"width": 390, "height": 800}) as context:
        page = context.new_page()
        for kind in KINDS:
            page.goto(place(site, kind).as_uri())
            page.evaluate(OPEN)
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, kind


def test_the_matrix_is_filtered_and_a_link_keeps_the_filter(reader: Reader, site: Path) -> None:
    page = reader.open(site / "tasks.html")
    assert len(rows(page, "matrix")) == 2
    page.get_by_label("A trial is").select_option("invalid")
    assert rows(page, "matrix") == ["jansson-object-merge"]
    assert page.locator("output").inner_text() == "1 of 2 rows"
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    assert rows(page, "matrix") == ["jansson-object-merge"]
    page.get_by_label("A trial is").select_option("")
    page.get_by_label("because of").fill("placebo")
    assert rows(page, "matrix") == ["aiosmtpd-proxy-tlv"]
    page.get_by_label("contains").fill("nothing has this")
    assert rows(page, "matrix") == []


def test_steps_fold_and_a_deep_link_opens_its_own(reader: Reader, site: Path) -> None:
    page = reader.open(place(site, "resolved"), "#step-3")
    assert page.locator("#step-3").get_attribute("open") is not None
    assert page.locator("#step-2").get_attribute("open") is None
    page.get_by_text("Open all steps").click()
    assert page.locator("details.step:not([open])").count() == 0
    page.get_by_text("Fold all steps").click()
    assert page.locator("details.step[open]").count() == 0
    page.locator("#step-1 summary").focus()
    page.keyboard.press("Enter")
    assert page.locator("#step-1 pre").first.is_visible()


def test_a_trials_page_shows_a_section_at_a_time(reader: Reader, site: Path) -> None:
    page = reader.open(place(site, "resolved"))
    shown = page.locator("section.tab:visible")
    assert shown.evaluate_all("found => found.map(item => item.id)") == ["why"]
    page.get_by_role("link", name="Tests and arms").click()
    assert shown.evaluate_all("found => found.map(item => item.id)") == ["arms"]
    assert page.locator(".tabs [aria-current]").inner_text() == "Tests and arms (43)"
    assert "twin 2 of probe 1.1" in page.locator("table.arms").inner_text()
    page.get_by_role("link", name="Trajectory").click()
    page.get_by_label("Steps that contain").fill("class Test")
    assert 0 < page.locator("details.step:visible").count() < page.locator("details.step").count()


def test_a_trial_shows_what_decided_it(reader: Reader, site: Path) -> None:
    page = reader.open(place(site, "failed"))
    text = page.locator("main").inner_text()
    assert "criterion-unmet" in text
    assert page.locator("details.criterion[open]").count() > 0, "unmet must-haves are open"
    page = reader.open(place(site, "resolved"))
    assert page.locator(".patch .listed").count() > 20
    assert page.locator("table.arms td.killed").count() > 20
    assert page.locator("details.criterion table").count() > 0, "votes of the judge"
    page = reader.open(place(site, "invalid"))
    assert "network" in page.locator("#conduct ~ ul").first.inner_text()
    assert "provider-error" in reader.open(place(site, "unscored")).locator("main").inner_text()


def test_a_failed_test_shows_its_page_at_that_moment(browser: Browser, tmp_path: Path) -> None:
    run, trial = tmp_path / "run", "trials/aiosmtpd-proxy-tlv/command/scripted-gpt.yaml/1"
    shutil.copytree(SAMPLE / trial, run / trial)
    shutil.copy(SAMPLE / "run.yaml", run)
    arm = run / trial / "arms" / "garbage-1"
    arm.mkdir(parents=True)
    case = '<testcase classname="aiosmtpd.tests.test_proxyprotocol_tlv" name="test_records"><failure message="no"/>'
    (arm / "1.xml").write_text(f"<testsuites><testsuite>{case}</testcase></testsuite></testsuites>")
    with browser.new_context(viewport={"width": 640, "height": 480}) as context:
        context.new_page().screenshot(path=arm / "aiosmtpd-tests-test_proxyprotocol_tlv-py-test_records.png")
        SiteBuilder([run], tmp_path / "site").build()
        reader = Reader(context.new_page(), tmp_path / "site")
        page = reader.open(tmp_path / "site" / f"{trial}.html", "#failures")
        page.evaluate(OPEN)
        picture = page.get_by_role("img", name="The page as it was when the test failed")
        picture.scroll_into_view_if_needed(timeout=5_000)
        expect(picture).to_have_js_property("naturalWidth", 640)
    assert reader.complaints == []


def test_what_is_printed_is_unfolded(reader: Reader, site: Path) -> None:
    page = reader.open(place(site, "resolved"))
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("main details:not([open])").count() == 0
    assert not page.locator("header nav").is_visible()


def test_hostile_text_is_inert_and_visible(browser: Browser, hostile_site: Path) -> None:
    files = sorted(hostile_site.rglob("*.html"))
    with browser.new_context() as context:
        reader = Reader(context.new_page(), hostile_site)
        for file in files:
            page = reader.open(file)
            page.evaluate("document.querySelectorAll('details').forEach(item => { item.open = true })")
            assert page.evaluate("window.hacked") is None, file
            assert page.locator("iframe, object, img, main script, main style, a[href^=javascript]").count() == 0
        assert reader.complaints == []
        [trial] = [file for file in files if file.name == "1.html"]
        text = reader.open(trial).content()
    assert "\\x1b[31m" in text
    assert "\\u202e" in text
    assert not any(char in text for char in "\u202e\u2066\u200b\x1b\u2028")
    assert "more characters are in" in text
    assert all(file.stat().st_size < 1_000_000 for file in files)


def test_a_run_at_work_is_followed_on_an_open_page(browser: Browser, tmp_path: Path) -> None:
    run = run_folder(tmp_path / "run")
    store = worked(begun(run, "a", "mini", "openai/one"))
    builder = SiteBuilder([run], tmp_path / "site", is_live=True)
    builder.build()

    def tell(**facts: Any) -> None:
        trial = TrialAtWork(place="a/mini/openai-one/1", label="a mini one #1", tried=1, began=now(), **facts)
        usd = trial.usd
        file = AtWorkFile(pid=os.getpid(), written=now(), total=2, ended={"failed": 1}, usd=usd, trials=(trial,))
        write_whole(run / AT_WORK, file.model_dump_json())

    tell(phase=Phase.AGENT, done=3, most=50, usd=0.5)
    with listening(tmp_path / "site", 0, [run]) as server, browser.new_context() as context:
        thread = Thread(target=server.serve_forever)
        thread.start()
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{server.server_address[1]}/index.html")
        row = page.locator("#at-work tbody tr")
        expect(row).to_contain_text("step 3 of 50")
        expect(page.locator("#live")).to_contain_text("run: 1 of 2 trials done (1 failed), 1 at work, $0.5000")
        tell(phase=Phase.ARMS, done=7, most=33, usd=0.75)
        expect(row).to_contain_text("arm 7 of 33")
        row.locator("a").click()
        expect(page.locator("h1 .verdict")).to_have_text("no verdict")
        judged(store)
        builder.build()
        (run / AT_WORK).unlink()
        expect(page.locator("h1 .verdict")).to_have_text("resolved")
        expect(page.locator("#live")).to_be_hidden()
        server.shutdown()
        thread.join()
