def test_links_are_made_and_visited_and_the_service_stops(app):
    first = {"url": "https://example.org/1?a=%20", "code": "kept-1"}
    second = {"url": "https://example.org/2", "code": "kept-2", "max_visits": 2}
    for link in (first, second):
        assert app.ask("POST", "/links", link).status == 201
    for code, times in (("kept-1", 3), ("kept-2", 1)):
        for _ in range(times):
            assert app.ask("GET", f"/{code}", headers={"Referer": "https://a.example/"}).status == 302
    assert app.ask("POST", "/links", {"url": "https://example.org/", "code": "deleted"}).status == 201
    assert app.ask("DELETE", "/links/deleted").status == 204
    app.stop()
