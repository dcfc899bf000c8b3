import http.client

from browsing import loosen, recorded
from lending import (
    add_tool, ask_for, enter, field, in_days, press, record, refused, row, signed_in, table, unused,
)  # fmt: skip
from playwright.sync_api import expect

pytest_plugins = ["browsing", "lending"]


def test_names_and_passwords_that_are_none_are_refused(app, page):
    for name, password in (("", "long enough"), ("  x ", "long enough"), ("x" * 41, "long enough"), (unused("Eve"), "1234567")):
        page.goto("/register")
        loosen(page)
        field(page, "Name").fill(name)
        field(page, "Password").fill(password)
        press(page, "Register")
        refused(page)
    longest = unused("Max").ljust(40, "x")
    enter(page, "/register", longest, "12345678")
    signed_in(page, longest)


def test_tools_without_a_name_are_refused(app, page, desk):
    of = unused("y")
    for name in ("", "   ", of.ljust(81, "z")):
        desk.goto("/desk")
        loosen(desk)
        field(desk, "Tool name").fill(name)
        press(desk, "Add tool")
        refused(desk)
    longest = add_tool(desk, unused("y").ljust(80, "z"))
    page.goto("/")
    expect(row(page, "Tools", longest)).to_have_count(1)
    expect(table(page, "Tools").get_by_role("row").filter(has_text=of)).to_have_count(0)


def test_days_out_of_range_are_refused(app, desk, ann):
    tool = add_tool(desk, unused("Pick"))
    for days in ("", "0", "15", "-1", "1.5", "x", "99999999999999999999"):
        ann.page.goto("/")
        expect(row(ann.page, "Tools", tool)).to_contain_text("available")
        loosen(ann.page)
        ask_for(ann.page, tool, days)
        refused(ann.page)
    ann.page.goto("/")
    expect(row(ann.page, "Tools", tool)).to_contain_text("available")


def test_loans_of_nobody_of_nothing_and_until_no_day_are_refused(app, desk, ann):
    tool, lent = add_tool(desk, unused("Auger")), add_tool(desk, unused("Adze"))
    record(desk, lent, ann.name, in_days(2))
    wrong = [(tool, unused("Nobody"), in_days(2)), (unused("Nothing"), ann.name, in_days(2)), (lent, ann.name, in_days(3))]
    wrong += [(tool, ann.name, due) for due in ("", "tomorrow", "2026-13-01", "2026-02-30")]
    for words in wrong:
        desk.goto("/desk")
        expect(row(desk, "Loans", lent)).to_contain_text(ann.name)
        loosen(desk)
        for name, text in zip(("Tool", "Neighbour", "Due"), words, strict=True):
            field(desk, name).fill(text)
        press(desk, "Record loan")
        refused(desk)
    desk.goto("/desk")
    expect(row(desk, "Loans", lent)).to_contain_text(in_days(2))
    expect(row(desk, "Loans", tool)).to_have_count(0)


def test_one_tool_that_many_ask_for_at_once_is_lent_once(app, page, desk, neighbour):
    tool, people = add_tool(desk, unused("Mower")), [neighbour() for _ in range(5)]
    requests = []
    for each in people:
        each.page.goto("/")
        requests.append(recorded(each.page, lambda each=each: ask_for(each.page, tool)))
    statuses = app.at_once(len(requests), lambda number: requests[number].send(app))
    assert sorted(status < 400 for status in statuses) == [False] * 4 + [True], statuses
    winner = next(each for each, status in zip(people, statuses, strict=True) if status < 400)
    desk.goto("/desk")
    expect(row(desk, "Loans", tool)).to_have_count(1)
    expect(row(desk, "Loans", tool)).to_contain_text(winner.name)


def test_who_asks_for_many_tools_at_once_gets_three(app, desk, ann):
    of, requests = unused("clamp"), []
    for name in "abcdef":
        add_tool(desk, f"{name} {of}")
    for name in "abcdef":
        ann.page.goto("/")
        requests.append(recorded(ann.page, lambda name=name: ask_for(ann.page, f"{name} {of}")))
    statuses = app.at_once(len(requests), lambda number: requests[number].send(app))
    assert sum(status < 400 for status in statuses) == 3, statuses
    ann.page.goto("/loans")
    expect(table(ann.page, "My loans").get_by_role("row").filter(has_text=of)).to_have_count(3)


def test_names_are_shown_as_they_are(app, page, desk, ann):
    tool = f"<b>{unused('Iron')}</b> & \"Co\" <script>document.body.innerHTML = ''</script>"
    record(desk, add_tool(desk, tool), ann.name, in_days(-1))
    page.goto("/")
    expect(row(page, "Tools", tool)).to_contain_text("on loan")
    desk.goto("/desk")
    for name in ("Loans", "Overdue"):
        expect(row(desk, name, tool)).to_be_visible()
    ann.page.goto("/loans")
    expect(row(ann.page, "My loans", tool)).to_contain_text("overdue")


def test_what_is_not_there_is_answered_with_404(app, page, desk):
    assert app.ask("GET", "/nowhere").status == 404
    assert desk.goto("/desk/nowhere").status == 404
    assert app.healthy()


def test_a_body_that_is_too_large_is_refused_and_the_service_goes_on(app, desk):
    tool = unused("Big")
    desk.goto("/desk")
    field(desk, "Tool name").fill(tool)
    request = recorded(desk, lambda: press(desk, "Add tool"))
    try:
        status = request.send(app, tool.split()[0], "Big" * 100_000)
    except (ConnectionError, http.client.RemoteDisconnected):  # it may stop reading before all has been sent
        status = 413
    assert status in range(400, 500)
    add_tool(desk, tool)
