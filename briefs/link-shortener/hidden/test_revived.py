def test_it_starts_again_with_all_that_it_had_answered(app):
    answered = app.left()
    assert answered
    for code in answered:
        answer = app.ask("GET", f"/{code}")
        assert (answer.status, answer.headers.get("location")) == (302, f"https://example.org/{code}")
    assert app.ask("POST", "/links", {"url": "https://example.org/", "code": "after-it"}).status == 201
