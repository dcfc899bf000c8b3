"""The hall's desk: issues, what is said about them, and who may. Each test has issues of its own."""

import re
from uuid import uuid4

import pytest
from playwright.sync_api import Locator, Page, expect

PASSWORDS = {"ada": "door key", "bram": "blue bucket"}
CONTENT = bytes(range(256))
NEW = "/desk/issue?@template=item"


@pytest.fixture
def word() -> str:
    """A word that is in nothing else."""
    return "q" + uuid4().hex[:10]


def main(page: Page) -> Locator:
    return page.get_by_role("main")


def field(page: Page, name: str) -> Locator:
    return main(page).locator(f'[name="{name}"]')


def sign_in(page: Page, name: str, at: str) -> None:
    page.goto(at)
    page.locator('[name="__login_name"]').fill(name)
    page.locator('[name="__login_password"]').fill(PASSWORDS[name])
    page.get_by_role("button", name="Login").click()
    expect(page.get_by_role("link", name="Logout")).to_be_visible()


def issue(page: Page, base_url: str, title: str, priority: str = "bug", **more: object) -> str:
    """Make an issue of Ada's by the service; return its address."""
    answer = page.request.post(
        "/desk/rest/data/issue",
        data={"title": title, "priority": priority, **more},
        headers={"Authorization": "Basic YWRhOmRvb3Iga2V5", "X-Requested-With": "rest", "Origin": base_url},
    )
    assert answer.status == 201, answer.text()
    return f"/desk/issue{answer.json()['data']['id']}"


def save(page: Page, button: str = "Submit Changes", said: str = "edited ok") -> None:
    main(page).get_by_role("button", name=button).click()
    expect(main(page).get_by_text(re.compile(rf"issue \d+ .*{said}"))).to_be_visible()


def row(page: Page, title: str) -> Locator:
    link = page.get_by_role("link", name=title, exact=True)
    return main(page).get_by_role("row").filter(has=link)


def test_a_new_issue_is_in_the_list_as_it_was_written(page: Page, word: str) -> None:
    title = f"<i>Wet</i> wall & {word}"
    sign_in(page, "ada", NEW)
    field(page, "title").fill(title)
    field(page, "priority").select_option(label="urgent")
    field(page, "@file").set_input_files({"name": f"{word}.bin", "mimeType": "application/octet-stream", "buffer": CONTENT})
    save(page, "Submit New Entry", "created")
    with page.expect_download() as download:
        main(page).get_by_role("link", name=f"{word}.bin").click()
    assert download.value.path().read_bytes() == CONTENT
    page.goto("/desk/issue")
    cells = row(page, title).get_by_role("cell")
    expect(cells.filter(has_text="urgent")).to_have_count(1)
    expect(cells.filter(has_text="unread")).to_have_count(1)


def test_comments_have_their_authors_and_the_newest_is_first(page: Page, base_url: str, word: str) -> None:
    address = issue(page, base_url, word)
    for name in ("ada", "bram"):
        page.context.clear_cookies()
        sign_in(page, name, address)
        field(page, "@note").fill(f"{name} was there")
        save(page)
    told = main(page).get_by_role("row").filter(has_text=re.compile("Author:|was there"))
    expect(told).to_contain_text(["Author: bram", "bram was there", "Author: ada", "ada was there"])
    expect(field(page, "status").locator("option:checked")).to_have_text("chatting")


def test_the_history_says_who_changed_what(page: Page, base_url: str, word: str) -> None:
    sign_in(page, "bram", issue(page, base_url, word))
    field(page, "status").select_option(label="testing")
    field(page, "assignedto").select_option(label="chloe")
    save(page)
    changed = main(page).get_by_role("row").filter(has=page.get_by_role("cell", name="bram", exact=True))
    expect(changed.filter(has_text="status: unread -> testing")).to_have_count(1)
    expect(field(page, "nosy")).to_have_value(re.compile(r"\bchloe\b"))


def test_the_search_finds_words_of_titles_and_comments(page: Page, base_url: str, word: str) -> None:
    other = word[::-1]
    issue(page, base_url, f"First {word}")
    issue(page, base_url, f"Second {other}")
    sign_in(page, "ada", issue(page, base_url, f"Third {other}"))
    field(page, "@note").fill(f"The same as {word}?")
    save(page)
    page.locator('[name="@search_text"]').fill(word)
    page.get_by_role("button", name="Search").click()
    expect(row(page, f"First {word}")).to_have_count(1)
    expect(row(page, f"Third {other}")).to_have_count(1)
    expect(row(page, f"Second {other}")).to_have_count(0)


def test_open_issues_are_listed_by_priority(page: Page, base_url: str, word: str) -> None:
    order = ["critical", "urgent", "bug", "feature", "wish"]
    for priority in reversed(order):
        issue(page, base_url, f"{priority} {word}", priority)
    issue(page, base_url, f"Done {word}", status="resolved")
    page.goto("/desk/")
    page.get_by_role("link", name="Show All").click()
    expect(row(page, f"wish {word}")).to_have_count(1)
    expect(row(page, f"Done {word}")).to_have_count(0)
    group, groups = "", []
    for text in main(page).get_by_role("row").all_inner_texts():
        group = text.strip() if text.strip() in order else group
        groups += [group] if f"{group} {word}" in text else []
    assert groups == order
    page.goto("/desk/issue?@template=search")
    field(page, "status").select_option(label="resolved")
    main(page).get_by_role("button", name="Search").click()
    expect(row(page, f"Done {word}")).to_have_count(1)
    expect(row(page, f"bug {word}")).to_have_count(0)


def test_who_has_not_signed_in_reads_and_changes_nothing(page: Page, base_url: str, word: str) -> None:
    page.goto(issue(page, base_url, word))
    expect(main(page).get_by_role("cell", name=word, exact=True)).to_be_visible()
    expect(main(page).get_by_role("button")).to_have_count(0)
    page.goto(NEW)
    expect(main(page).get_by_text("Title", exact=True)).to_be_visible()
    expect(main(page).get_by_role("button")).to_have_count(0)
