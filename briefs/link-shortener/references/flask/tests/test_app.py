import json
import os
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from shortener.app import create_app


@pytest.fixture
def client(tmp_path):
    return create_app(tmp_path / "links.db").test_client()


def made(client, **told):
    answer = client.post("/links", json={"url": "https://a.example/x?y#z", **told})
    assert answer.status_code == 201
    return answer.json


def refused(answer, status):
    assert answer.status_code == status
    assert answer.json["error"]


def test_health(client):
    assert client.get("/healthz").json == {"status": "ok"}


def test_a_link_leads_to_its_address(client):
    link = made(client)
    assert link == {"code": link["code"], "url": "https://a.example/x?y#z", "visits": 0, "max_visits": None}
    assert len(link["code"]) >= 6
    answer = client.get(f"/{link['code']}")
    assert (answer.status_code, answer.headers["Location"]) == (302, link["url"])
    assert client.get(f"/links/{link['code']}").json == {**link, "visits": 1}
    assert made(client)["code"] != link["code"]


def test_a_code_is_given_once(client):
    assert made(client, code="mine")["code"] == "mine"
    refused(client.post("/links", json={"url": "https://b.example", "code": "mine"}), 409)
    assert client.get("/links/mine").json["url"] == "https://a.example/x?y#z"


def test_refusals(client):
    for body in (b"", b"[]", b"{", b"null", b"[" * 50_000):
        refused(client.post("/links", data=body), 400)
    refused(client.post("/links", json={}), 400)
    refused(client.post("/links", json={"url": "https://a.example", "code": ""}), 400)
    refused(client.post("/links", json={"url": "https://a.example", "max_visits": 0}), 400)
    body = json.dumps({"url": "https://a.example"})
    refused(client.post("/links", data=body.ljust(100_001)), 413)
    assert client.post("/links", data=body.ljust(100_000)).status_code == 201
    refused(client.get("/links?page=0"), 400)
    refused(client.get("/links?per_page=101"), 400)
    refused(client.get("/top?limit=101"), 400)
    assert client.get("/links?per_page=100").status_code == client.get("/top?limit=100").status_code == 200


def test_what_is_not_there(client):
    for path in ("/nowhere", "/links/nowhere", "/links/nowhere/referrers", "/a/b/c"):
        refused(client.get(path), 404)
    refused(client.delete("/links/nowhere"), 404)
    refused(client.put("/links"), 405)


def test_referrers(client):
    code = made(client)["code"]
    for referrer in ("https://b.example/", "https://b.example/2", "https://a.example/", None):
        client.get(f"/{code}", headers={"Referer": referrer} if referrer else {})
    assert client.get(f"/links/{code}/referrers").json == {
        "referrers": [{"host": "b.example", "visits": 2}, {"host": "", "visits": 1}, {"host": "a.example", "visits": 1}]
    }


def test_pages_and_the_most_visited(client):
    codes = [made(client)["code"] for _ in range(22)]
    found = client.get("/links").json
    assert found["total"] == 22
    assert [link["code"] for link in found["links"]] == codes[:1:-1]
    assert [link["code"] for link in client.get("/links?page=2").json["links"]] == codes[1::-1]
    assert [link["code"] for link in client.get("/links?page=2&per_page=3").json["links"]] == codes[-4:-7:-1]
    for code in (codes[5], codes[3], codes[5]):
        client.get(f"/{code}")
    top = client.get("/top").json["links"]
    assert [link["code"] for link in top] == [codes[5], codes[3], *codes[:3], codes[4], *codes[6:10]]
    assert len(client.get("/top?limit=2").json["links"]) == 2


def test_deleting(client):
    made(client, code="mine")
    client.get("/mine", headers={"Referer": "https://b.example/"})
    assert client.delete("/links/mine").status_code == 204
    refused(client.get("/mine"), 404)
    made(client, code="mine")
    assert client.get("/links/mine/referrers").json == {"referrers": []}


def test_a_limit_of_visits(client):
    made(client, code="mine", max_visits=2)
    assert [client.get("/mine").status_code for _ in range(3)] == [302, 302, 410]
    refused(client.get("/mine"), 410)
    assert client.get("/links/mine").json["visits"] == 2


def test_the_program_serves(tmp_path):
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        port = place.getsockname()[1]
    env = {**os.environ, "PORT": str(port), "DATA_DIR": str(tmp_path)}
    program = subprocess.Popen([sys.executable, "-m", "shortener"], env=env)
    try:
        for _ in range(500):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz") as answer:
                    assert answer.status == 200
                    break
            except OSError:
                assert program.poll() is None
                time.sleep(0.02)
        assert (tmp_path / "links.db").is_file()
    finally:
        program.kill()
        program.wait()
