"""Notes of each test's own, made by the service before a page is loaded, which takes long: the tests share it."""

import json
import re
from collections.abc import Callable, Iterator
from time import monotonic
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest
from playwright.sync_api import APIRequestContext, Browser, Dialog, Locator, Page, expect

SECONDS = 15
"""A page asks the server every two seconds, and saves a second after the last change."""

MARK = uuid4().hex[:8]
"""In the title of each note that is made here: nobody else's has it."""
KRAM = MARK[::-1]
RENAMED, KEPT, CUT, DRAWN, CHANGED = (f"{word} {MARK}" for word in ("Rose", "Ivy", "Elm", "Plan", "Gate"))
PRUNING, LOPPERS = f"Pruning {MARK}", f"Loppers {KRAM}"
POND, PATH, FENCE = f"Pond {MARK}", f"Path {MARK}", f"Fence {MARK}"
MOSS, FERN, STONE = f"Moss {MARK}", f"Fern {MARK}", f"Stone {MARK}"
ALMOND, ZINNIA = f"Almond {MARK}", f"Zinnia {MARK}"
OLD, NEWER = f"Shed {MARK}", f"Well {MARK}"
NOTES: list[dict[str, Any]] = [
    {"title": RENAMED, "text": "Water it."},
    {"title": KEPT, "text": "As it was."},
    {"title": CUT, "text": "Cut down."},
    {"title": DRAWN, "text": "Blank."},
    {"title": CHANGED, "text": "Before."},
    {"title": PRUNING, "text": "In winter."},
    {"title": LOPPERS, "text": f"For {PRUNING} and more."},
    {"title": POND, "text": "See [[Frogs]]."},
    {"title": PATH, "text": f"Leads to the [[{POND}]]."},
    {"title": FENCE, "text": f"Not at the {POND}."},
    {"title": MOSS, "text": "Green.", "tags": f"shade low{MARK}"},
    {"title": FERN, "text": "Green too.", "tags": f"low{MARK} shade"},
    {"title": STONE, "text": "Grey.", "tags": "shade"},
    {"title": ALMOND, "text": "Early.", "tags": "plant", "fields": {"bed": f"west {MARK}"}},
    {"title": ZINNIA, "text": "Late.", "tags": "plant", "fields": {"bed": f"east {MARK}"}},
    {"title": OLD, "text": "Old.", "created": "20200101000000000", "modified": "20200101000000000"},
    {"title": NEWER, "text": "Newer.", "created": "20210101000000000", "modified": "20210101000000000"},
]


class Service:
    """The notes as the server has them."""

    def __init__(self, request: APIRequestContext, base_url: str) -> None:
        self._request, self._url = request, base_url

    def note(self, title: str) -> dict[str, Any] | None:
        answer = self._request.get(f"{self._url}/recipes/default/tiddlers/{quote(title, safe='')}")
        return answer.json() if answer.ok else None

    def text(self, title: str) -> str:
        return (self.note(title) or {}).get("text", "")

    def put(self, note: dict[str, Any]) -> None:
        answer = self._request.put(
            f"{self._url}/recipes/default/tiddlers/{quote(note['title'], safe='')}",
            data=note,
            headers={"X-Requested-With": "TiddlyWiki"},
        )
        assert answer.ok, answer.status


class Wiki:
    """The page: an open note is a sheet, and one that is written is in an editor."""

    def __init__(self, page: Page, base_url: str) -> None:
        self.page, self._url = page, base_url

    @property
    def side(self) -> Locator:
        return self.page.get_by_role("region", name="Sidebar")

    @property
    def search(self) -> Locator:
        return self.page.get_by_role("searchbox")

    @property
    def editor(self) -> Locator:
        return self.page.get_by_role("region", name="Editor")

    @property
    def text(self) -> Locator:
        return self.editor.locator("iframe").content_frame.get_by_role("textbox")

    def sheet(self, title: str) -> Locator:
        heading = self.page.get_by_role("heading", name=title, exact=True)
        return self.page.get_by_role("article").filter(has=heading)

    def open(self, title: str) -> Locator:
        """Return a note's sheet, which comes above those that are open."""
        self.page.goto(f"{self._url}/#{quote(title, safe='')}")
        expect(self.sheet(title)).to_be_visible()
        return self.sheet(title)

    def edit(self, title: str) -> Locator:
        self.open(title).get_by_role("button", name="Edit this tiddler").click()
        return self.editor

    def confirm(self) -> None:
        self.editor.get_by_role("button", name="Confirm changes to this tiddler").click()
        expect(self.editor).to_have_count(0)

    def asked(self, act: Callable[[], None], accept: bool) -> int:
        """Return how often the page asks while something is done, where it is answered so."""
        asked: list[str] = []

        def answer(dialog: Dialog) -> None:
            asked.append(dialog.message)
            dialog.accept() if accept else dialog.dismiss()

        self.page.on("dialog", answer)
        act()
        self.page.remove_listener("dialog", answer)
        return len(asked)

    def clear(self) -> None:
        """Leave the page as it was loaded, with no note open and no editor."""
        self.search.fill("")
        while self.editor.count():
            self.asked(self.editor.first.get_by_role("button", name="Discard changes").click, accept=True)
        self.side.get_by_role("tab", name="Open").click()
        if self.page.get_by_role("article").count():
            self.side.get_by_role("button", name="close all").click()
        expect(self.page.get_by_role("article")).to_have_count(0)


@pytest.fixture(scope="module")
def loaded(browser: Browser, base_url: str, browser_context_args: dict[str, Any]) -> Iterator[Page]:
    context = browser.new_context(**browser_context_args)
    service = Service(context.request, base_url)
    for note in NOTES:
        service.put(note)
    page = context.new_page()
    page.goto(base_url)
    yield page
    context.close()


@pytest.fixture
def wiki(loaded: Page, base_url: str) -> Iterator[Wiki]:
    wiki = Wiki(loaded, base_url)
    yield wiki
    wiki.clear()


@pytest.fixture
def service(loaded: Page, base_url: str) -> Service:
    return Service(loaded.request, base_url)


def soon(page: Page, holds: Callable[[], bool]) -> bool:
    """Return whether it holds within some seconds."""
    end = monotonic() + SECONDS
    while not (found := holds()) and monotonic() < end:
        page.wait_for_timeout(200)
    return found


def test_a_new_note_is_on_the_server_as_it_was_written(wiki: Wiki, service: Service) -> None:
    title, text = f"Sage {MARK}", "The first line\nand a second one"
    wiki.page.get_by_role("button", name="new tiddler", exact=True).first.click()
    for tag in ("herb", "needs sun"):
        wiki.editor.get_by_placeholder("tag name").fill(tag)
        wiki.editor.get_by_role("button", name="add", exact=True).first.click()
    wiki.text.fill(text)
    wiki.editor.get_by_role("textbox").first.fill(title)
    wiki.confirm()
    assert soon(wiki.page, lambda: service.note(title) is not None)
    note = service.note(title) or {}
    assert (note["text"], note["tags"]) == (text, "herb [[needs sun]]")


def test_a_renamed_note_has_its_new_title_only(wiki: Wiki, service: Service) -> None:
    title = f"Climbing rose {MARK}"
    wiki.edit(RENAMED).get_by_role("textbox").first.fill(title)
    wiki.confirm()
    expect(wiki.sheet(title)).to_contain_text("Water it.")
    wiki.search.fill(f"rose {MARK}")
    expect(wiki.page.get_by_role("link", name=title, exact=True).first).to_be_visible()
    expect(wiki.page.get_by_role("link", name=RENAMED, exact=True)).to_have_count(0)
    assert soon(wiki.page, lambda: service.note(RENAMED) is None)
    assert service.text(title) == "Water it."


def test_changes_are_discarded_after_a_yes_alone(wiki: Wiki, service: Service) -> None:
    discard = wiki.edit(KEPT).get_by_role("button", name="Discard changes to this tiddler")
    wiki.text.fill("Something else.")
    assert wiki.asked(discard.click, accept=False) == 1
    expect(wiki.text).to_have_value("Something else.")
    assert wiki.asked(discard.click, accept=True) == 1
    expect(wiki.editor).to_have_count(0)
    expect(wiki.sheet(KEPT)).to_contain_text("As it was.")
    assert service.text(KEPT) == "As it was."


def test_a_note_is_deleted_after_a_yes_alone(wiki: Wiki, service: Service) -> None:
    sheet = wiki.open(CUT)

    def delete() -> None:
        sheet.get_by_role("button", name="more", exact=True).click()
        wiki.page.get_by_role("button", name="Delete this tiddler").click()

    assert wiki.asked(delete, accept=False) == 1
    expect(sheet).to_contain_text("Cut down.")
    assert wiki.asked(delete, accept=True) == 1
    expect(sheet).to_have_count(0)
    assert soon(wiki.page, lambda: service.note(CUT) is None)


def test_the_search_tells_titles_from_texts_in_either_case(wiki: Wiki) -> None:
    wiki.search.fill(f"PRUNING {MARK}")
    links = wiki.page.get_by_role("link", name=re.compile(f"{MARK}|{KRAM}"))
    found = links.or_(wiki.page.get_by_text(re.compile("^(Title|All) matches:")))
    expect(found).to_have_text(["Title matches:", PRUNING, "All matches:", LOPPERS, PRUNING])


def test_a_tag_lists_the_notes_that_have_it(wiki: Wiki) -> None:
    sheet = wiki.open(MOSS)
    sheet.get_by_text(f"low{MARK}", exact=True).click()
    listed = sheet.get_by_role("link", name=re.compile(f" {MARK}$")).filter(visible=True)
    expect(listed).to_have_count(2)
    assert {text.strip() for text in listed.all_inner_texts()} == {FERN, MOSS}


def test_backlinks_are_the_notes_that_link_to_one(wiki: Wiki) -> None:
    sheet = wiki.open(POND)
    sheet.get_by_role("button", name="more", exact=True).click()
    wiki.page.get_by_role("button", name="info", exact=True).click()
    sheet.get_by_role("tab", name="Backlinks").click()
    expect(sheet.get_by_role("tabpanel").get_by_role("link")).to_have_text([PATH])


def test_the_preview_shows_what_is_being_written(wiki: Wiki) -> None:
    editor = wiki.edit(DRAWN)
    editor.get_by_role("button", name="Show preview pane").click()
    expect(editor.get_by_text("Blank.")).to_be_visible()
    wiki.text.fill("! What to sow\n\n* kale\n* [[Beets]]")
    expect(editor.get_by_role("heading", name="What to sow")).to_be_visible()
    expect(editor.get_by_role("listitem")).to_have_text(["kale", "Beets"])
    expect(editor.get_by_role("listitem").get_by_role("link", name="Beets")).to_be_visible()


def test_the_table_of_beds_is_sorted_and_follows_a_change(wiki: Wiki) -> None:
    rows = wiki.open("Beds").get_by_role("row").filter(has=wiki.page.get_by_role("cell"))
    expect(rows.filter(has_text=ZINNIA)).to_contain_text(f"east {MARK}")
    titles = [row.get_by_role("cell").first.inner_text().strip() for row in rows.all()]
    assert titles == sorted(titles, key=str.lower)
    wiki.edit(ALMOND).get_by_role("textbox", name="field value").first.fill("behind the shed")
    wiki.confirm()
    expect(rows.filter(has_text=ALMOND).get_by_role("cell")).to_have_text([ALMOND, "behind the shed"])


def test_what_was_changed_last_comes_first(wiki: Wiki) -> None:
    wiki.edit(OLD)
    wiki.text.fill("Changed.")
    wiki.confirm()
    wiki.side.get_by_role("tab", name="Recent").click()
    links = wiki.side.get_by_role("tabpanel").get_by_role("link")
    expect(links.last).to_have_text(NEWER)
    expect(links.first).to_have_text(OLD)


def test_only_the_chosen_notes_of_a_file_come_in(wiki: Wiki, service: Service) -> None:
    titles = [f"{word} {MARK}" for word in ("Dill", "Mint", "Thyme")]
    notes = [{"title": title, "text": "From a file."} for title in titles]
    wiki.side.get_by_role("tab", name="Tools").click()
    file = {"name": "notes.json", "mimeType": "application/json", "buffer": json.dumps(notes).encode()}
    wiki.side.locator("input[type=file]").set_input_files(file)
    listing = wiki.page.get_by_role("article").filter(has=wiki.page.get_by_role("columnheader", name="Select"))
    listing.get_by_role("row").filter(has_text=titles[1]).get_by_role("checkbox").uncheck()
    listing.get_by_role("button", name="Import", exact=True).first.click()
    expect(wiki.page.get_by_role("listitem").get_by_role("link")).to_have_text([titles[0], titles[2]])
    assert soon(wiki.page, lambda: service.note(titles[0]) is not None and service.note(titles[2]) is not None)
    assert service.note(titles[1]) is None


def test_a_change_by_somebody_else_is_seen(wiki: Wiki, service: Service) -> None:
    sheet = wiki.open(CHANGED)
    expect(sheet).to_contain_text("Before.")
    service.put({"title": CHANGED, "text": "Somebody was here."})
    expect(sheet).to_contain_text("Somebody was here.", timeout=SECONDS * 1000)
