import pytest
from drawing import address, code, word

pytest_plugins = ["drawing"]

URL = "https://example.org/"


def made(app, **more):
    answer = app.ask("POST", "/links", {"url": URL, **more})
    assert answer.status == 201, answer
    return answer.json["code"]


@pytest.mark.parametrize("body", [b"", b"{", b"null", b"[]", b'"text"', b"\xff\xfe", b"[" * 5000])
def test_ill_formed_bodies_are_refused_and_the_service_goes_on(app, body):
    answer = app.send("/links", body)
    assert answer.status == 400, answer
    assert answer.json["error"]
    assert made(app)


def test_fields_of_the_wrong_type_are_refused(app, chance):
    url, number = address(chance), chance.randint(1, 99)
    told = [
        {}, {"url": number}, {"url": None}, {"url": [url]}, {"url": {"url": url}}, {"url": True},
        *({"url": url, "code": each} for each in (10_000 + number, [code(chance)], {}, 1.5, False)),
        *({"url": url, "max_visits": each} for each in (str(number), number + 0.5, True, -number, [number], word(chance))),
    ]  # fmt: skip
    for each in told:
        answer = app.ask("POST", "/links", each)
        assert answer.status == 400, (each, answer)
    assert made(app)


def test_one_code_asked_for_by_many_at_once_is_given_once(app, chance):
    own = code(chance, 6, 20)

    def one(number):
        return app.ask("POST", "/links", {"url": f"{URL}{number}", "code": own}).status

    assert sorted(app.at_once(20, one)) == [201] + [409] * 19


def test_no_visit_is_lost_when_many_come_at_once(app):
    code = made(app)
    assert app.at_once(40, lambda _: app.ask("GET", f"/{code}").status) == [302] * 40
    assert app.ask("GET", f"/links/{code}").json["visits"] == 40


def test_a_limit_is_not_exceeded_when_many_come_at_once(app, chance):
    limit = chance.randint(4, 9)
    code = made(app, max_visits=limit)
    statuses = app.at_once(20, lambda _: app.ask("GET", f"/{code}").status)
    assert sorted(statuses) == [302] * limit + [410] * (20 - limit)
    assert app.ask("GET", f"/links/{code}").json["visits"] == limit


def test_a_body_that_is_too_large_is_refused_and_the_service_goes_on(app):
    assert made(app)
    try:
        answer = app.send("/links", b'{"url": "https://example.org/", "more": "' + b"a" * 400_000 + b'"}')
    except ConnectionError:  # it may stop reading before all has been sent
        answer = None
    assert answer is None or answer.status in (400, 413), answer
    assert made(app)
