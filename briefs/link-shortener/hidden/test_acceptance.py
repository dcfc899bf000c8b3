from itertools import count

import pytest
from drawing import NO_ADDRESSES, NO_CODES, NO_PAGES, address, code, host, word

pytest_plugins = ["drawing"]

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


def test_an_address_gets_a_code_that_leads_to_exactly_it(app, chance):
    url = address(chance, f"/a%20b/{word(chance)}?x={chance.randint(1, 999)}&y=%C3%A9&z=+#{word(chance)}")
    link = made(app, url)
    assert len(link["code"]) >= 6
    assert link["url"] == url
    assert link["visits"] == 0
    assert link["max_visits"] is None
    answer = visit(app, link["code"])
    assert answer.status == 302
    assert answer.headers["location"] == url


def test_the_same_address_twice_gets_two_codes(app, chance):
    url = address(chance)
    first, second = made(app, url), made(app, url)
    assert first["code"] != second["code"]
    assert visit(app, first["code"]).headers["location"] == url
    assert (visits(app, first["code"]), visits(app, second["code"])) == (1, 0)


def test_a_code_of_ones_own_is_used(app, chance):
    own, url = f"{code(chance, 2, 20)}_-Z9", address(chance)
    assert made(app, url, code=own)["code"] == own
    assert visit(app, own).headers["location"] == url


def test_a_code_that_is_taken_is_refused_and_the_first_link_stays(app, chance):
    own, url = code(chance, 6, 20), address(chance)
    made(app, url, code=own)
    visit(app, own)
    refused(app.ask("POST", "/links", {"url": address(chance), "code": own}), 409)
    assert app.ask("GET", f"/links/{own}").json["url"] == url
    assert visits(app, own) == 1


def test_capital_and_small_letters_differ(app, chance):
    own, small, capital = word(chance, 6, 20), address(chance), address(chance)
    made(app, small, code=own)
    made(app, capital, code=own.upper())
    assert visit(app, own).headers["location"] == small
    assert visit(app, own.upper()).headers["location"] == capital


@pytest.mark.parametrize("kind", NO_ADDRESSES)
def test_what_is_no_address_is_refused(app, chance, kind):
    for url in NO_ADDRESSES[kind](chance):
        refused(app.ask("POST", "/links", {"url": url}))


def test_an_address_may_have_2000_characters_and_no_more(app, chance):
    url = address(chance, "/")
    longest = url + word(chance, 2000 - len(url), 2000 - len(url))
    link = made(app, longest)
    assert visit(app, link["code"]).headers["location"] == longest
    for more in (1, chance.randint(2, 500)):
        refused(app.ask("POST", "/links", {"url": longest + "a" * more}))


@pytest.mark.parametrize("kind", NO_CODES)
def test_a_code_of_the_wrong_form_is_refused(app, chance, kind):
    for wrong in NO_CODES[kind](chance):
        refused(app.ask("POST", "/links", {"url": address(chance), "code": wrong}))


def test_codes_at_the_edges_are_taken(app, chance):
    for own in (code(chance, 3, 3), code(chance, 32, 32), f"_-{chance.randint(0, 9)}"):
        assert made(app, code=own)["code"] == own


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/{}"), ("GET", "/links/{}"), ("GET", "/links/{}/referrers"), ("DELETE", "/links/{}")],
)
def test_what_is_not_there_is_answered_with_404(app, chance, method, path):
    refused(app.ask(method, path.format(word(chance, 12, 20))), 404)


def test_each_visit_counts_one_and_nothing_else_does(app):
    code = made(app)["code"]
    for number in (1, 2, 3):
        visit(app, code)
        assert visits(app, code) == number
    app.ask("GET", f"/links/{code}/referrers")
    app.ask("GET", "/links")
    app.ask("GET", "/top")
    assert visits(app, code) == 3


def test_visits_are_told_by_host_most_first(app, chance):
    code = made(app)["code"]
    assert app.ask("GET", f"/links/{code}/referrers").json["referrers"] == []
    early, most, late = sorted(host(chance) for _ in range(3))
    for referrer in (
        f"https://{most}/x",
        f"https://{most}/y?z",
        f"https://{late}/",
        f"http://{early}:8080/",
        None,
        "nonsense",
    ):
        visit(app, code, referrer)
    found = app.ask("GET", f"/links/{code}/referrers").json["referrers"]
    by_port = [{**each, "host": each["host"].partition(":")[0]} for each in found]
    assert by_port == [
        {"host": "", "visits": 2},
        {"host": most, "visits": 2},
        {"host": early, "visits": 1},
        {"host": late, "visits": 1},
    ]


def test_the_list_has_the_newest_first_in_pages(app, chance):
    total, size = app.ask("GET", "/links").json["total"], chance.randint(5, 9)
    codes = [made(app)["code"] for _ in range(25)]
    first = app.ask("GET", "/links").json
    assert first["total"] == total + 25
    assert [link["code"] for link in first["links"]] == codes[:-21:-1]
    second = app.ask("GET", f"/links?page=2&per_page={size}").json
    assert [link["code"] for link in second["links"]] == codes[-1 - size : -1 - 2 * size : -1]
    assert set(second["links"][0]) >= {"code", "url", "visits", "max_visits"}
    beyond = app.ask("GET", f"/links?page={chance.randint(1000, 9000)}&per_page=100").json
    assert (beyond["total"], beyond["links"]) == (total + 25, [])


@pytest.mark.parametrize("name", NO_PAGES)
def test_pages_out_of_range_are_refused(app, chance, name):
    assert app.ask("GET", "/links?per_page=100&page=1").status == 200
    for wrong in NO_PAGES[name](chance):
        refused(app.ask("GET", f"/links?{name}={wrong}"))


def test_the_most_visited_are_told_most_first(app, chance):
    older, newer, most = (made(app)["code"] for _ in range(3))
    often = chance.randint(15, 25)
    for code, times in ((newer, often), (older, often), (most, often + 1)):
        for _ in range(times):
            visit(app, code)
    found = app.ask("GET", "/top?limit=3").json["links"]
    assert [(link["code"], link["visits"]) for link in found] == [(most, often + 1), (older, often), (newer, often)]
    assert len(app.ask("GET", "/top?limit=1").json["links"]) == 1
    for _ in range(10):
        made(app)
    assert len(app.ask("GET", "/top").json["links"]) == 10
    refused(app.ask("GET", "/top?limit=0"))
    for wrong in ("101", chance.randint(102, 999), f"-{chance.randint(1, 99)}", word(chance)):
        refused(app.ask("GET", f"/top?limit={wrong}"))


def test_a_deleted_link_is_gone_and_its_code_is_free(app, chance):
    own = code(chance, 6, 20)
    made(app, code=own)
    visit(app, own, f"https://{host(chance)}/")
    total = app.ask("GET", "/links").json["total"]
    assert app.ask("DELETE", f"/links/{own}").status == 204
    refused(visit(app, own), 404)
    refused(app.ask("GET", f"/links/{own}"), 404)
    assert app.ask("GET", "/links").json["total"] == total - 1
    made(app, address(chance), code=own)
    assert visits(app, own) == 0
    assert app.ask("GET", f"/links/{own}/referrers").json["referrers"] == []


def test_a_link_with_a_limit_is_gone_after_so_many_visits(app, chance):
    limit = chance.randint(2, 6)
    code = made(app, max_visits=limit)["code"]
    assert app.ask("GET", f"/links/{code}").json["max_visits"] == limit
    assert [visit(app, code).status for _ in range(limit)] == [302] * limit
    refused(visit(app, code), 410)
    assert visits(app, code) == limit
    for wrong in (0, -chance.randint(1, 99)):
        refused(app.ask("POST", "/links", {"url": address(chance), "max_visits": wrong}))
