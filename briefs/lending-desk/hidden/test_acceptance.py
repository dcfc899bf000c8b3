import csv
import io
import re

from browsing import recorded
import pytest
from lending import (
    CHANCE, PASSWORD, add_tool, ask_for, borrow, enter, field, in_days, in_order, press, record, refused, row,
    signed_in, table, take_back, unused, word,
)  # fmt: skip
from playwright.sync_api import expect

pytest_plugins = ["browsing", "lending"]


def test_everybody_sees_all_tools_in_alphabetical_order(app, page, desk):
    of = unused()
    names = [f"zi{word()}", f"M{word()}", f"an{word()}", f"na{word()}"]
    for name in names:
        add_tool(desk, f"{name} {of}")
    page.goto("/")
    expect(page.get_by_role("heading", name="Tools", exact=True)).to_be_visible()
    expect(row(page, "Tools", f"{names[-1]} {of}")).to_contain_text("available")
    in_order(page, "Tools", of, sorted(names, key=str.lower))
    expect(page.get_by_role("button", name="Borrow")).to_have_count(0)


def test_a_neighbour_registers_signs_out_and_signs_in(app, page):
    name = unused()
    page.goto("/")
    page.get_by_role("link", name="Register", exact=True).click()
    expect(page).to_have_url(re.compile("/register$"))
    enter(page, "/register", name, PASSWORD)
    signed_in(page, name)
    press(page, "Sign out")
    expect(page.get_by_role("link", name="Sign in", exact=True)).to_be_visible()
    expect(page.get_by_text("Signed in as")).to_have_count(0)
    enter(page, "/sign-in", name, PASSWORD)
    signed_in(page, name)
    page.goto("/")
    signed_in(page, name)


def test_a_wrong_password_is_refused(app, page, ann):
    wrong = [(ann.name, PASSWORD + word(1, 3)), (ann.name, word(8, 20)), (unused(), PASSWORD), ("desk", PASSWORD)]
    for name, password in wrong:
        enter(page, "/sign-in", name, password)
        refused(page)
        page.goto("/")
        expect(page.get_by_role("link", name="Sign in", exact=True)).to_be_visible()


def test_a_name_that_is_taken_is_refused(app, page, ann):
    for name in (ann.name, ann.name.upper(), "Desk"):
        enter(page, "/register", name, word(8, 20))
        refused(page)
    enter(page, "/sign-in", ann.name, PASSWORD)
    signed_in(page, ann.name)


def test_a_tool_is_there_once(app, page, desk):
    tool = add_tool(desk, unused())
    for name in (tool, f"  {tool.lower()} "):
        desk.goto("/desk")
        field(desk, "Tool name").fill(name)
        press(desk, "Add tool")
        refused(desk)
    page.goto("/")
    expect(row(page, "Tools", tool)).to_have_count(1)
    expect(table(page, "Tools").get_by_role("row").filter(has_text=tool)).to_have_count(1)


def test_the_pages_of_the_desk_are_for_the_desk(app, page, ann):
    assert ann.page.goto("/desk").status == 403
    assert page.goto("/desk").status == 403 or page.url.endswith("/sign-in")
    for other in (ann.page, page):
        expect(other.get_by_role("button", name="Add tool")).to_have_count(0)


def test_the_requests_of_the_desk_are_for_the_desk(app, page, desk, ann):
    tool, new = add_tool(desk, unused()), unused()
    record(desk, tool, ann.name, in_days(CHANCE.randint(1, 90)))
    desk.goto("/desk")
    address = desk.get_by_role("link", name="Export loans", exact=True).evaluate("link => link.href")
    back = recorded(desk, lambda: press(row(desk, "Loans", tool), "Take back"))
    desk.goto("/desk")
    field(desk, "Tool name").fill(new)
    added = recorded(desk, lambda: press(desk, "Add tool"))
    for other in (ann.page, page):
        cookie = "; ".join(f"{item['name']}={item['value']}" for item in other.context.cookies())
        for request in (back, added):
            mine = request._replace(headers={**request.headers, "Cookie": cookie})
            assert mine.send(app) in range(300, 500)
        answer = other.request.get(address, max_redirects=0)
        assert answer.status in range(300, 500)
        assert tool not in answer.text()
    page.goto("/")
    expect(row(page, "Tools", tool)).to_contain_text("on loan until")
    expect(row(page, "Tools", new)).to_have_count(0)


@pytest.mark.parametrize("days", [1, 14, CHANCE.randint(2, 13)], ids=["least", "most", "between"])
def test_a_neighbour_borrows_an_available_tool(app, page, desk, ann, days):
    tool = add_tool(desk, unused())
    for _ in range(2):  # midnight may lie between
        due = in_days(days)
        borrow(ann.page, tool, days)
        if due == in_days(days):
            break
        take_back(desk, tool)
    for other in (page, ann.page):
        other.goto("/")
        expect(row(other, "Tools", tool)).to_contain_text(f"on loan until {due}")
        expect(row(other, "Tools", tool).get_by_role("button", name="Borrow")).to_have_count(0)
    desk.goto("/desk")
    expect(row(desk, "Loans", tool)).to_contain_text(ann.name)
    expect(row(desk, "Loans", tool)).to_contain_text(due)


def test_nobody_has_more_than_three_tools(app, desk, ann):
    tools = [add_tool(desk, unused()) for _ in range(4)]
    for tool in tools[:3]:
        borrow(ann.page, tool)
    ann.page.goto("/")
    ask_for(ann.page, tools[3])
    refused(ann.page)
    ann.page.goto("/")
    expect(row(ann.page, "Tools", tools[3])).to_contain_text("available")
    take_back(desk, tools[0])
    borrow(ann.page, tools[3])


def test_a_tool_that_is_taken_back_is_available(app, desk, ann, neighbour):
    tool, bob = add_tool(desk, unused()), neighbour()
    borrow(ann.page, tool)
    take_back(desk, tool)
    desk.goto("/desk")
    expect(row(desk, "Loans", tool)).to_have_count(0)
    bob.page.goto("/")
    expect(row(bob.page, "Tools", tool)).to_contain_text("available")
    borrow(bob.page, tool)


def test_the_desk_sees_what_is_overdue_the_longest_first(app, desk, ann):
    of, long, short, later = unused(), CHANCE.randint(30, 400), CHANCE.randint(2, 25), CHANCE.randint(1, 90)
    for _ in range(2):  # midnight may lie between
        today, days = in_days(0), {"a": -1, "b": -long, "c": 0, "d": later, "e": -short}
        dues = {name: in_days(number) for name, number in days.items()}
        for name, due in dues.items():
            record(desk, add_tool(desk, f"{name} {of}"), ann.name, due)
        desk.goto("/desk")
        expect(row(desk, "Overdue", f"b {of}")).to_contain_text(ann.name)
        expect(row(desk, "Overdue", f"c {of}")).to_have_count(0)
        if today == in_days(0):
            break
        of = unused()
    in_order(desk, "Overdue", of, ["b", "e", "a"])
    expect(row(desk, "Overdue", f"b {of}")).to_contain_text(dues["b"])
    expect(table(desk, "Loans").get_by_role("row").filter(has_text=of)).to_have_count(5)


def test_who_has_an_overdue_tool_borrows_none_until_it_is_back(app, desk, ann):
    late, other = add_tool(desk, unused()), add_tool(desk, unused())
    record(desk, late, ann.name, in_days(-CHANCE.randint(2, 60)))
    ann.page.goto("/")
    ask_for(ann.page, other)
    refused(ann.page)
    take_back(desk, late)
    borrow(ann.page, other)


def test_search_finds_a_part_of_a_name_in_any_case(app, page, desk):
    of, first, second = unused(), f"L{word()}p", f"S{word()}q"
    for name in (second, first):
        add_tool(desk, f"{name} {of}")
    part = second[-CHANCE.randint(2, 4) :]
    for words, found in ((f"{part} {of}".upper(), [second]), (of.lower(), [first, second])):
        page.goto("/")
        field(page, "Search").fill(words)
        press(page, "Search")
        in_order(page, "Tools", of, found)
        expect(table(page, "Tools").get_by_role("row").filter(has_text="available")).to_have_count(len(found))
    field(page, "Search").fill(f"{word()}r {of}")
    press(page, "Search")
    expect(page.get_by_text("No tools found", exact=True)).to_be_visible()
    expect(table(page, "Tools")).to_have_count(0)


def test_the_file_of_loans_has_every_loan_in_order(app, desk, ann):
    of, past, soon, late = unused().lower(), CHANCE.randint(1, 60), CHANCE.randint(1, 30), CHANCE.randint(31, 90)
    tools = {f'{of}, 1/2" long': late, f"Ø{of}": -past, f"a {of}": late, f"'{of};": soon}
    tools = {tool: in_days(days) for tool, days in tools.items()}
    for tool, due in tools.items():
        record(desk, add_tool(desk, tool), ann.name, due)
    desk.goto("/desk")
    address = desk.get_by_role("link", name="Export loans", exact=True).evaluate("link => link.href")
    answer = desk.request.get(address)
    assert answer.ok
    assert "csv" in answer.headers["content-type"]
    lines = list(csv.reader(io.StringIO(answer.body().decode("utf-8-sig"), newline="")))
    assert lines[0] == ["tool", "neighbour", "due"]
    own = [line for line in lines[1:] if of in line[0]]
    order = [f"Ø{of}", f"'{of};", f"a {of}", f'{of}, 1/2" long']
    assert own == [[tool, ann.name, tools[tool]] for tool in order]
    desk.goto("/desk")
    expect(table(desk, "Loans").get_by_role("button", name="Take back")).to_have_count(len(lines) - 1)


def test_neighbours_see_their_own_loans(app, desk, ann, neighbour):
    bob, of = neighbour(), unused()
    soon, late, past = CHANCE.randint(1, 30), CHANCE.randint(31, 90), CHANCE.randint(1, 60)
    for name, whose, days in (("a", ann, late), ("b", bob, soon), ("c", ann, -past), ("d", ann, soon)):
        record(desk, add_tool(desk, f"{name} {of}"), whose.name, in_days(days))
    ann.page.goto("/loans")
    expect(row(ann.page, "My loans", f"c {of}")).to_contain_text("overdue")
    expect(row(ann.page, "My loans", f"d {of}")).not_to_contain_text("overdue")
    in_order(ann.page, "My loans", of, ["c", "d", "a"])
    bob.page.goto("/loans")
    expect(row(bob.page, "My loans", f"b {of}")).to_be_visible()
    in_order(bob.page, "My loans", of, ["b"])
