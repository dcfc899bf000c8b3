import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from chatting import SECONDS, answered, broken, made, post, refused, texts
from provider import Call, ErrorKind, Failure, Reply

MANY = 12


@pytest.mark.parametrize("body", [b"{", b"null", b"[]", b'"text"', b"\xff\xfe", b"[" * 5000])
def test_ill_formed_bodies_are_refused_and_the_service_goes_on(app, provider, body):
    conversation = made(app)
    for path in ("/conversations", f"/conversations/{conversation}/messages"):
        answer = app.send(path, body)
        assert answer.status == 400, answer
        assert answer.json["error"]
    provider.will(Reply(text="yes"))
    answered(app, conversation)


@pytest.mark.parametrize("told", [{"budget": "5"}, {"budget": 1.5}, {"budget": True}, {"system": 1}, {"system": ["x"]}])
def test_a_conversation_with_fields_of_the_wrong_type_is_refused(app, told):
    refused(app.ask("POST", "/conversations", told))


@pytest.mark.parametrize("told", [{}, {"text": 1}, {"text": None}, {"text": ["x"]}])
def test_a_message_of_the_wrong_type_is_refused(app, provider, told):
    conversation = made(app)
    refused(app.ask("POST", f"/conversations/{conversation}/messages", told))
    assert provider.requests == []


def test_a_body_that_is_too_large_is_refused_and_the_service_goes_on(app):
    try:
        answer = app.send("/conversations", b'{"more": "' + b"a" * 400_000 + b'"}')
    except ConnectionError:  # it may stop reading before all has been sent
        answer = None
    assert answer is None or answer.status in (400, 413), answer
    assert made(app)


def test_a_second_message_to_a_conversation_is_refused(app, provider):
    conversation, asked, gate = made(app), threading.Event(), threading.Event()
    provider.will(Reply(text="the first answer", gate=gate, arrived=asked), Reply(text="the third"))
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(answered, app, conversation, "first")
        try:
            assert asked.wait(SECONDS)
            refused(post(app, conversation, "second"), 409)
            assert texts(app, conversation) == []
        finally:
            gate.set()
        first.result()
    answered(app, conversation, "third")
    assert [text for _, text in texts(app, conversation)] == ["first", "the first answer", "third", "the third"]
    assert len(provider.requests) == 2


@pytest.mark.parametrize(
    "body",
    ["<html><body>nginx</body></html>", "data: nonsense\n\ndata: [DONE]\n\n", 'data: {"choices": "none"}\n\ndata: [DONE]\n\n',
     "data: 7\n\ndata: [DONE]\n\n", 'data: {"choices": [{"delta": {"content": 5}}]}\n\ndata: [DONE]\n\n', ""],
)  # fmt: skip
def test_what_is_no_answer_is_told_as_an_error(app, provider, body):
    conversation = made(app)
    provider.will(Reply(body=body), Reply(text="Here"))
    broken(app, conversation, "lost")
    assert len(provider.requests) == 1
    answered(app, conversation, "kept")
    assert texts(app, conversation) == [("user", "kept"), ("assistant", "Here")]


def test_a_model_that_never_stops_calling_is_stopped(app, provider):
    conversation = made(app)
    provider.answers(lambda _: Reply(tool_calls=(Call("read_note", {"name": "a"}),)))
    broken(app, conversation)
    assert len(provider.requests) == 8
    assert texts(app, conversation) == []


@pytest.mark.parametrize("kind", [ErrorKind.UNAUTHORIZED, ErrorKind.SERVER_ERROR])
def test_the_key_is_in_no_answer(app, provider, kind):
    key = os.environ["PROVIDER_KEY"]
    error = Failure(kind, f"Incorrect API key provided: {key}.", retry_after=0)
    provider.will(*[Reply(error=error)] * 3)
    assert key not in broken(app, made(app))


def test_many_conversations_are_answered_at_once(app, provider):
    conversations, together = [made(app) for _ in range(MANY)], threading.Barrier(MANY)

    def answer(request):
        together.wait(20)  # none is answered before all are asked
        return Reply(text=f"to {request['messages'][-1]['content']}")

    provider.answers(answer)
    try:
        app.at_once(MANY, lambda number: answered(app, conversations[number], str(number)))
    except BaseException:
        app.kill()  # what is still under way would reach the tests after this one
        app.start()
        raise
    for number, conversation in enumerate(conversations):
        assert texts(app, conversation) == [("user", str(number)), ("assistant", f"to {number}")]
