import os
import threading
import time

import pytest
from chatting import answered, broken, listening, made, notes, post, refused, say, shown, texts
from provider import Call, ErrorKind, Failure, Reply, ScriptedFault, Tokens

TEXT = "The quick brown fox jumps over the lazy dog."
ERRORS = (ErrorKind.RATE_LIMIT, ErrorKind.SERVER_ERROR, ErrorKind.UNAVAILABLE)


def calls(*told):
    return Reply(tool_calls=tuple(Call(name, arguments) for name, arguments in told))


def failing(kind, retry_after=0):
    return Reply(error=Failure(kind, retry_after=retry_after))


def results(request):
    return [message["content"] for message in request["messages"] if message["role"] == "tool"]


def tool_events(events):
    return [event.data for event in events if event.kind == "tool"]


def test_a_conversation_has_what_it_was_made_with(app):
    answer = app.ask("POST", "/conversations", {"system": "Be brief.", "budget": 500})
    assert answer.status == 201
    first = answer.json
    assert {name: first[name] for name in ("system", "budget", "used", "messages")} == {
        "system": "Be brief.", "budget": 500, "used": 0, "messages": [],
    }  # fmt: skip
    assert shown(app, first["id"]) == first
    second = shown(app, made(app))
    assert (second["system"], second["budget"]) == (None, 10_000)
    assert second["id"] != first["id"]


def test_a_deleted_conversation_is_gone(app):
    conversation = made(app)
    assert app.ask("DELETE", f"/conversations/{conversation}").status == 204
    refused(app.ask("GET", f"/conversations/{conversation}"), 404)
    refused(app.ask("GET", f"/conversations/{conversation}/notes"), 404)
    refused(post(app, conversation, "Hello"), 404)
    refused(app.ask("DELETE", f"/conversations/{conversation}"), 404)


def test_an_answer_is_passed_on_while_it_comes(app, provider):
    conversation, gate = made(app), threading.Event()
    provider.will(Reply(text=TEXT, gate=gate))
    try:
        with listening(app, conversation, "Hello") as events:
            first = next(events)
            assert first.kind == "text"
            assert first.data["text"]
            assert TEXT.startswith(first.data["text"])
            assert not gate.is_set()
            gate.set()
            rest = list(events)
    finally:
        gate.set()
    assert "".join(event.data["text"] for event in (first, *rest) if event.kind == "text") == TEXT
    assert (rest[-1].kind, rest[-1].data["text"], rest[-1].data["used"]) == ("done", TEXT, 120)


def test_an_answer_is_part_of_the_conversation(app, provider):
    conversation = made(app)
    provider.will(Reply(text="Good day — grüß Gott"), Reply(text="Goodbye"))
    answered(app, conversation, "Hello")
    assert texts(app, conversation) == [("user", "Hello"), ("assistant", "Good day — grüß Gott")]
    answered(app, conversation, "Bye")
    assert texts(app, conversation)[2:] == [("user", "Bye"), ("assistant", "Goodbye")]


def test_each_request_has_the_whole_conversation(app, provider):
    conversation = made(app, system="Be brief.")
    provider.will(Reply(text="one"), Reply(text="two"))
    answered(app, conversation, "first")
    answered(app, conversation, "second")
    request = provider.requests[-1]
    assert request["model"] == os.environ["MODEL"]
    assert [(message["role"], message["content"]) for message in request["messages"]] == [
        ("system", "Be brief."), ("user", "first"), ("assistant", "one"), ("user", "second"),
    ]  # fmt: skip
    assert [tool["function"]["name"] for tool in request["tools"]] in (
        ["save_note", "read_note"], ["read_note", "save_note"],
    )  # fmt: skip


def test_without_a_system_text_the_message_is_the_first(app, provider):
    provider.will(Reply(text="one"))
    answered(app, made(app), "first")
    assert [message["role"] for message in provider.requests[-1]["messages"]] == ["user"]


def test_a_call_is_run_and_its_result_goes_to_the_provider(app, provider):
    conversation = made(app)
    provider.will(calls(("save_note", {"name": "door", "text": "green"})), Reply(text="It is saved."))
    events = answered(app, conversation, "Remember the door")
    [told] = tool_events(events)
    assert (told["name"], told["result"]) == ("save_note", "saved")
    assert (events[-1].data["text"], events[-1].data["used"]) == ("It is saved.", 240)
    request = provider.requests[-1]
    assert [message["role"] for message in request["messages"]] == ["user", "assistant", "tool"]
    assert request["messages"][1]["tool_calls"][0]["id"] == request["messages"][2]["tool_call_id"]
    assert results(request) == ["saved"]
    assert texts(app, conversation) == [("user", "Remember the door"), ("assistant", "It is saved.")]


def test_several_calls_are_answered_in_their_order_and_stay_in_the_conversation(app, provider):
    conversation = made(app)
    provider.will(
        calls(("save_note", {"name": "a", "text": "one"}), ("read_note", {"name": "a"})),
        calls(("read_note", {"name": "a"})),
        Reply(text="done"),
        Reply(text="again"),
    )
    events = answered(app, conversation)
    assert [told["result"] for told in tool_events(events)] == ["saved", "one", "one"]
    answered(app, conversation, "And now?")
    request = provider.requests[-1]
    roles = ["user", "assistant", "tool", "tool", "assistant", "tool", "assistant", "user"]
    assert [message["role"] for message in request["messages"]] == roles
    assert results(request) == ["saved", "one", "one"]


def test_notes_belong_to_one_conversation(app, provider):
    first, second = made(app), made(app)
    saved = [calls(("save_note", {"name": name, "text": text})) for name, text in (("b", "1"), ("a", "2"), ("b", "3"))]
    for call in saved:
        provider.will(call, Reply(text="saved"))
        answered(app, first)
    assert notes(app, first) == [("a", "2"), ("b", "3")]
    assert notes(app, second) == []
    provider.will(calls(("read_note", {"name": "b"})), Reply(text="no"))
    [told] = tool_events(answered(app, second))
    assert told["result"].startswith("error: ")
    provider.will(calls(("read_note", {"name": "b"})), Reply(text="yes"))
    [told] = tool_events(answered(app, first))
    assert told["result"] == "3"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("open_door", {"name": "door"}), ("read_note", "{"), ("read_note", "[]"), ("read_note", "{}"),
        ("save_note", {"name": "door"}), ("save_note", {"name": "door", "text": 1}), ("read_note", {"name": "nothing"}),
    ],
)  # fmt: skip
def test_a_call_that_is_wrong_has_a_result_that_says_so(app, provider, name, arguments):
    conversation = made(app)
    provider.will(calls((name, arguments)), Reply(text="I see."))
    events = answered(app, conversation)
    [told] = tool_events(events)
    assert told["name"] == name
    assert told["result"].startswith("error: ")
    assert events[-1].data["text"] == "I see."
    [sent] = results(provider.requests[-1])
    assert sent.startswith("error: ")
    assert notes(app, conversation) == []


def test_tokens_are_used_up_and_a_spent_budget_is_refused(app, provider):
    conversation = made(app, budget=250)
    provider.will(Reply(text="one", usage=Tokens(100, 20)), Reply(text="two", usage=Tokens(130, 0)))
    assert answered(app, conversation)[-1].data["used"] == 120
    assert answered(app, conversation)[-1].data["used"] == 250
    assert shown(app, conversation)["used"] == 250
    refused(post(app, conversation, "third"), 402)
    assert len(provider.requests) == 2
    assert len(texts(app, conversation)) == 4


def test_a_budget_that_is_spent_between_calls_ends_the_answer(app, provider):
    conversation = made(app, budget=120)
    provider.will(calls(("save_note", {"name": "a", "text": "one"})))
    broken(app, conversation)
    assert len(provider.requests) == 1
    assert shown(app, conversation)["used"] == 120
    assert texts(app, conversation) == notes(app, conversation) == []


def test_one_token_left_is_enough_to_ask(app, provider):
    conversation = made(app, budget=121)
    provider.will(Reply(text="one"), Reply(text="two"))
    answered(app, conversation)
    assert answered(app, conversation)[-1].data["used"] == 240


@pytest.mark.parametrize("kind", ERRORS)
def test_a_provider_that_fails_twice_is_asked_again(app, provider, kind):
    conversation = made(app)
    provider.will(failing(kind), failing(kind), Reply(text="Here I am"))
    assert answered(app, conversation)[-1].data["text"] == "Here I am"
    assert len(provider.requests) == 3


def test_a_provider_that_says_when_is_asked_then(app, provider):
    conversation, times = made(app), []

    def answer(_):
        times.append(time.monotonic())
        return failing(ErrorKind.RATE_LIMIT, retry_after=2) if len(times) == 1 else Reply(text="now")

    provider.answers(answer)
    answered(app, conversation)
    assert times[1] - times[0] >= 1.9


def test_a_provider_is_asked_again_in_the_midst_of_calls(app, provider):
    conversation = made(app)
    busy = failing(ErrorKind.RATE_LIMIT)
    provider.will(busy, busy, calls(("save_note", {"name": "a", "text": "one"})), busy, busy, Reply(text="done"))
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
    provider.will(Reply(text="one"), *[failing(kind)] * 3)
    answered(app, conversation, "first")
    before = shown(app, conversation)
    broken(app, conversation, "second")
    assert len(provider.requests) == 1 + count
    assert shown(app, conversation) == before


def test_after_an_error_the_conversation_goes_on_as_before(app, provider):
    conversation = made(app)
    provider.will(calls(("save_note", {"name": "a", "text": "one"})), failing(ErrorKind.BAD_REQUEST))
    broken(app, conversation, "lost")
    assert texts(app, conversation) == notes(app, conversation) == []
    assert shown(app, conversation)["used"] == 120
    provider.will(Reply(text="Here"))
    answered(app, conversation, "kept")
    assert [message["content"] for message in provider.requests[-1]["messages"]] == ["kept"]
    assert texts(app, conversation) == [("user", "kept"), ("assistant", "Here")]


@pytest.mark.parametrize("fault", [ScriptedFault.DROP_MIDWAY, ScriptedFault.TRUNCATED])
def test_an_answer_that_breaks_off_is_not_kept(app, provider, fault):
    conversation = made(app)
    provider.will(Reply(text=TEXT, fault=fault), Reply(text="Here"))
    events = say(app, conversation, "lost")
    assert events[-1].kind == "error", events
    assert len(provider.requests) == 1
    assert texts(app, conversation) == []
    answered(app, conversation, "kept")
    assert texts(app, conversation) == [("user", "kept"), ("assistant", "Here")]


def test_a_stream_without_an_end_is_not_kept(app, provider):
    conversation = made(app)
    provider.will(Reply(body='data: {"choices": [{"index": 0, "delta": {"content": "Half"}, "finish_reason": null}]}\n\n'))
    broken(app, conversation)
    assert texts(app, conversation) == []


@pytest.mark.parametrize("fault", [ScriptedFault.HANG, ScriptedFault.STALL])
def test_a_provider_that_falls_silent_is_given_up(app, provider, fault):
    conversation = made(app)
    provider.will(Reply(text=TEXT, fault=fault), Reply(text="Here"))
    broken(app, conversation)
    assert len(provider.requests) == 1
    assert texts(app, conversation) == []
    answered(app, conversation)


@pytest.mark.parametrize("text", ["", "   \n", "a" * 10_001])
def test_a_message_of_the_wrong_length_is_refused(app, provider, text):
    refused(post(app, made(app), text))
    assert provider.requests == []


def test_a_message_may_have_10000_characters(app, provider):
    provider.will(Reply(text="long"))
    answered(app, made(app), "a" * 10_000)


@pytest.mark.parametrize("told", [{"budget": 0}, {"budget": 1_000_001}, {"system": "a" * 10_001}])
def test_a_conversation_out_of_bounds_is_refused(app, told):
    refused(app.ask("POST", "/conversations", told))
    assert app.ask("POST", "/conversations", {"budget": 1_000_000, "system": "a" * 10_000}).status == 201


@pytest.mark.parametrize(("method", "path"), [("GET", "/conversations/1-2-3"), ("DELETE", "/conversations/1-2-3"),
                                              ("GET", "/conversations/1-2-3/notes"), ("GET", "/nowhere")])  # fmt: skip
def test_what_is_not_there_is_answered_with_404(app, method, path):
    refused(app.ask(method, path), 404)
