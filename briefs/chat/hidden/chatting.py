"""What the hidden tests of the chat share: conversations, the events of an answer, and values that are drawn."""

import http.client
import json
import os
import string
from contextlib import contextmanager
from random import Random
from typing import Any, NamedTuple

from provider import Tokens

SECONDS = 14 + 2 * float(os.environ["PROVIDER_SECONDS"])
KINDS = ("text", "tool", "done", "error")
"""Events of the contract; others are passed over."""
CHANCE = Random(os.environ["DRAW_SEED"])
"""Other values in each judging, the same ones where a step runs again."""
BUDGET = 10_000
"""What a conversation has if nothing is said."""


class Event(NamedTuple):
    kind: str
    data: Any


def word(least=3, most=9):
    return "".join(CHANCE.choices(string.ascii_lowercase, k=CHANCE.randint(least, most)))


def sentence(least=2, most=9):
    words = [word() for _ in range(CHANCE.randint(least, most))]
    return f"{' '.join(words).capitalize()} {CHANCE.choice('éßøжλ字—€')}{CHANCE.choice('.?!')}"


def tokens():
    """Counts of an answer, and their sum. Several of them are within the budget."""
    counted = Tokens(CHANCE.randint(50, 300), CHANCE.randint(1, 99))
    return counted, counted.input + counted.output


def made(app, **more):
    answer = app.ask("POST", "/conversations", more)
    assert answer.status == 201, answer
    return answer.json["id"]


def refused(answer, status=400):
    assert answer.status == status, answer
    assert isinstance(answer.json["error"], str)
    assert answer.json["error"]


def shown(app, conversation):
    return app.ask("GET", f"/conversations/{conversation}").json


def texts(app, conversation):
    return [(message["role"], message["text"]) for message in shown(app, conversation)["messages"]]


def notes(app, conversation):
    found = app.ask("GET", f"/conversations/{conversation}/notes").json["notes"]
    return [(note["name"], note["text"]) for note in found]


def post(app, conversation, text):
    return app.ask("POST", f"/conversations/{conversation}/messages", {"text": text})


@contextmanager
def listening(app, conversation, text):
    """The events of an answer, as they come."""
    connection = http.client.HTTPConnection("127.0.0.1", app.port, timeout=SECONDS)
    try:
        body = json.dumps({"text": text}).encode()
        path = f"/conversations/{conversation}/messages"
        connection.request("POST", path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        assert answer.status == 200, (answer.status, answer.read())
        assert answer.headers.get_content_type() == "text/event-stream"
        yield _events(answer)
    finally:
        connection.close()


def _events(answer):
    kind, data = "message", []
    for line in answer:
        text = line.decode().rstrip("\r\n")
        name, _, value = text.partition(":")
        if name == "event":
            kind = value.removeprefix(" ")
        elif name == "data":
            data.append(value.removeprefix(" "))
        elif not text:
            if kind in KINDS:
                yield Event(kind, json.loads("\n".join(data)))
            kind, data = "message", []


def say(app, conversation, text=None):
    """All events of an answer. The last one is its end."""
    with listening(app, conversation, sentence() if text is None else text) as events:
        found = list(events)
    assert found, "no event came"
    assert [event.kind for event in found if event.kind in ("done", "error")] == [found[-1].kind], found
    return found


def answered(app, conversation, text=None):
    found = say(app, conversation, text)
    assert found[-1].kind == "done", found
    return found


def broken(app, conversation, text=None):
    """The words of an error that a message ends with."""
    found = say(app, conversation, text)
    assert found[-1].kind == "error", found
    assert isinstance(found[-1].data["error"], str)
    assert found[-1].data["error"]
    return found[-1].data["error"]
