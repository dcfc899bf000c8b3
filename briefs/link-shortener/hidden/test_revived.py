from drawing import address, code

pytest_plugins = ["drawing"]


def test_it_starts_again_with_all_that_it_had_answered(app, chance):
    left = app.left()
    assert left["answered"]
    for own in left["answered"]:
        answer = app.ask("GET", f"/{own}")
        assert (answer.status, answer.headers.get("location")) == (302, left["url"] + own)
    assert app.ask("POST", "/links", {"url": address(chance), "code": code(chance, 13, 20)}).status == 201
