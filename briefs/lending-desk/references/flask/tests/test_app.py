import os
import re
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from lending.app import create_app
from lending.rules import in_days

PASSWORD = "long enough"


@pytest.fixture
def app(tmp_path):
    return create_app(tmp_path / "lending.db")


@pytest.fixture
def desk(app):
    client = app.test_client()
    done(client.post("/sign-in", data={"name": "desk", "password": "desk"}), "/")
    return client


@pytest.fixture
def ann(app):
    client = app.test_client()
    done(client.post("/register", data={"name": " Ann ", "password": PASSWORD}), "/")
    return client


def done(answer, place):
    assert (answer.status_code, answer.headers["Location"]) == (303, place), answer.text


def refused(answer, status, words):
    assert answer.status_code == status
    assert f'<p role="alert">{words}' in answer.text


def add(desk, *names):
    for name in names:
        done(desk.post("/desk/tools", data={"tool": name}), "/desk")


def rows(client, path, name="Tools"):
    text = client.get(path).text
    found = re.search(rf'<table aria-label="{name}">(.*?)</table>', text, re.DOTALL)
    return [re.findall("<td>\\s*([^<]*?)\\s*<", row) for row in re.findall("<tr>(.*?)</tr>", found[1], re.DOTALL)] if found else []


def test_health(app):
    assert app.test_client().get("/healthz").json == {"status": "ok"}


def test_signing_in_and_out(app, ann):
    other = app.test_client()
    assert "Signed in as Ann" in ann.get("/").text
    assert "Signed in" not in other.get("/").text
    for name, password in (("Ann", "wrong"), ("desk", PASSWORD), ("Ann", "desk"), ("", "")):
        refused(other.post("/sign-in", data={"name": name, "password": password}), 403, "Name and password")
    refused(other.post("/register", data={"name": "ANN", "password": PASSWORD}), 409, "This name")
    refused(other.post("/register", data={"name": "x", "password": PASSWORD}), 400, "A name")
    refused(other.post("/register", data={"name": "Bob", "password": "short"}), 400, "A password")
    done(other.post("/sign-in", data={"name": " ann", "password": PASSWORD}), "/")
    assert '<p role="status">You are signed in.</p>' in other.get("/").text
    assert "Signed in as Ann" in other.get("/").text
    done(other.post("/sign-out"), "/")
    text = other.get("/").text
    assert "You are signed out." in text
    assert "Signed in as" not in text
    for path, words in (("/sign-in", "Sign in"), ("/register", "Register")):
        text = other.get(path).text
        assert f"<h1>{words}</h1>" in text
        assert f'action="{path}"' in text
    assert ann.get_cookie("session").same_site == "Strict"


def test_tools_and_search(app, desk, ann):
    assert "No tools found" in ann.get("/").text
    add(desk, "saw", "Axe", " <b> ")
    assert "The tool is added." in desk.get("/desk").text
    assert [row[:2] for row in rows(ann, "/")] == [["&lt;b&gt;", "available"], ["Axe", "available"], ["saw", "available"]]
    assert [row[0] for row in rows(app.test_client(), "/?q=+A+")] == ["Axe", "saw"]
    assert ann.get("/").text.count("Borrow") == 3
    assert "Borrow" not in desk.get("/").text + app.test_client().get("/").text
    refused(desk.post("/desk/tools", data={}), 400, "A tool")
    refused(desk.post("/desk/tools", data={"tool": "x" * 100_001}), 413, "Request Entity Too Large")
    refused(ann.get("/nowhere"), 404, "Not Found")


def test_borrowing_and_taking_back(desk, ann):
    add(desk, "saw")
    refused(ann.post("/borrow/1", data={"days": "15"}), 400, "A loan")
    done(ann.post("/borrow/1", data={"days": " 14 "}), "/")
    assert "It is yours for now." in ann.get("/").text
    due = in_days(14)
    assert [row[:2] for row in rows(ann, "/")] == [["saw", f"on loan until {due}"]]
    assert "Borrow" not in ann.get("/").text
    assert rows(ann, "/loans", "My loans") == [["saw", due, ""]]
    assert rows(desk, "/desk", "Loans")[0][:3] == ["saw", "Ann", due]
    assert rows(desk, "/desk", "Overdue") == []
    refused(ann.post("/borrow/1", data={"days": "1"}), 409, "This tool")
    done(desk.post("/desk/loans/1/back"), "/desk")
    assert "The tool is back." in desk.get("/desk").text
    refused(desk.post("/desk/loans/1/back"), 404, "This tool")
    assert rows(desk, "/desk", "Loans") == []


def test_loans_on_paper_and_their_file(desk, ann):
    add(desk, 'saw, 1" long', "axe", "hoe")
    for tool, due in (('saw, 1" long', in_days(0)), ("axe", in_days(-1)), ("hoe", in_days(1))):
        done(desk.post("/desk/loans", data={"tool": f" {tool} ", "person": " ann ", "due": f" {due} "}), "/desk")
    assert "The loan is recorded." in desk.get("/desk").text
    assert rows(desk, "/desk", "Overdue") == [["axe", "Ann", in_days(-1)]]
    assert [row[2] for row in rows(ann, "/loans", "My loans")] == ["overdue", "", ""]
    refused(ann.post("/borrow/1", data={"days": "1"}), 409, "Nobody has")
    refused(desk.post("/desk/loans", data={"tool": "hoe", "person": "Ann"}), 400, "A date")
    answer = desk.get("/desk/loans.csv")
    assert answer.content_type == "text/csv; charset=utf-8"
    lines = [f"axe,Ann,{in_days(-1)}", f'"saw, 1"" long",Ann,{in_days(0)}', f"hoe,Ann,{in_days(1)}"]
    assert answer.text == "\r\n".join(["tool,neighbour,due", *lines, ""])


def test_each_for_their_own(app, desk, ann):
    add(desk, "saw")
    visitor = app.test_client()
    for client, words in ((ann, "This isn&#39;t for you."), (visitor, "Sign in first.")):
        for path in ("/desk", "/desk/loans.csv"):
            refused(client.get(path), 403, words)
        for path in ("/desk/tools", "/desk/loans", "/desk/loans/1/back"):
            refused(client.post(path, data={"tool": "hoe"}), 403, words)
    for client, words in ((desk, "This isn&#39;t for you."), (visitor, "Sign in first.")):
        refused(client.get("/loans"), 403, words)
        refused(client.post("/borrow/1", data={"days": "1"}), 403, words)
    assert "Your loans" in ann.get("/").text
    assert "Your loans" not in desk.get("/").text + visitor.get("/").text
    assert 'href="/desk"' in desk.get("/").text
    assert 'href="/desk"' not in ann.get("/").text + visitor.get("/").text


def test_the_program_serves(tmp_path):
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        port = place.getsockname()[1]
    env = {**os.environ, "PORT": str(port), "DATA_DIR": str(tmp_path)}
    program = subprocess.Popen([sys.executable, "-m", "lending"], env=env)
    try:
        for _ in range(500):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz") as answer:
                    assert answer.status == 200
                    break
            except OSError:
                assert program.poll() is None
                time.sleep(0.02)
        assert (tmp_path / "lending.db").is_file()
    finally:
        program.kill()
        program.wait()
