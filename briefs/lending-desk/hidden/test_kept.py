from lending import PASSWORD, enter, refused, row, signed_in, table
from playwright.sync_api import expect

pytest_plugins = ["browsing", "lending"]


def test_people_tools_and_loans_are_there_after_a_restart(app, page, desk):
    left = app.left()
    page.goto("/")
    expect(table(page, "Tools").get_by_role("row").filter(has_text="kept ")).to_have_count(4)
    for tool, text in (("kept one", "on loan"), ("kept two", "2020-02-29"), ("kept three", "available")):
        expect(row(page, "Tools", tool)).to_contain_text(text)
    enter(page, "/register", left["bob"], PASSWORD)
    refused(page)
    enter(page, "/sign-in", left["ann"], PASSWORD)
    signed_in(page, left["ann"])
    page.goto("/loans")
    text = row(page, "My loans", "kept one").inner_text()
    assert any(due in text for due in left["due"]), text
    desk.goto("/desk")
    expect(row(desk, "Overdue", "kept two")).to_contain_text(left["bob"])
