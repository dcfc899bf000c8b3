import json

import pytest
from fake import chunk, provider, text_of

from chat.provider import Answer, Provider, ProviderError

ASKED = [{"role": "user", "content": "Hello"}]
TOOLS = [{"type": "function"}]


def asking(*answers, seconds=5.0):
    """Return the pieces, the answer, what was asked and the waits; or the error in place of the pieces."""
    waits, answer = [], Answer()
    with provider(*answers) as (url, asked):
        pieces = Provider(url, "key-1", "model-1", seconds, waits.append).answer(ASKED, TOOLS, answer)
        try:
            found = list(pieces)
        except ProviderError as error:
            found = str(error)
    return found, answer, asked, waits


def test_an_answer_comes_in_pieces():
    found, answer, asked, waits = asking(text_of("Good ", "day", tokens=12))
    assert (found, answer.text, answer.tokens, answer.calls) == (["Good ", "day"], "Good day", 12, [])
    assert answer.message == {"role": "assistant", "content": "Good day"}
    [(path, key, body)] = asked
    assert (path, key) == ("/v1/chat/completions", "Bearer key-1")
    assert body == {
        "model": "model-1", "messages": ASKED, "tools": TOOLS, "stream": True, "stream_options": {"include_usage": True},
    }
    assert waits == []


def test_calls_are_put_together():
    parts = [
        {"tool_calls": [{"index": 0, "id": "c0", "type": "function", "function": {"name": "a", "arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"x":'}}]},
        {"tool_calls": [{"index": 1, "id": "c1", "function": {"name": "b", "arguments": "{}"}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]},
        {"tool_calls": [{"index": 1}]},
    ]
    found, answer, _, _ = asking((200, {}, ": ping\n\n" + "".join(map(chunk, parts)) + "data:[DONE]\n\n"))
    assert found == []
    assert answer.tokens == 0
    assert answer.calls == answer.message["tool_calls"] == [
        {"id": "c0", "type": "function", "function": {"name": "a", "arguments": '{"x":1}'}},
        {"id": "c1", "type": "function", "function": {"name": "b", "arguments": "{}"}},
    ]


@pytest.mark.parametrize(
    ("status", "headers", "waits"),
    [(429, {"Retry-After": "2"}, [2.0]), (500, {}, [0.2]), (503, {"Retry-After": "60"}, [5.0]), (502, {"Retry-After": "x"}, [0.2]),
     (429, {"Retry-After": "-1"}, [0.0]), (429, {"Retry-After": "0.5"}, [0.5])],
)
def test_a_provider_that_fails_is_asked_again(status, headers, waits):
    assert asking((status, headers, ""), text_of("yes"))[0::3] == (["yes"], waits)


@pytest.mark.parametrize(("status", "count"), [(429, 3), (500, 3), (599, 3), (400, 1), (401, 1), (404, 1), (204, 1), (499, 1)])
def test_a_provider_that_goes_on_failing_is_an_error(status, count):
    found, _, asked, waits = asking(*[(status, {}, "")] * 3)
    assert found == f"the provider answers with status {status}"
    assert (len(asked), len(waits)) == (count, count - 1)


def test_a_provider_that_is_not_there_is_an_error():
    with provider() as (url, _):
        pass
    waits = []
    with pytest.raises(ProviderError, match="^the provider can't be reached$"):
        list(Provider(url, "key", "model", 5.0, waits.append).answer(ASKED, TOOLS, Answer()))
    assert waits == [0.2, 0.2]


def test_a_provider_that_is_silent_is_an_error():
    found, _, asked, _ = asking(None, seconds=0.2)
    assert (found, len(asked)) == ("the provider doesn't answer", 1)


@pytest.mark.parametrize("text", ["", chunk({"content": "Half"}), "data: [DONE"])
def test_an_answer_that_breaks_off_is_an_error(text):
    assert asking((200, {}, text))[0] in ("the provider's answer broke off", "the provider sends something that is no answer")


def test_an_answer_that_is_cut_is_an_error():
    assert asking((200, {"Content-Length": "5000"}, chunk({"content": "Half"})))[0] == "the provider's answer broke off"


def test_an_answer_that_stops_is_an_error():
    answer = Answer()

    class Silent:
        def __iter__(self):
            yield chunk({"content": "Half"}).encode()
            raise TimeoutError

    class Connection:
        closed = 0

        def close(self):
            self.closed += 1

    asker, connection = Provider("http://127.0.0.1/v1", "key", "model", 1.0), Connection()
    asker._asked = lambda body: (connection, Silent())
    with pytest.raises(ProviderError, match="^the provider has fallen silent$"):
        list(asker.answer(ASKED, TOOLS, answer))
    assert (answer.text, connection.closed) == ("Half", 1)


@pytest.mark.parametrize("told", [7, None, [], {}, {"choices": "none"}, {"choices": [{}]}, {"choices": [{"delta": {"content": 5}}]},
                                  {"choices": [], "usage": 7}, {"choices": [], "usage": {"total_tokens": "x"}}, {"choices": [{"delta": {"tool_calls": [{}]}}]}])
def test_what_is_no_answer_is_an_error(told):
    found = asking((200, {}, f"data: {json.dumps(told)}\n\ndata: [DONE]\n\n"))[0]
    assert found == "the provider sends something that is no answer"
    assert asking((200, {}, "data: {\n\n"))[0] == found
