from itertools import count

import pytest

NUMBERS = count(1)


def made(app, url=None, **more):
    url = url or f"https://example.org/{next(NUMBERS)}"
    answer = app.ask("POST", "/links", {"url": url, **more})
    assert answer.status == 201, answer
    return answer.json


def refused(answer, status=400):
    assert answer.status == status, answer
    assert isinstance(answer.json["error"], str)
    assert answer.json["error"]


def visit(app, code, referrer=None):
    return app.ask("GET", f"/{code}", headers={"Referer": referrer} if referrer else {})


def visits(app, code):
    return app.ask("GET", f"/links/{code}").json["visits"]


def test_an_address_gets_a_code_that_leads_to_exactly_it(app):
    url = "https://example.org/a%20b/c?x=1&y=%C3%A9&z=+#part"
    link = made(app, url)
    assert len(link["code"]) >= 6
    assert link["url"] == url
    assert link["visits"] == 0
    assert link["max_visits"] is None
    answer = visit(app, link["code"])
    assert answer.status == 302
    assert answer.headers["location"] == url


def test_the_same_address_twice_gets_two_codes(app):
    url = "http://example.org/same"
    first, second = made(app, url), made(app, url)
    assert first["code"] != second["code"]
    assert visit(app, first["code"]).headers["location"] == url
    assert (visits(app, first["code"]), visits(app, second["code"])) == (1, 0)


def test_a_code_of_ones_own_is_used(app):
    assert made(app, "https://example.org/own", code="my-Own_1")["code"] == "my-Own_1"
    assert visit(app, "my-Own_1").headers["location"] == "https://example.org/own"


def test_a_code_that_is_taken_is_refused_and_the_first_link_stays(app):
    made(app, "https://example.org/first", code="taken1")
    visit(app, "taken1")
    refused(app.ask("POST", "/links", {"url": "https://example.org/second", "code": "taken1"}), 409)
    assert app.ask("GET", "/links/taken1").json["url"] == "https://example.org/first"
    assert visits(app, "taken1") == 1


def test_capital_and_small_letters_differ(app):
    made(app, "https://example.org/small", code="letters")
    made(app, "https://example.org/capital", code="LETTERS")
    assert visit(app, "letters").headers["location"] == "https://example.org/small"
    assert visit(app, "LETTERS").headers["location"] == "https://example.org/capital"


@pytest.mark.parametrize("url", ["", "example.org", "ftp://example.org/", "javascript:alert(1)", "https://", "http:///path"])
def test_what_is_no_address_is_refused(app, url):
    refused(app.ask("POST", "/links", {"url": url}))


def test_an_address_may_have_2000_characters_and_no_more(app):
    longest = "https://example.org/" + "a" * 1980
    link = made(app, longest)
    assert visit(app, link["code"]).headers["location"] == longest
    refused(app.ask("POST", "/links", {"url": longest + "a"}))


@pytest.mark.parametrize("code", ["", "ab", "a" * 33, "with space", "a/b/c", "naïve", "dot.dot"])
def test_a_code_of_the_wrong_form_is_refused(app, code):
    refused(app.ask("POST", "/links", {"url": "https://example.org/", "code": code}))


@pytest.mark.parametrize("code", ["abc", "Z" * 32, "_-0"])
def test_codes_at_the_edges_are_taken(app, code):
    assert made(app, code=code)["code"] == code


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/nowhere"), ("GET", "/links/nowhere"), ("GET", "/links/nowhere/referrers"), ("DELETE", "/links/nowhere")],
)
def test_what_is_not_there_is_answered_with_404(app, method, path):
    refused(app.ask(method, path), 404)


def test_each_visit_counts_one_and_nothing_else_does(app):
    code = made(app)["code"]
    for number in (1, 2, 3):
        visit(app, code)
        assert visits(app, code) == number
    app.ask("GET", f"/links/{code}/referrers")
    app.ask("GET", "/links")
    app.ask("GET", "/top")
    assert visits(app, code) == 3


def test_visits_are_told_by_host_most_first(app):
    code = made(app)["code"]
    assert app.ask("GET", f"/links/{code}/referrers").json["referrers"] == []
    for referrer in ("https://b.example/x", "https://b.example/y?z", "https://c.example/", "http://a.example:8080/", None, "nonsense"):
        visit(app, code, referrer)
    found = app.ask("GET", f"/links/{code}/referrers").json["referrers"]
    by_port = [{**each, "host": each["host"].partition(":")[0]} for each in found]
    assert by_port == [
        {"host": "", "visits": 2},
        {"host": "b.example", "visits": 2},
        {"host": "a.example", "visits": 1},
        {"host": "c.example", "visits": 1},
    ]


def test_the_list_has_the_newest_first_in_pages(app):
    total = app.ask("GET", "/links").json["total"]
    codes = [made(app)["code"] for _ in range(25)]
    first = app.ask("GET", "/links").json
    assert first["total"] == total + 25
    assert [link["code"] for link in first["links"]] == codes[:-21:-1]
    second = app.ask("GET", "/links?page=2&per_page=7").json
    assert [link["code"] for link in second["links"]] == codes[-8:-15:-1]
    assert set(second["links"][0]) >= {"code", "url", "visits", "max_visits"}
    beyond = app.ask("GET", "/links?page=5000&per_page=100").json
    assert (beyond["total"], beyond["links"]) == (total + 25, [])


@pytest.mark.parametrize("query", ["page=0", "page=-1", "page=x", "per_page=0", "per_page=101", "per_page=1.5"])
def test_pages_out_of_range_are_refused(app, query):
    assert app.ask("GET", "/links?per_page=100&page=1").status == 200
    refused(app.ask("GET", f"/links?{query}"))


def test_the_most_visited_are_told_most_first(app):
    older, newer, most = (made(app)["code"] for _ in range(3))
    for code, times in ((newer, 20), (older, 20), (most, 21)):
        for _ in range(times):
            visit(app, code)
    found = app.ask("GET", "/top?limit=3").json["links"]
    assert [(link["code"], link["visits"]) for link in found] == [(most, 21), (older, 20), (newer, 20)]
    assert len(app.ask("GET", "/top?limit=1").json["links"]) == 1
    for _ in range(10):
        made(app)
    assert len(app.ask("GET", "/top").json["links"]) == 10
    refused(app.ask("GET", "/top?limit=0"))
    refused(app.ask("GET", "/top?limit=101"))


def test_a_deleted_link_is_gone_and_its_code_is_free(app):
    made(app, code="gone-soon")
    visit(app, "gone-soon", "https://a.example/")
    total = app.ask("GET", "/links").json["total"]
    assert app.ask("DELETE", "/links/gone-soon").status == 204
    refused(visit(app, "gone-soon"), 404)
    refused(app.ask("GET", "/links/gone-soon"), 404)
    assert app.ask("GET", "/links").json["total"] == total - 1
    made(app, "https://example.org/anew", code="gone-soon")
    assert visits(app, "gone-soon") == 0
    assert app.ask("GET", "/links/gone-soon/referrers").json["referrers"] == []


def test_a_link_with_a_limit_is_gone_after_so_many_visits(app):
    code = made(app, max_visits=2)["code"]
    assert app.ask("GET", f"/links/{code}").json["max_visits"] == 2
    assert [visit(app, code).status for _ in range(2)] == [302, 302]
    refused(visit(app, code), 410)
    assert visits(app, code) == 2
    refused(app.ask("POST", "/links", {"url": "https://example.org/", "max_visits": 0}))
