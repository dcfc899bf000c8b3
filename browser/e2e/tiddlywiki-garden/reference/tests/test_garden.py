"""Notes of each test's own, made by the service, on one page that all tests share: it takes long to load."""

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


class Service:
    """The notes as the server has them."""

    def __init__(self, request: APIRequestContext, base_url: str) -> None:
        self._request, self._url = request, base_url

    def note(self, title: str) -> dict[str, Any] | None:
        answer = self._request.get(f"{self._url}/recipes/default/tiddlers/{quote(title, safe='')}")
        return answer.json() if answer.ok else None

    def put(self, title: str, text: str, tags: str = "", **fields: str) -> None:
        dates = {name: fields.pop(name) for name in ("created", "modified") if name in fields}
        note = {"title": title, "text": text, "tags": tags, "fields": fields, **dates}
        answer = self._request.put(
            f"{self._url}/recipes/default/tiddlers/{quote(title, safe='')}",
            data=json.dumps(note),
            headers={"X-Requested-With": "TiddlyWiki", "Content-Type": "application/json"},
        )
        assert answer.ok, answer.status


class Wiki:
    """The page: an open note is a sheet, and one that is written is in an editor."""

    def __init__(self, page: Page) -> None:
        self.page = page

    @property
    def side(self) -> Locator:
        return self.page.get_by_role("region", name="Sidebar")

    def sheet(self, title: str) -> Locator:
        heading = self.page.get_by_role("heading", name=title, exact=True)
        return self.page.get_by_role("article").filter(has=heading)

    @property
    def editor(self) -> Locator:
        return self.page.get_by_role("region", name="Editor")

    @property
    def text(self) -> Locator:
        return self.editor.locator("iframe").content_frame.get_by_role("textbox")

    def open(self, *titles: str) -> None:
        """Have these notes open; those made just now are there once the page has asked the server."""
        for title in titles:
            self.page.get_by_role("searchbox").fill(title)
            self.page.get_by_role("link", name=title, exact=True).first.click(timeout=SECONDS * 1000)
            expect(self.sheet(title)).to_be_visible()
        self.page.get_by_role("searchbox").fill("")

    def edit(self, title: str) -> Locator:
        self.sheet(title).get_by_role("button", name="Edit this tiddler").click()
        return self.editor

    def confirm(self) -> None:
        self.editor.get_by_role("button", name="Confirm changes to this tiddler").click()
        expect(self.editor).to_have_count(0)

    def answering(self, act: Callable[[], None], accept: bool) -> list[str]:
        """Return what the page asks while something is done, and answer that."""
        asked: list[str] = []

        def answer(dialog: Dialog) -> None:
            asked.append(dialog.message)
            dialog.accept() if accept else dialog.dismiss()

        self.page.on("dialog", answer)
        act()
        self.page.remove_listener("dialog", answer)
        return asked


@pytest.fixture(scope="module")
def loaded(browser: Browser, base_url: str, browser_context_args: dict[str, Any]) -> Iterator[Page]:
    context = browser.new_context(**browser_context_args)
    page = context.new_page()
    page.goto(base_url)
    yield page
    context.close()


@pytest.fixture
def wiki(loaded: Page) -> Iterator[Wiki]:
    """The page, with nothing open on it but what the test opens."""
    wiki = Wiki(loaded)
    yield wiki
    while wiki.editor.count():
        wiki.answering(wiki.editor.first.get_by_role("button", name="Discard changes").click, accept=True)
    wiki.side.get_by_role("tab", name="Open").click()
    if (close := wiki.side.get_by_role("button", name="close all")).count():
        close.click()


@pytest.fixture
def service(loaded: Page, base_url: str) -> Service:
    return Service(loaded.request, base_url)


@pytest.fixture
def name() -> str:
    """A word that no other note has."""
    return f"plot{uuid4().hex[:8]}"


def soon(page: Page, holds: Callable[[], bool]) -> bool:
    """Return whether it holds within some seconds."""
    end = monotonic() + SECONDS
    while not (found := holds()) and monotonic() < end:
        page.wait_for_timeout(200)
    return found


def test_a_new_note_is_on_the_server_as_it_was_written(wiki: Wiki, service: Service, name: str) -> None:
    wiki.page.get_by_role("button", name="new tiddler", exact=True).first.click()
    for tag in ("herb", "needs shade"):
        wiki.editor.get_by_placeholder("tag name").fill(tag)
        wiki.editor.get_by_role("button", name="add", exact=True).first.click()
    wiki.text.fill(f"First line of {name}\nand a second one")
    wiki.editor.get_by_role("textbox").first.fill(name)
    wiki.confirm()
    assert soon(wiki.page, lambda: service.note(name) is not None)
    note = service.note(name)
    assert note
    assert note["text"] == f"First line of {name}\nand a second one"
    assert note["tags"] == "herb [[needs shade]]"


def test_a_renamed_note_has_its_new_title_only(wiki: Wiki, service: Service, name: str) -> None:
    service.put(name, "Water it.")
    wiki.open(name)
    wiki.edit(name).get_by_role("textbox").first.fill(f"{name} by the wall")
    wiki.confirm()
    expect(wiki.sheet(f"{name} by the wall")).to_contain_text("Water it.")
    expect(wiki.sheet(name)).to_have_count(0)
    assert soon(wiki.page, lambda: service.note(name) is None)
    assert (service.note(f"{name} by the wall") or {})["text"] == "Water it."
    wiki.page.get_by_role("searchbox").fill(name)
    expect(wiki.page.get_by_role("link", name=f"{name} by the wall", exact=True).first).to_be_visible()
    expect(wiki.page.get_by_role("link", name=name, exact=True)).to_have_count(0)
    wiki.page.get_by_role("searchbox").fill("")


def test_changes_are_discarded_after_a_yes_alone(wiki: Wiki, service: Service, name: str) -> None:
    service.put(name, "As it was.")
    wiki.open(name)
    editor = wiki.edit(name)
    wiki.text.fill("Something else.")
    discard = editor.get_by_role("button", name="Discard changes to this tiddler")
    assert len(wiki.answering(discard.click, accept=False)) == 1
    expect(wiki.text).to_have_value("Something else.")
    assert len(wiki.answering(discard.click, accept=True)) == 1
    expect(wiki.editor).to_have_count(0)
    expect(wiki.sheet(name)).to_contain_text("As it was.")
    assert (service.note(name) or {})["text"] == "As it was."


def test_a_note_is_deleted_after_a_yes_alone(wiki: Wiki, service: Service, name: str) -> None:
    service.put(name, "Cut down.")
    wiki.open(name)

    def delete() -> None:
        wiki.sheet(name).get_by_role("button", name="more", exact=True).click()
        wiki.page.get_by_role("button", name="Delete this tiddler").click()

    assert len(wiki.answering(delete, accept=False)) == 1
    expect(wiki.sheet(name)).to_contain_text("Cut down.")
    assert len(wiki.answering(delete, accept=True)) == 1
    expect(wiki.sheet(name)).to_have_count(0)
    assert soon(wiki.page, lambda: service.note(name) is None)


def test_the_search_tells_titles_from_texts_in_either_case(wiki: Wiki, service: Service, name: str) -> None:
    service.put(f"Pruning {name}", "In winter.")
    service.put(f"Tools of {name[::-1]}", f"For pruning {name} and more.")
    wiki.open(f"Tools of {name[::-1]}")
    wiki.page.get_by_role("searchbox").fill(name.upper())
    found = wiki.page.get_by_role("link", name=re.compile(f"{name}|{name[::-1]}"))
    outside = found.and_(wiki.page.get_by_role("link")).filter(visible=True)
    shown = wiki.page.get_by_text(re.compile("Title matches:|All matches:")).or_(outside)
    listed = [text.strip() for text in _texts(shown, 5) if text.strip()]
    between = listed[listed.index("Title matches:") + 1 : listed.index("All matches:")]
    assert between == [f"Pruning {name}"]
    assert {f"Pruning {name}", f"Tools of {name[::-1]}"} <= set(listed[listed.index("All matches:") + 1 :])
    wiki.page.get_by_role("searchbox").fill("")


def _texts(shown: Locator, least: int) -> list[str]:
    """Return the texts once there are so many."""
    expect(shown.nth(least - 1)).to_be_visible()
    return shown.all_inner_texts()


def test_a_tag_lists_the_notes_that_have_it(wiki: Wiki, service: Service, name: str) -> None:
    service.put(f"{name} one", "Tall.", tags=f"{name}s moss")
    service.put(f"{name} two", "Low.", tags=f"moss {name}s")
    service.put(f"{name} three", "Neither.", tags="moss")
    wiki.open(f"{name} three", f"{name} one")
    wiki.sheet(f"{name} one").get_by_text(f"{name}s", exact=True).click()
    listed = wiki.sheet(f"{name} one").get_by_role("link").filter(has_text=re.compile(f"^{name} "))
    expect(listed.filter(has_text=f"{name} two")).to_be_visible()
    assert sorted(set(listed.all_inner_texts()) - {""}) == [f"{name} one", f"{name} two"]
    wiki.page.keyboard.press("Escape")


def test_backlinks_are_the_notes_that_link_to_one(wiki: Wiki, service: Service, name: str) -> None:
    service.put(f"{name} pond", f"See [[{name} frogs]].")
    service.put(f"{name} frogs", "Loud.")
    service.put(f"{name} path", f"Leads to the [[{name} pond]].")
    service.put(f"{name} fence", f"Not at the {name} pond.")
    wiki.open(f"{name} fence", f"{name} path", f"{name} pond")
    sheet = wiki.sheet(f"{name} pond")
    sheet.get_by_role("button", name="more", exact=True).click()
    wiki.page.get_by_role("button", name="info", exact=True).first.click()
    sheet.get_by_role("tab", name="Backlinks").click()
    panel = sheet.get_by_role("tabpanel")
    expect(panel.get_by_role("link", name=f"{name} path")).to_be_visible()
    assert panel.get_by_role("link").all_inner_texts() == [f"{name} path"]


def test_the_preview_shows_what_is_being_written(wiki: Wiki, service: Service, name: str) -> None:
    service.put(name, "Old.")
    wiki.open(name)
    editor = wiki.edit(name)
    editor.get_by_role("button", name="Show preview pane").click()
    wiki.text.fill("! What to sow\n\n* kale\n* [[Beets]]")
    expect(editor.get_by_role("heading", name="What to sow")).to_be_visible()
    expect(editor.get_by_role("listitem")).to_have_text(["kale", "Beets"])
    expect(editor.get_by_role("listitem").get_by_role("link", name="Beets")).to_be_visible()


def test_the_table_of_beds_is_sorted_and_follows_a_change(wiki: Wiki, service: Service, name: str) -> None:
    service.put(f"A {name}", "Early.", tags="plant", bed=f"Z {name}")
    service.put(f"Z {name}", "Late.", tags="plant", bed=f"A {name}")
    wiki.open("Beds", f"Z {name}", f"A {name}")
    rows = wiki.sheet("Beds").get_by_role("row").filter(has=wiki.page.get_by_role("cell"))
    expect(rows.filter(has_text=f"Z {name}").filter(has_text=f"A {name}")).to_have_count(2)
    titles = [row.get_by_role("cell").first.inner_text().strip() for row in rows.all()]
    assert titles == sorted(titles, key=str.lower)
    wiki.edit(f"A {name}").get_by_role("textbox", name="field value").first.fill(f"moved {name}")
    wiki.confirm()
    row = rows.filter(has=wiki.page.get_by_role("cell", name=f"A {name}", exact=True)).first
    expect(row.get_by_role("cell").last).to_have_text(f"moved {name}")


def test_what_was_changed_last_comes_first(wiki: Wiki, service: Service, name: str) -> None:
    service.put(f"{name} old", "Old.", created="20200101000000000", modified="20200101000000000")
    service.put(f"{name} newer", "Newer.", created="20210101000000000", modified="20210101000000000")
    wiki.open(f"{name} newer", f"{name} old")
    wiki.edit(f"{name} old")
    wiki.text.fill("Changed.")
    wiki.confirm()
    wiki.side.get_by_role("tab", name="Recent").click()
    links = wiki.side.get_by_role("tabpanel").get_by_role("link")
    expect(links.first).to_have_text(f"{name} old")
    expect(links.filter(has_text=f"{name} newer")).to_have_count(1)


def test_only_the_chosen_notes_of_a_file_come_in(wiki: Wiki, service: Service, name: str) -> None:
    notes = [{"title": f"{name} {number}", "text": f"Number {number}"} for number in (1, 2, 3)]
    wiki.side.get_by_role("tab", name="Tools").click()
    file = {"name": "notes.json", "mimeType": "application/json", "buffer": json.dumps(notes).encode()}
    wiki.side.locator("input[type=file]").set_input_files(file)
    listing = wiki.page.get_by_role("article").filter(has=wiki.page.get_by_role("columnheader", name="Select"))
    listing.get_by_role("row").filter(has_text=f"{name} 2").get_by_role("checkbox").uncheck()
    listing.get_by_role("button", name="Import", exact=True).first.click()
    expect(wiki.page.get_by_role("listitem").get_by_role("link", name=f"{name} 3")).to_be_visible()
    assert soon(wiki.page, lambda: bool(service.note(f"{name} 1") and service.note(f"{name} 3")))
    assert service.note(f"{name} 2") is None


def test_a_change_by_somebody_else_is_seen(wiki: Wiki, service: Service, name: str) -> None:
    service.put(name, "Before.")
    wiki.open(name)
    expect(wiki.sheet(name)).to_contain_text("Before.")
    service.put(name, "Somebody was here.")
    expect(wiki.sheet(name)).to_contain_text("Somebody was here.", timeout=SECONDS * 1000)
