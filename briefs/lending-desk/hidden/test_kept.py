from lending import enter, refused, row, signed_in, table
from playwright.sync_api import expect

pytest_plugins = ["browsing", "lending"]


def test_people_tools_and_loans_are_there_after_a_restart(app, page, desk):
    left = app.left()
    of, password = left["of"], left["password"]
    page.goto("/")
    expect(table(page, "Tools").get_by_role("row").filter(has_text=of)).to_have_count(4)
    for tool, text in (("a", "on loan"), ("b", left["past"]), ("c", "available")):
        expect(row(page, "Tools", f"{tool} {of}")).to_contain_text(text)
    enter(page, "/register", left["bob"], password)
    refused(page)
    enter(page, "/sign-in", left["ann"], password)
    signed_in(page, left["ann"])
    page.goto("/loans")
    text = row(page, "My loans", f"a {of}").inner_text()
    assert any(due in text for due in left["due"]), text
    desk.goto("/desk")
    expect(row(desk, "Overdue", f"b {of}")).to_contain_text(left["bob"])
