from drawing import address, code, host

pytest_plugins = ["drawing"]


def test_links_are_made_and_visited_and_the_service_stops(app, chance):
    codes = {code(chance, 8, 20) for _ in range(3)}
    one, two, deleted = sorted(codes)
    first = {"url": address(chance, "?a=%20"), "code": one}
    second = {"url": address(chance), "code": two, "max_visits": chance.randint(2, 5)}
    for link in (first, second):
        assert app.ask("POST", "/links", link).status == 201
    times, referrer = chance.randint(2, 6), host(chance)
    for own, visits in ((one, times), (two, 1)):
        for _ in range(visits):
            assert app.ask("GET", f"/{own}", headers={"Referer": f"https://{referrer}/"}).status == 302
    assert app.ask("POST", "/links", {"url": address(chance), "code": deleted}).status == 201
    assert app.ask("DELETE", f"/links/{deleted}").status == 204
    app.leave({"first": first, "second": second, "visits": times, "host": referrer})
    app.stop()
