"""Signing in and out. What the page calls things is said once."""

from playwright.sync_api import Page, expect

EMAIL, PASSWORD, LOG_IN, LOG_OUT = "E-mail", "Password", "Log in", "Log out"
ADA = "ada@example.org"


def sign_in(page: Page, email: str, password: str) -> None:
    page.goto("/login")
    page.get_by_label(EMAIL).fill(email)
    page.get_by_label(PASSWORD).fill(password)
    page.get_by_role("button", name=LOG_IN).click(timeout=10_000)


def test_the_right_password_leads_to_the_account(page: Page) -> None:
    sign_in(page, ADA, "correct horse")
    expect(page).to_have_url("/account")
    expect(page.get_by_text("Signed in as Ada.")).to_be_visible()


def test_a_wrong_password_is_refused(page: Page) -> None:
    sign_in(page, ADA, "correct hose")
    expect(page.get_by_role("alert")).to_contain_text("wrong")
    page.goto("/account")
    expect(page).to_have_url("/login")


def test_a_sign_in_without_a_password_is_refused(page: Page) -> None:
    sign_in(page, ADA, "")
    expect(page.get_by_role("alert")).to_contain_text("wrong")


def test_the_account_asks_for_a_sign_in(page: Page) -> None:
    page.goto("/account")
    expect(page).to_have_url("/login")


def test_whoever_has_signed_out_sees_no_account(page: Page) -> None:
    sign_in(page, ADA, "correct horse")
    page.get_by_role("button", name=LOG_OUT).click()
    expect(page).to_have_url("/login")
    page.goto("/account")
    expect(page).to_have_url("/login")
