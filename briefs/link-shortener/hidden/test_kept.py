def test_links_visits_and_limits_are_there_after_a_restart(app):
    found = app.ask("GET", "/links").json
    links = sorted((link["code"], link["visits"], link["max_visits"]) for link in found["links"])
    assert links == [("kept-1", 3, None), ("kept-2", 1, 2)]
    assert app.ask("GET", "/kept-1").headers["location"] == "https://example.org/1?a=%20"
    assert {"host": "a.example", "visits": 3} in app.ask("GET", "/links/kept-1/referrers").json["referrers"]
    assert [app.ask("GET", "/kept-2").status for _ in range(2)] == [302, 410]
