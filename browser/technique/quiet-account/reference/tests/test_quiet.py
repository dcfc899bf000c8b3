"""Quiet minutes on the account page, by a clock that the tests move on."""

import pytest
from playwright.sync_api import Page, expect

MINUTE_MS = 60_000


@pytest.fixture
def account(page: Page) -> Page:
    page.clock.install()
    page.goto("/login")
    page.get_by_label("E-mail").fill("ada@example.org")
    page.get_by_label("Password").fill("correct horse")
    page.get_by_role("button", name="Log in").click()
    expect(page).to_have_url("/account")
    page.wait_for_load_state()
    return page


def wait(page: Page, minutes: int) -> None:
    page.clock.fast_forward(minutes * MINUTE_MS)


def test_the_warning_comes_after_25_minutes(account: Page) -> None:
    wait(account, 23)
    account.clock.run_for(5_000)
    expect(account.get_by_role("alert")).to_be_hidden()
    wait(account, 3)
    expect(account.get_by_role("alert")).to_contain_text("signed out in five minutes")


def test_after_30_minutes_one_is_signed_out(account: Page) -> None:
    wait(account, 31)
    expect(account).to_have_url("/login")
    account.goto("/account")
    expect(account).to_have_url("/login")


def test_a_key_begins_the_time_anew(account: Page) -> None:
    wait(account, 20)
    account.keyboard.press("Shift")
    wait(account, 20)
    account.clock.run_for(5_000)
    expect(account.get_by_role("alert")).to_be_hidden()
    expect(account).to_have_url("/account")


def test_the_button_begins_the_time_anew(account: Page) -> None:
    wait(account, 26)
    account.get_by_role("button", name="Stay signed in").click()
    expect(account.get_by_role("alert")).to_be_hidden()
    wait(account, 20)
    account.clock.run_for(5_000)
    expect(account.get_by_role("alert")).to_be_hidden()
    expect(account).to_have_url("/account")
