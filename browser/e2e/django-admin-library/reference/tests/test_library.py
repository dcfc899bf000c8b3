"""The library's books in the admin. Each test has books of its own; the librarian does most of it in one page."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

BOOKS = "/admin/library/book/"
NEW_AUTHOR = "/admin/library/author/add/"


def sign_in(page: Page, name: str, password: str, to: str) -> None:
    """Ask for the page at `to` and sign in on the one that comes in its place."""
    page.goto(to)
    page.get_by_label("Username:").fill(name)
    page.get_by_label("Password:").fill(password)
    page.get_by_role("button", name="Log in").click()


def sign_in_as_librarian(page: Page, to: str) -> None:
    sign_in(page, "librarian", "quiet please", to)
    expect(page.get_by_role("button", name="Log out")).to_be_visible()


def new_word() -> str:
    """Return a word that is nowhere in the library."""
    return "q" + uuid4().hex[:10]


@pytest.fixture
def word() -> str:
    return new_word()


@pytest.fixture(scope="module")
def desk(browser: Browser, browser_context_args: dict[str, Any]) -> Iterator[Page]:
    """A page in which the librarian has signed in. It stands where a new author is added."""
    with browser.new_context(**browser_context_args) as context, context.new_page() as page:
        sign_in_as_librarian(page, NEW_AUTHOR)
        yield page


@pytest.fixture(scope="module")
def author(desk: Page) -> str:
    """The name of an author whose books are those of these tests."""
    return add_author(desk, new_word())


def add_author(page: Page, name: str) -> str:
    if not page.url.endswith(NEW_AUTHOR):
        page.goto(NEW_AUTHOR)
    page.get_by_label("Name:").fill(name)
    save(page, "was added successfully")
    return name


def begin_book(page: Page, title: str, author: str) -> None:
    page.goto(f"{BOOKS}add/")
    page.get_by_label("Title:").fill(title)
    page.get_by_label("Author:").select_option(label=author)


def save(page: Page, expected: str) -> None:
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text(expected)).to_be_visible()


def add_book(page: Page, title: str, author: str) -> None:
    begin_book(page, title, author)
    save(page, "was added successfully")


def copies(page: Page) -> Locator:
    return page.get_by_role("group", name="Copies").get_by_role("textbox")


def book(page: Page, title: str) -> Locator:
    return page.get_by_role("main").get_by_role("row").filter(has=page.get_by_role("link", name=title, exact=True))


def found(page: Page, word: str, titles: list[str]) -> list[str]:
    """Return which of the titles the search for a word finds, asked for beside the page."""
    text = page.request.get(f"{BOOKS}?q={word}").text()
    return [title for title in titles if title in text]


def test_a_wrong_password_is_refused(page: Page) -> None:
    sign_in(page, "librarian", "quiet pleas", "/admin/")
    expect(page.get_by_text("Please enter the correct username and password")).to_be_visible()
    page.goto(BOOKS)
    expect(page.get_by_role("button", name="Log in")).to_be_visible()


def test_the_clerk_changes_books_and_adds_none(page: Page) -> None:
    sign_in(page, "clerk", "stamp stamp", BOOKS)
    expect(page.get_by_role("heading", name="Select book to change")).to_be_visible()
    expect(page.get_by_role("link", name="Add book")).to_have_count(0)
    page.goto(f"{BOOKS}add/")
    expect(page.get_by_role("heading", name="403 Forbidden")).to_be_visible()
    expect(page.get_by_label("Title:")).to_have_count(0)


def test_a_book_has_the_copies_that_were_added_with_it(desk: Page, author: str, word: str) -> None:
    begin_book(desk, f"Two {word}", author)
    desk.get_by_role("button", name="Add another Copy").click()
    expect(copies(desk)).to_have_count(4)
    for number, text in enumerate([f"{word}-1", "north", f"{word}-2", "south"]):
        copies(desk).nth(number).fill(text)
    save(desk, "was added successfully")
    book(desk, f"Two {word}").get_by_role("link", name=f"Two {word}").click()
    expect(copies(desk).first).to_have_value(f"{word}-1")
    values = [box.input_value() for box in copies(desk).all()]
    assert values[:4] == [f"{word}-1", "north", f"{word}-2", "south"]


def test_the_slug_follows_the_title(desk: Page, word: str) -> None:
    desk.goto(f"{BOOKS}add/")
    desk.get_by_label("Title:").fill(f"Gates & {word}")
    desk.get_by_label("Title:").press("Tab")
    expect(desk.get_by_label("Slug:")).to_have_value(f"gates-{word}")


def test_an_inventory_number_is_given_once(desk: Page, author: str, word: str) -> None:
    for title, message in [("One", "was added successfully"), ("Other", "already exists")]:
        begin_book(desk, f"{title} {word}", author)
        copies(desk).nth(0).fill(word)
        copies(desk).nth(1).fill("north")
        save(desk, message)
    assert found(desk, word, [f"One {word}", f"Other {word}"]) == [f"One {word}"]


def test_books_are_searched_filtered_and_taken_out_of_print(desk: Page, author: str, word: str) -> None:
    other = add_author(desk, new_word())
    first, second = f"First {word}", f"Second {word}"
    add_book(desk, first, author)
    add_book(desk, second, other)
    with desk.expect_navigation():
        desk.get_by_role("navigation", name="Filter").get_by_role("link", name=author, exact=True).click()
    expect(book(desk, second)).to_have_count(0)
    expect(book(desk, first)).to_have_count(1)
    book(desk, first).get_by_role("checkbox").check()
    desk.get_by_label("Action:").select_option(label="Take out of print")
    desk.get_by_role("button", name="Go").click()
    expect(desk.get_by_text("1 out of print now.")).to_be_visible()
    expect(book(desk, first).get_by_role("img", name="False")).to_be_visible()
    desk.goto(f"{BOOKS}?q={word}+{other}")
    expect(book(desk, second).get_by_role("img", name="True")).to_be_visible()
    expect(book(desk, first)).to_have_count(0)


def test_a_book_is_deleted_once_that_is_confirmed(desk: Page, author: str, word: str) -> None:
    add_book(desk, f"Gone {word}", author)
    book(desk, f"Gone {word}").get_by_role("link", name=f"Gone {word}").click()
    desk.get_by_role("link", name="Delete").click()
    expect(desk.get_by_role("heading", name="Delete")).to_be_visible()
    assert found(desk, word, [f"Gone {word}"])
    desk.get_by_role("button", name="Yes, I’m sure").click()
    expect(desk.get_by_text("was deleted successfully")).to_be_visible()
    expect(book(desk, f"Gone {word}")).to_have_count(0)


def test_the_history_says_who_changed_what(desk: Page, author: str, word: str) -> None:
    add_book(desk, f"Old {word}", author)
    book(desk, f"Old {word}").get_by_role("link", name=f"Old {word}").click()
    expect(desk.get_by_label("Title:")).to_have_value(f"Old {word}")
    history = desk.get_by_role("link", name="History").evaluate("link => link.href")
    desk.get_by_label("Title:").fill(f"New {word}")
    save(desk, "was changed successfully")
    desk.goto(history)
    rows = desk.get_by_role("main").get_by_role("row").filter(has_text="librarian")
    expect(rows.filter(has_text="Changed Title.")).to_have_count(1)
    expect(rows.filter(has_text="Added.")).to_have_count(1)


def test_an_author_is_added_while_a_book_is(desk: Page, word: str) -> None:
    desk.goto(f"{BOOKS}add/")
    with desk.expect_popup() as waiting:
        desk.get_by_role("link", name="Add another author").click()
    waiting.value.get_by_label("Name:").fill(word)
    waiting.value.get_by_role("button", name="Save", exact=True).click()
    expect(desk.get_by_label("Author:").locator("option:checked")).to_have_text(word)


def test_whoever_logs_out_is_out(page: Page) -> None:
    sign_in_as_librarian(page, "/admin/")
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_text("Logged out").first).to_be_visible()
    page.goto(BOOKS)
    expect(page.get_by_role("button", name="Log in")).to_be_visible()
