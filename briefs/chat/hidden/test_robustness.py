import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from chatting import CHANCE, SECONDS, answered, broken, made, post, refused, sentence, texts, word
from provider import Call, ErrorKind, Failure, Reply

MANY = 12


@pytest.mark.parametrize("body", [b"{", b"null", b"[]", b'"text"', b"\xff\xfe", b"[" * 5000])
def test_ill_formed_bodies_are_refused_and_the_service_goes_on(app, provider, body):
    conversation = made(app)
    for path in ("/conversations", f"/conversations/{conversation}/messages"):
        answer = app.send(path, body)
        assert answer.status == 400, answer
        assert answer.json["error"]
    provider.will(Reply(text=sentence()))
    answered(app, conversation)


@pytest.mark.parametrize(
    "told",
    [{"budget": str(CHANCE.randint(1, 999))}, {"budget": CHANCE.randint(1, 999) + 0.5}, {"budget": True},
     {"system": CHANCE.randint(0, 99)}, {"system": [word()]}],
    ids=["digits", "fraction", "truth", "number", "list"],
)  # fmt: skip
def test_a_conversation_with_fields_of_the_wrong_type_is_refused(app, told):
    refused(app.ask("POST", "/conversations", told))


@pytest.mark.parametrize(
    "told",
    [{}, {word(5, 9): sentence()}, {"text": CHANCE.randint(0, 99)}, {"text": None}, {"text": [word()]}],
    ids=["empty", "another field", "number", "null", "list"],
)
def test_a_message_of_the_wrong_type_is_refused(app, provider, told):
    conversation = made(app)
    refused(app.ask("POST", f"/conversations/{conversation}/messages", told))
    assert provider.requests == []


def test_a_body_that_is_too_large_is_refused_and_the_service_goes_on(app):
    try:
        answer = app.send("/conversations", b'{"more": "' + word().encode() * 130_000 + b'"}')
    except ConnectionError:  # it may stop reading before all has been sent
        answer = None
    assert answer is None or answer.status in (400, 413), answer
    assert made(app)


def test_a_second_message_to_a_conversation_is_refused(app, provider):
    conversation, asked, gate = made(app), threading.Event(), threading.Event()
    first_text, second_text, third_text, *told = (sentence() for _ in range(5))
    provider.will(Reply(text=told[0], gate=gate, arrived=asked), Reply(text=told[1]))
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(answered, app, conversation, first_text)
        try:
            assert asked.wait(SECONDS)
            refused(post(app, conversation, second_text), 409)
            assert texts(app, conversation) == []
        finally:
            gate.set()
        first.result()
    answered(app, conversation, third_text)
    assert [text for _, text in texts(app, conversation)] == [first_text, told[0], third_text, told[1]]
    assert len(provider.requests) == 2


@pytest.mark.parametrize(
    "body",
    ["<html><body>nginx</body></html>", "data: nonsense\n\ndata: [DONE]\n\n", 'data: {"choices": "none"}\n\ndata: [DONE]\n\n',
     "data: 7\n\ndata: [DONE]\n\n", 'data: {"choices": [{"delta": {"content": 5}}]}\n\ndata: [DONE]\n\n', ""],
)  # fmt: skip
def test_what_is_no_answer_is_told_as_an_error(app, provider, body):
    conversation, kept, said = made(app), sentence(), sentence()
    provider.will(Reply(body=body), Reply(text=said))
    broken(app, conversation)
    assert len(provider.requests) == 1
    answered(app, conversation, kept)
    assert texts(app, conversation) == [("user", kept), ("assistant", said)]


def test_a_model_that_never_stops_calling_is_stopped(app, provider):
    conversation, name = made(app), word()
    provider.answers(lambda _: Reply(tool_calls=(Call("read_note", {"name": name}),)))
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
    asked = [sentence() for _ in range(MANY)]

    def answer(request):
        together.wait(20)  # none is answered before all are asked
        return Reply(text=f"to {request['messages'][-1]['content']}")

    provider.answers(answer)
    try:
        app.at_once(MANY, lambda number: answered(app, conversations[number], asked[number]))
    except BaseException:
        app.kill()  # what is still under way would reach the tests after this one
        app.start()
        raise
    for number, conversation in enumerate(conversations):
        assert texts(app, conversation) == [("user", asked[number]), ("assistant", f"to {asked[number]}")]
