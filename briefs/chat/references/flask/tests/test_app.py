import json
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import pytest
from fake import provider, text_of

from chat.app import create_app
from chat.provider import ProviderError


class Scripted:
    """Answers: texts, lists of calls (name, arguments), errors. Each is 10 tokens."""

    def __init__(self):
        self.answers, self.asked, self.gate = [], [], None

    def answer(self, messages, tools, answer):
        self.asked.append(json.loads(json.dumps(messages)))
        told = self.answers.pop(0)
        if isinstance(told, ProviderError):
            raise told
        answer.take({"choices": [], "usage": {"total_tokens": 10}})
        if isinstance(told, list):
            for index, (name, arguments) in enumerate(told):
                part = {"index": index, "id": f"c{index}", "function": {"name": name, "arguments": json.dumps(arguments)}}
                answer.take({"choices": [{"delta": {"tool_calls": [part]}}]})
            return
        for piece in (told[:2], told[2:]):
            yield answer.take({"choices": [{"delta": {"content": piece}}]})
            if self.gate:
                self.gate.wait(10)


@pytest.fixture
def scripted():
    return Scripted()


@pytest.fixture
def client(tmp_path, scripted):
    return create_app(tmp_path / "chat.db", scripted).test_client()


def made(client, **told):
    answer = client.post("/conversations", json=told)
    assert answer.status_code == 201
    return answer.json["id"]


def say(client, name, text="Hello"):
    answer = client.post(f"/conversations/{name}/messages", json={"text": text})
    assert (answer.status_code, answer.mimetype) == (200, "text/event-stream")
    return events(answer.text)


def events(text):
    found = []
    for part in text.split("\n\n")[:-1]:
        kind, data = part.split("\n")
        found.append((kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


def refused(answer, status):
    assert answer.status_code == status
    assert answer.json["error"]


def test_health(client):
    assert client.get("/healthz").json == {"status": "ok"}


def test_a_conversation_is_made_shown_and_deleted(client):
    name = made(client, system="Be brief.", budget=50)
    assert client.get(f"/conversations/{name}").json == {
        "id": name, "system": "Be brief.", "budget": 50, "used": 0, "messages": [],
    }
    assert client.get(f"/conversations/{made(client)}").json["budget"] == 10_000
    assert client.delete(f"/conversations/{name}").status_code == 204
    for answer in (client.get(f"/conversations/{name}"), client.delete(f"/conversations/{name}"),
                   client.get(f"/conversations/{name}/notes"), client.post(f"/conversations/{name}/messages", json={"text": "x"})):
        refused(answer, 404)


def test_an_answer_is_passed_on_and_kept(client, scripted):
    name = made(client, system="Be brief.")
    scripted.answers = ["Good day", "Bye"]
    assert say(client, name) == [("text", {"text": "Go"}), ("text", {"text": "od day"}), ("done", {"text": "Good day", "used": 10})]
    say(client, name, "Goodbye")
    assert scripted.asked[1] == [
        {"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Good day"}, {"role": "user", "content": "Goodbye"},
    ]
    told = client.get(f"/conversations/{name}").json
    assert told["used"] == 20
    assert [(message["role"], message["text"]) for message in told["messages"]] == [
        ("user", "Hello"), ("assistant", "Good day"), ("user", "Goodbye"), ("assistant", "Bye"),
    ]


def test_calls_are_run(client, scripted):
    name = made(client)
    scripted.answers = [[("save_note", {"name": "a", "text": "one"}), ("read_note", {"name": "a"})], "Saved"]
    found = say(client, name)
    assert found[:2] == [
        ("tool", {"name": "save_note", "arguments": '{"name": "a", "text": "one"}', "result": "saved"}),
        ("tool", {"name": "read_note", "arguments": '{"name": "a"}', "result": "one"}),
    ]
    assert found[-1] == ("done", {"text": "Saved", "used": 20})
    assert [message["role"] for message in scripted.asked[1]] == ["user", "assistant", "tool", "tool"]
    assert scripted.asked[1][2:] == [
        {"role": "tool", "tool_call_id": "c0", "content": "saved"}, {"role": "tool", "tool_call_id": "c1", "content": "one"},
    ]
    assert client.get(f"/conversations/{name}/notes").json == {"notes": [{"name": "a", "text": "one"}]}
    assert [message["text"] for message in client.get(f"/conversations/{name}").json["messages"]] == ["Hello", "Saved"]


def test_an_error_leaves_the_conversation_as_it_was(client, scripted):
    name = made(client)
    scripted.answers = [[("save_note", {"name": "a", "text": "one"})], ProviderError("no"), "Here"]
    assert say(client, name)[-1] == ("error", {"error": "no"})
    told = client.get(f"/conversations/{name}").json
    assert (told["used"], told["messages"]) == (10, [])
    assert client.get(f"/conversations/{name}/notes").json == {"notes": []}
    assert say(client, name)[-1][0] == "done"


def test_the_budget(client, scripted):
    name = made(client, budget=11)
    scripted.answers = ["one", [("read_note", {"name": "a"})]]
    assert say(client, name)[-1][0] == "done"
    assert say(client, name)[-1] == ("error", {"error": "the budget is spent"})
    refused(client.post(f"/conversations/{name}/messages", json={"text": "x"}), 402)
    name = made(client, budget=10)
    scripted.answers = ["one"]
    say(client, name)
    refused(client.post(f"/conversations/{name}/messages", json={"text": "x"}), 402)


def test_calls_without_end(client, scripted):
    name = made(client)
    scripted.answers = [[("read_note", {"name": "a"})]] * 9
    assert say(client, name)[-1] == ("error", {"error": "the model called tools in each of 8 answers"})
    assert len(scripted.asked) == 8


def test_one_message_at_a_time(client, scripted):
    name, other, scripted.gate = made(client), made(client), threading.Event()
    scripted.answers = ["first", "other", "third"]
    path = f"/conversations/{name}/messages"
    answer = client.post(path, json={"text": "x"}, buffered=False)
    parts = iter(answer.response)
    next(parts)
    refused(client.post(path, json={"text": "y"}), 409)
    scripted.gate.set()
    assert say(client, other)[-1][0] == "done"
    rest = [next(parts), next(parts)]
    assert rest[-1].startswith(b"event: done") or rest[-1].startswith("event: done")
    assert say(client, name)[-1][0] == "done"
    answer.close()


def test_whoever_leaves_frees_the_conversation(client, scripted):
    name = made(client)
    scripted.answers = ["first", "second"]
    client.post(f"/conversations/{name}/messages", json={"text": "x"}, buffered=False).close()
    assert say(client, name)[-1][0] == "done"


def test_refusals(client, scripted):
    name = made(client)
    for path in ("/conversations", f"/conversations/{name}/messages"):
        for body in (b"", b"[]", b"{", b"null", b"[" * 50_000):
            refused(client.post(path, data=body), 400)
    refused(client.post("/conversations", json={"budget": 0}), 400)
    refused(client.post("/conversations", json={"system": 1}), 400)
    refused(client.post(f"/conversations/{name}/messages", json={}), 400)
    refused(client.post("/conversations", data=b"{}".ljust(100_001)), 413)
    assert client.post("/conversations", data=b"{}".ljust(100_000)).status_code == 201
    refused(client.get("/nowhere"), 404)
    assert scripted.asked == []


def test_the_program_serves(tmp_path):
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        port = place.getsockname()[1]
    with provider(text_of("yes")) as (url, asked):
        told = {"PORT": str(port), "DATA_DIR": str(tmp_path), "OPENAI_BASE_URL": url, "OPENAI_API_KEY": "key-2"}
        env = {**os.environ, **told, "MODEL": "model-2", "PROVIDER_SECONDS": "5"}
        program = subprocess.Popen([sys.executable, "-m", "chat"], env=env)
        try:
            for _ in range(500):
                try:
                    with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz") as answer:
                        assert answer.status == 200
                        break
                except OSError:
                    assert program.poll() is None
                    time.sleep(0.02)
            assert (tmp_path / "chat.db").is_file()
            name = json.loads(posted(port, "/conversations", {}))["id"]
            assert events(posted(port, f"/conversations/{name}/messages", {"text": "x"}).decode())[-1][0] == "done"
        finally:
            program.kill()
            program.wait()
    assert [(key, body["model"]) for _, key, body in asked] == [("Bearer key-2", "model-2")]


def posted(port, path, told):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", json.dumps(told).encode())
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read()
