import json
import os
import threading
import time

import pytest
from chatting import (
    BUDGET, CHANCE, answered, broken, listening, made, notes, post, refused, say, sentence, shown, texts, tokens, word,
)  # fmt: skip
from provider import Call, ErrorKind, Failure, Reply, ScriptedFault, Tokens

ERRORS = (ErrorKind.RATE_LIMIT, ErrorKind.SERVER_ERROR, ErrorKind.UNAVAILABLE)


def calls(*told):
    return Reply(tool_calls=tuple(Call(name, arguments) for name, arguments in told))


def failing(kind, retry_after=0):
    return Reply(error=Failure(kind, retry_after=retry_after))


def saving(name=None, text=None):
    """Return an answer that saves a note."""
    return calls(("save_note", {"name": name or word(), "text": text or sentence()}))


def results(request):
    return [message["content"] for message in request["messages"] if message["role"] == "tool"]


def tool_events(events):
    return [event.data for event in events if event.kind == "tool"]


def test_a_conversation_has_what_it_was_made_with(app):
    system, budget = sentence(), CHANCE.randint(1, 1_000_000)
    answer = app.ask("POST", "/conversations", {"system": system, "budget": budget})
    assert answer.status == 201
    first = answer.json
    assert {name: first[name] for name in ("system", "budget", "used", "messages")} == {
        "system": system, "budget": budget, "used": 0, "messages": [],
    }  # fmt: skip
    assert shown(app, first["id"]) == first
    second = shown(app, made(app))
    assert (second["system"], second["budget"]) == (None, BUDGET)
    assert second["id"] != first["id"]


def test_a_deleted_conversation_is_gone(app):
    conversation = made(app)
    assert app.ask("DELETE", f"/conversations/{conversation}").status == 204
    refused(app.ask("GET", f"/conversations/{conversation}"), 404)
    refused(app.ask("GET", f"/conversations/{conversation}/notes"), 404)
    refused(post(app, conversation, sentence()), 404)
    refused(app.ask("DELETE", f"/conversations/{conversation}"), 404)


def test_an_answer_is_passed_on_while_it_comes(app, provider):
    conversation, gate, text, (counted, used) = made(app), threading.Event(), sentence(8, 12), tokens()
    provider.will(Reply(text=text, gate=gate, usage=counted))
    try:
        with listening(app, conversation, sentence()) as events:
            first = next(events)
            assert first.kind == "text"
            assert first.data["text"]
            assert text.startswith(first.data["text"])
            assert not gate.is_set()
            gate.set()
            rest = list(events)
    finally:
        gate.set()
    assert "".join(event.data["text"] for event in (first, *rest) if event.kind == "text") == text
    assert (rest[-1].kind, rest[-1].data["text"], rest[-1].data["used"]) == ("done", text, used)


def test_an_answer_is_part_of_the_conversation(app, provider):
    conversation, asked, told = made(app), [sentence(), sentence()], [sentence(), sentence()]
    provider.will(*(Reply(text=text) for text in told))
    answered(app, conversation, asked[0])
    assert texts(app, conversation) == [("user", asked[0]), ("assistant", told[0])]
    answered(app, conversation, asked[1])
    assert texts(app, conversation)[2:] == [("user", asked[1]), ("assistant", told[1])]


def test_each_request_has_the_whole_conversation(app, provider):
    system, first, one, second = (sentence() for _ in range(4))
    conversation = made(app, system=system)
    provider.will(Reply(text=one), Reply(text=sentence()))
    answered(app, conversation, first)
    answered(app, conversation, second)
    request = provider.requests[-1]
    assert request["model"] == os.environ["MODEL"]
    assert [(message["role"], message["content"]) for message in request["messages"]] == [
        ("system", system), ("user", first), ("assistant", one), ("user", second),
    ]  # fmt: skip
    assert [tool["function"]["name"] for tool in request["tools"]] in (
        ["save_note", "read_note"], ["read_note", "save_note"],
    )  # fmt: skip


def test_without_a_system_text_the_message_is_the_first(app, provider):
    provider.will(Reply(text=sentence()))
    answered(app, made(app))
    assert [message["role"] for message in provider.requests[-1]["messages"]] == ["user"]


def test_a_call_is_run_and_its_result_goes_to_the_provider(app, provider):
    conversation, asked, said, (counted, used) = made(app), sentence(), sentence(), tokens()
    provider.will(saving(), Reply(text=said, usage=counted))
    events = answered(app, conversation, asked)
    [told] = tool_events(events)
    assert (told["name"], told["result"]) == ("save_note", "saved")
    assert (events[-1].data["text"], events[-1].data["used"]) == (said, 120 + used)
    request = provider.requests[-1]
    assert [message["role"] for message in request["messages"]] == ["user", "assistant", "tool"]
    assert request["messages"][1]["tool_calls"][0]["id"] == request["messages"][2]["tool_call_id"]
    assert results(request) == ["saved"]
    assert texts(app, conversation) == [("user", asked), ("assistant", said)]


def test_several_calls_are_answered_in_their_order_and_stay_in_the_conversation(app, provider):
    conversation, name, text = made(app), word(), sentence()
    provider.will(
        calls(("save_note", {"name": name, "text": text}), ("read_note", {"name": name})),
        calls(("read_note", {"name": name})),
        Reply(text=sentence()),
        Reply(text=sentence()),
    )
    events = answered(app, conversation)
    assert [told["result"] for told in tool_events(events)] == ["saved", text, text]
    answered(app, conversation)
    request = provider.requests[-1]
    roles = ["user", "assistant", "tool", "tool", "assistant", "tool", "assistant", "user"]
    assert [message["role"] for message in request["messages"]] == roles
    assert results(request) == ["saved", text, text]


def test_notes_belong_to_one_conversation(app, provider):
    first, second, early, late, text, other = made(app), made(app), f"a{word()}", f"b{word()}", sentence(), sentence()
    for call in (saving(late), saving(early, other), saving(late, text)):
        provider.will(call, Reply(text=sentence()))
        answered(app, first)
    assert notes(app, first) == [(early, other), (late, text)]
    assert notes(app, second) == []
    provider.will(calls(("read_note", {"name": late})), Reply(text=sentence()))
    [told] = tool_events(answered(app, second))
    assert told["result"].startswith("error: ")
    provider.will(calls(("read_note", {"name": late})), Reply(text=sentence()))
    [told] = tool_events(answered(app, first))
    assert told["result"] == text


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        (f"{word()}_{word()}", {"name": word()}), ("read_note", "{" + word()), ("read_note", f"[{CHANCE.randint(0, 9)}]"),
        ("read_note", {word(5, 9): word()}), ("save_note", {"name": word()}), ("read_note", {"name": word()}),
        ("save_note", {"name": word(), "text": CHANCE.randint(0, 99)}),
    ],
    ids=["no such tool", "no JSON", "no object", "no name", "no text", "no such note", "no text but a number"],
)  # fmt: skip
def test_a_call_that_is_wrong_has_a_result_that_says_so(app, provider, name, arguments):
    conversation, said = made(app), sentence()
    provider.will(calls((name, arguments)), Reply(text=said))
    events = answered(app, conversation)
    [told] = tool_events(events)
    assert told["name"] == name
    assert told["result"].startswith("error: ")
    assert events[-1].data["text"] == said
    [sent] = results(provider.requests[-1])
    assert sent.startswith("error: ")
    assert notes(app, conversation) == []


def test_tokens_are_used_up_and_a_spent_budget_is_refused(app, provider):
    (counted, first), second = tokens(), CHANCE.randint(50, 300)
    conversation = made(app, budget=first + second)
    provider.will(Reply(text=sentence(), usage=counted), Reply(text=sentence(), usage=Tokens(second, 0)))
    assert answered(app, conversation)[-1].data["used"] == first
    assert answered(app, conversation)[-1].data["used"] == first + second
    assert shown(app, conversation)["used"] == first + second
    refused(post(app, conversation, sentence()), 402)
    assert len(provider.requests) == 2
    assert len(texts(app, conversation)) == 4


def test_a_budget_that_is_spent_between_calls_ends_the_answer(app, provider):
    conversation = made(app, budget=120 - CHANCE.choice([0, CHANCE.randint(1, 99)]))
    provider.will(saving())
    broken(app, conversation)
    assert len(provider.requests) == 1
    assert shown(app, conversation)["used"] == 120
    assert texts(app, conversation) == notes(app, conversation) == []


def test_one_token_left_is_enough_to_ask(app, provider):
    counted, used = tokens()
    conversation = made(app, budget=used + 1)
    provider.will(Reply(text=sentence(), usage=counted), Reply(text=sentence()))
    answered(app, conversation)
    assert answered(app, conversation)[-1].data["used"] == used + 120


@pytest.mark.parametrize("kind", ERRORS)
def test_a_provider_that_fails_twice_is_asked_again(app, provider, kind):
    conversation, said = made(app), sentence()
    provider.will(failing(kind), failing(kind), Reply(text=said))
    assert answered(app, conversation)[-1].data["text"] == said
    assert len(provider.requests) == 3


def test_a_provider_that_says_when_is_asked_then(app, provider):
    conversation, times, seconds, said = made(app), [], CHANCE.randint(2, 4), sentence()

    def answer(_):
        times.append(time.monotonic())
        return failing(ErrorKind.RATE_LIMIT, retry_after=seconds) if len(times) == 1 else Reply(text=said)

    provider.answers(answer)
    answered(app, conversation)
    assert times[1] - times[0] >= seconds - 0.1


def test_a_provider_is_asked_again_in_the_midst_of_calls(app, provider):
    conversation = made(app)
    busy = failing(ErrorKind.RATE_LIMIT)
    provider.will(busy, busy, saving(), busy, busy, Reply(text=sentence()))
    events = answered(app, conversation)
    assert len(tool_events(events)) == 1
    assert len(provider.requests) == 6


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        *((kind, 3) for kind in ERRORS),
        *((kind, 1) for kind in (ErrorKind.BAD_REQUEST, ErrorKind.UNAUTHORIZED, ErrorKind.CONTEXT_OVERFLOW)),
    ],
)
def test_a_provider_that_does_not_answer_is_told_as_an_error(app, provider, kind, count):
    conversation = made(app)
    provider.will(Reply(text=sentence()), *[failing(kind)] * 3)
    answered(app, conversation)
    before = shown(app, conversation)
    broken(app, conversation)
    assert len(provider.requests) == 1 + count
    assert shown(app, conversation) == before


def test_after_an_error_the_conversation_goes_on_as_before(app, provider):
    conversation, kept, said = made(app), sentence(), sentence()
    provider.will(saving(), failing(ErrorKind.BAD_REQUEST))
    broken(app, conversation)
    assert texts(app, conversation) == notes(app, conversation) == []
    assert shown(app, conversation)["used"] == 120
    provider.will(Reply(text=said))
    answered(app, conversation, kept)
    assert [message["content"] for message in provider.requests[-1]["messages"]] == [kept]
    assert texts(app, conversation) == [("user", kept), ("assistant", said)]


@pytest.mark.parametrize("fault", [ScriptedFault.DROP_MIDWAY, ScriptedFault.TRUNCATED])
def test_an_answer_that_breaks_off_is_not_kept(app, provider, fault):
    conversation, kept, said = made(app), sentence(), sentence()
    provider.will(Reply(text=sentence(8, 12), fault=fault), Reply(text=said))
    events = say(app, conversation)
    assert events[-1].kind == "error", events
    assert len(provider.requests) == 1
    assert texts(app, conversation) == []
    answered(app, conversation, kept)
    assert texts(app, conversation) == [("user", kept), ("assistant", said)]


def test_a_stream_without_an_end_is_not_kept(app, provider):
    conversation, half = made(app), {"index": 0, "delta": {"content": word()}, "finish_reason": None}
    provider.will(Reply(body=f"data: {json.dumps({'choices': [half]})}\n\n"))
    broken(app, conversation)
    assert texts(app, conversation) == []


@pytest.mark.parametrize("fault", [ScriptedFault.HANG, ScriptedFault.STALL])
def test_a_provider_that_falls_silent_is_given_up(app, provider, fault):
    conversation = made(app)
    provider.will(Reply(text=sentence(8, 12), fault=fault), Reply(text=sentence()))
    broken(app, conversation)
    assert len(provider.requests) == 1
    assert texts(app, conversation) == []
    answered(app, conversation)


@pytest.mark.parametrize(
    "text",
    ["", " \n\t" * CHANCE.randint(1, 9), word(1, 1) * 10_001, word(4, 4) * CHANCE.randint(2501, 9000)],
    ids=["empty", "spaces", "one too many", "far too many"],
)
def test_a_message_of_the_wrong_length_is_refused(app, provider, text):
    refused(post(app, made(app), text))
    assert provider.requests == []


def test_a_message_may_have_10000_characters(app, provider):
    provider.will(Reply(text=sentence()))
    answered(app, made(app), word(5, 5) * 2_000)


@pytest.mark.parametrize("name", ["budget", "system"])
def test_a_conversation_out_of_bounds_is_refused(app, name):
    wrong = {
        "budget": [0, -CHANCE.randint(1, 999), 1_000_001, CHANCE.randint(1_000_002, 10**9)],
        "system": [word(1, 1) * 10_001, word(4, 4) * CHANCE.randint(2501, 9000)],
    }
    for value in wrong[name]:
        refused(app.ask("POST", "/conversations", {name: value}))
    assert app.ask("POST", "/conversations", {"budget": 1_000_000, "system": word(5, 5) * 2_000}).status == 201


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/conversations/{}"), ("DELETE", "/conversations/{}"), ("GET", "/conversations/{}/notes"), ("GET", "/{}")],
)
def test_what_is_not_there_is_answered_with_404(app, method, path):
    refused(app.ask(method, path.format(f"{word()}-{word()}")), 404)
