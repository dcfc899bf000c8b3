from lending import CHANCE, PASSWORD, add_tool, borrow, in_days, record, take_back, unused

pytest_plugins = ["browsing", "lending"]


def test_people_borrow_tools_and_the_service_stops(app, desk, ann, neighbour):
    bob, of, days, past = neighbour(), unused(), CHANCE.randint(2, 14), f"{CHANCE.randrange(1996, 2025, 4)}-02-29"
    for name in "abcd":
        add_tool(desk, f"{name} {of}")
    borrow(ann.page, f"a {of}", days)
    record(desk, f"b {of}", bob.name, past)
    borrow(ann.page, f"c {of}")
    take_back(desk, f"c {of}")
    due = [in_days(days - 1), in_days(days)]
    app.leave({"ann": ann.name, "bob": bob.name, "password": PASSWORD, "of": of, "due": due, "past": past})
    app.stop()
