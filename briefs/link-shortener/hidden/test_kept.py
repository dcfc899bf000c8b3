def test_links_visits_and_limits_are_there_after_a_restart(app):
    before = app.left()
    first, second, visits = before["first"], before["second"], before["visits"]
    found = app.ask("GET", "/links").json
    links = sorted((link["code"], link["visits"], link["max_visits"]) for link in found["links"])
    assert links == sorted([(first["code"], visits, None), (second["code"], 1, second["max_visits"])])
    assert app.ask("GET", f"/{first['code']}").headers["location"] == first["url"]
    referrers = app.ask("GET", f"/links/{first['code']}/referrers").json["referrers"]
    assert {"host": before["host"], "visits": visits} in referrers
    left = second["max_visits"] - 1
    assert [app.ask("GET", f"/{second['code']}").status for _ in range(left + 1)] == [302] * left + [410]
