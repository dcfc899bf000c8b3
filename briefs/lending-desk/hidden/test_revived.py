from lending import add_tool, row, table, unused
from playwright.sync_api import expect

pytest_plugins = ["browsing", "lending"]


def test_it_starts_again_with_all_that_it_had_answered(app, page, desk):
    answered = app.left()
    assert answered
    page.goto("/")
    expect(row(page, "Tools", answered[-1])).to_be_visible()
    text = table(page, "Tools").inner_text()
    assert [name for name in answered if name not in text] == []
    add_tool(desk, unused())
