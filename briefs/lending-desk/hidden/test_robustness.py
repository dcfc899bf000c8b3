import http.client

from browsing import loosen, recorded
from lending import (
    CHANCE, PASSWORD, add_tool, ask_for, enter, field, in_days, press, record, refused, row, signed_in, table, unused, word,
)  # fmt: skip
from playwright.sync_api import expect

pytest_plugins = ["browsing", "lending"]


def test_names_and_passwords_that_are_none_are_refused(app, page):
    wrong = [(name, PASSWORD) for name in ("", f"  {word(1, 1)} ", word(41, 41), word(42, 90))]
    wrong += [(unused(), word(7, 7)), (unused(), word(1, 6))]
    for name, password in wrong:
        page.goto("/register")
        loosen(page)
        field(page, "Name").fill(name)
        field(page, "Password").fill(password)
        press(page, "Register")
        refused(page)
    longest = unused().ljust(40, word(1, 1))
    enter(page, "/register", longest, word(8, 8))
    signed_in(page, longest)


def test_tools_without_a_name_are_refused(app, page, desk):
    of = unused()
    for name in ("", " " * CHANCE.randint(1, 9), of.ljust(81, word(1, 1)), of.ljust(CHANCE.randint(82, 200), word(1, 1))):
        desk.goto("/desk")
        loosen(desk)
        field(desk, "Tool name").fill(name)
        press(desk, "Add tool")
        refused(desk)
    longest = add_tool(desk, unused().ljust(80, word(1, 1)))
    page.goto("/")
    expect(row(page, "Tools", longest)).to_have_count(1)
    expect(table(page, "Tools").get_by_role("row").filter(has_text=of)).to_have_count(0)


def test_days_out_of_range_are_refused(app, desk, ann):
    tool = add_tool(desk, unused())
    wrong = [CHANCE.randint(16, 99), CHANCE.randint(100, 9999), -CHANCE.randint(1, 14), CHANCE.randint(10**19, 10**20 - 1)]
    for days in ("", "0", "15", f"{CHANCE.randint(1, 13)}.5", word(1, 5), *wrong):
        ann.page.goto("/")
        expect(row(ann.page, "Tools", tool)).to_contain_text("available")
        loosen(ann.page)
        ask_for(ann.page, tool, days)
        refused(ann.page)
    ann.page.goto("/")
    expect(row(ann.page, "Tools", tool)).to_contain_text("available")


def test_loans_of_nobody_of_nothing_and_until_no_day_are_refused(app, desk, ann):
    tool, lent, until, later = add_tool(desk, unused()), add_tool(desk, unused()), in_days(CHANCE.randint(1, 30)), in_days(31)
    record(desk, lent, ann.name, until)
    wrong = [(tool, unused(), until), (unused(), ann.name, until), (lent, ann.name, later)]
    year = CHANCE.randint(2015, 2040)
    days = [f"{CHANCE.randint(13, 99)}-01", f"00-{CHANCE.randint(10, 28)}", "02-30", f"{CHANCE.choice(['04', '06', '11'])}-31"]
    wrong += [(tool, ann.name, due) for due in ("", word(), *(f"{year}-{day}" for day in days))]
    for words in wrong:
        desk.goto("/desk")
        expect(row(desk, "Loans", lent)).to_contain_text(ann.name)
        loosen(desk)
        for name, text in zip(("Tool", "Neighbour", "Due"), words, strict=True):
            field(desk, name).fill(text)
        press(desk, "Record loan")
        refused(desk)
    desk.goto("/desk")
    expect(row(desk, "Loans", lent)).to_contain_text(until)
    expect(row(desk, "Loans", tool)).to_have_count(0)


def test_one_tool_that_many_ask_for_at_once_is_lent_once(app, page, desk, neighbour):
    tool, people = add_tool(desk, unused()), [neighbour() for _ in range(5)]
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
    of, requests = unused(), []
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
    tag = CHANCE.choice("bius")
    tool = f"<{tag}>{unused()}</{tag}> & \"{word(2, 5)}\" <script>document.body.innerHTML = ''</script>"
    record(desk, add_tool(desk, tool), ann.name, in_days(-1))
    page.goto("/")
    expect(row(page, "Tools", tool)).to_contain_text("on loan")
    desk.goto("/desk")
    for name in ("Loans", "Overdue"):
        expect(row(desk, name, tool)).to_be_visible()
    ann.page.goto("/loans")
    expect(row(ann.page, "My loans", tool)).to_contain_text("overdue")


def test_what_is_not_there_is_answered_with_404(app, page, desk):
    assert app.ask("GET", f"/{word()}-{word()}").status == 404
    assert desk.goto(f"/desk/{word()}-{word()}").status == 404
    assert app.healthy()


def test_a_body_that_is_too_large_is_refused_and_the_service_goes_on(app, desk):
    tool = unused()
    desk.goto("/desk")
    field(desk, "Tool name").fill(tool)
    request = recorded(desk, lambda: press(desk, "Add tool"))
    try:
        status = request.send(app, tool.split()[0], word() * 100_000)
    except (ConnectionError, http.client.RemoteDisconnected):  # it may stop reading before all has been sent
        status = 413
    assert status in range(400, 500)
    add_tool(desk, tool)
