from lending import add_tool, borrow, in_days, record, take_back

pytest_plugins = ["browsing", "lending"]


def test_people_borrow_tools_and_the_service_stops(app, desk, ann, neighbour):
    bob = neighbour()
    for tool in ("kept one", "kept two", "kept three", "kept four"):
        add_tool(desk, tool)
    borrow(ann.page, "kept one", 3)
    record(desk, "kept two", bob.name, "2020-02-29")
    borrow(ann.page, "kept three")
    take_back(desk, "kept three")
    app.leave({"ann": ann.name, "bob": bob.name, "due": [in_days(2), in_days(3)]})
    app.stop()
