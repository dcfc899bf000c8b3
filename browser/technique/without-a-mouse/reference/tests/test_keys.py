"""Notes by keys alone: each test goes from one thing to the next as the keyboard does."""

from uuid import uuid4

from playwright.sync_api import Locator, Page, expect

MOST_STOPS = 60


def go_to(page: Page, target: Locator, key: str = "Tab") -> None:
    target.wait_for()
    for _ in range(MOST_STOPS):
        if target.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press(key)
    raise AssertionError(f"nothing leads to {target} by {key}")


def sign_in(page: Page) -> None:
    page.goto("/login")
    go_to(page, page.get_by_role("textbox", name="E-mail"))
    page.keyboard.type("ada@example.org")
    go_to(page, page.get_by_label("Password"))
    page.keyboard.type("correct horse")
    go_to(page, page.get_by_role("button", name="Log in"))
    page.keyboard.press("Enter")
    expect(page).to_have_url("/account")
    expect(page.get_by_text("Signed in as Ada.")).to_be_visible()


def save(page: Page) -> Locator:
    text = f"note {uuid4().hex}"
    go_to(page, page.get_by_role("textbox", name="New note"))
    page.keyboard.type(text)
    go_to(page, page.get_by_role("button", name="Save note"))
    page.keyboard.press("Space")
    note = page.get_by_role("listitem").filter(has_text=text)
    expect(note).to_be_visible()
    return note


def test_one_can_sign_in(page: Page) -> None:
    sign_in(page)


def test_a_note_can_be_saved_and_removed(page: Page) -> None:
    sign_in(page)
    note = save(page)
    go_to(page, note.get_by_role("button"))
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(page.get_by_text("Signed in as Ada.")).to_be_visible()
    expect(note).to_have_count(0)


def test_the_focus_comes_back(page: Page) -> None:
    sign_in(page)
    go_to(page, page.get_by_role("button", name="Save note"))
    go_to(page, page.get_by_role("button", name="Log out"), "Shift+Tab")


def test_one_can_sign_out(page: Page) -> None:
    sign_in(page)
    go_to(page, page.get_by_role("button", name="Log out"))
    page.keyboard.press("Enter")
    expect(page).to_have_url("/login")
