"""Notes: each account is signed in to once, and each test has a page of its own with what that left."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

PASSWORDS = {"ada@example.org": "correct horse", "bob@example.org": "battery staple"}


@pytest.fixture(scope="session")
def states(browser: Browser, base_url: str) -> dict[str, Any]:
    found = {}
    for email, password in PASSWORDS.items():
        context = browser.new_context(base_url=base_url)
        page = context.new_page()
        page.goto("/login")
        page.get_by_label("E-mail").fill(email)
        page.get_by_label("Password").fill(password)
        page.get_by_role("button", name="Log in").click()
        expect(page).to_have_url(f"{base_url}/account")
        found[email] = context.storage_state()
        context.close()
    return found


def signed_in(browser: Browser, base_url: str, state: Any) -> Iterator[Page]:
    context = browser.new_context(base_url=base_url, storage_state=state)
    page = context.new_page()
    page.goto("/account")
    yield page
    context.close()


@pytest.fixture
def ada(browser: Browser, base_url: str, states: dict[str, Any]) -> Iterator[Page]:
    yield from signed_in(browser, base_url, states["ada@example.org"])


@pytest.fixture
def bob(browser: Browser, base_url: str, states: dict[str, Any]) -> Iterator[Page]:
    yield from signed_in(browser, base_url, states["bob@example.org"])


def save(page: Page, text: str = "") -> Locator:
    text = text or f"note {uuid4().hex}"
    page.get_by_label("New note").fill(text)
    page.get_by_role("button", name="Save note").click()
    return page.get_by_role("listitem").filter(has_text=text)


def test_a_note_is_there_when_the_page_is_opened_again(ada: Page) -> None:
    note = save(ada)
    expect(note).to_be_visible()
    ada.goto("/account")
    expect(note).to_be_visible()


@pytest.mark.parametrize("text", ["", "  "])
def test_a_note_needs_a_text(ada: Page, text: str) -> None:
    before = ada.get_by_role("listitem").count()
    ada.get_by_label("New note").fill(text)
    ada.get_by_role("button", name="Save note").click()
    expect(ada.get_by_role("alert")).to_contain_text("needs a text")
    expect(ada.get_by_role("listitem")).to_have_count(before)


def test_nobody_else_sees_a_note(ada: Page, bob: Page) -> None:
    expect(save(ada, "for Ada alone")).not_to_have_count(0)
    own = save(bob)
    expect(own).to_be_visible()
    expect(bob.get_by_text("for Ada alone")).to_have_count(0)


def test_a_note_can_be_removed_and_others_stay(ada: Page) -> None:
    kept, gone = save(ada), save(ada)
    expect(gone).to_be_visible()
    with ada.expect_navigation():
        gone.get_by_role("button").click()
    expect(gone).to_have_count(0)
    expect(kept).to_be_visible()


def test_a_note_is_shown_as_it_was_written(ada: Page) -> None:
    text = f"<b>ink</b> &amp; paper {uuid4().hex}"
    expect(save(ada, text)).to_contain_text(text)
