"""Google's dialect of the scripted provider: what it refuses, and what it answers."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.plugins.scripted_provider.failures import RequestRefused
from harness.plugins.scripted_provider.google import ServedGoogleGenerate
from harness.plugins.scripted_provider.scenario import Reply
from harness.plugins.scripted_provider.server import serve
from tests.support.gateways import google, post
from tests.support.models import KEY
from tests.support.provider import ErrorKind, failing, playing, scenario

Json = dict[str, Any]
HEADERS = {"x-goog-api-key": KEY}
PATH = "/v1beta/models/m:generateContent"
ASK = {"role": "user", "parts": [{"text": "hello"}]}
CALL = {"role": "model", "parts": [{"functionCall": {"name": "bash", "args": {"command": "ls"}}}]}
RESULT = {"role": "user", "parts": [{"functionResponse": {"name": "bash", "response": {"output": "a.py"}}}]}
BAD: list[tuple[Json, str]] = [
    ({}, "contents is not specified"),
    ({"contents": []}, "contents is not specified"),
    ({"contents": [ASK], "messages": []}, 'Unknown name "messages"'),
    ({"contents": [{"role": "assistant", "parts": [{"text": "x"}]}]}, "valid role"),
    ({"contents": [{"role": "user", "parts": []}]}, "must not be empty"),
    ({"contents": [{"role": "user", "parts": [{"type": "text"}]}]}, "Invalid value at"),
    ({"contents": [ASK, CALL]}, "number of function response parts"),
    ({"contents": [ASK, CALL, ASK]}, "number of function response parts"),
    ({"contents": [ASK, RESULT]}, "number of function response parts"),
]


@pytest.mark.parametrize(("body", "words"), BAD)
async def test_a_malformed_request_is_refused_in_the_vendors_words(body: Json, words: str) -> None:
    async with playing(Reply(text="hi")) as provider:
        got = await post(provider.url + PATH, body, "", HEADERS)
    assert (got.status, got.json["error"]["status"]) == (400, "INVALID_ARGUMENT")
    assert words in got.json["error"]["message"]


async def test_a_conversation_with_calls_is_answered_and_its_text_matches_rules() -> None:
    async with playing(Reply(text="hi")) as provider:
        body = {"contents": [ASK, CALL, RESULT], "systemInstruction": {"parts": [{"text": "be brief"}]}}
        assert (await post(provider.url + PATH, body, "", HEADERS)).status == 200
        assert provider.requests[0].text.splitlines() == [
            "be brief",
            "hello",
            '{"command": "ls"}',
            '{"output": "a.py"}',
        ]


async def test_a_key_a_method_and_a_place_are_needed() -> None:
    async with playing(Reply(text="hi")) as provider:
        assert (await post(provider.url + PATH, {"contents": [ASK]}, "k")).status == 403
        nowhere = await post(f"{provider.url}/v1beta/models/m:embedContent", {"contents": [ASK]}, "", HEADERS)
        counted = await post(f"{provider.url}/v1beta/models/m:countTokens", {"contents": [ASK]}, "", HEADERS)
    assert (nowhere.status, counted.status) == (404, 200)
    assert counted.json["totalTokens"] > 1


@pytest.mark.parametrize("kind", ErrorKind)
async def test_every_error_has_the_vendors_form(kind: ErrorKind) -> None:
    async with playing(failing(kind)) as provider:
        got = await post(provider.url + PATH, {"contents": [ASK]}, "", HEADERS)
    assert got.status == got.json["error"]["code"] >= 400


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streaming"])
async def test_an_answer_streams_as_it_is_whole(streaming: bool) -> None:
    async with serve(scenario("every-kind")) as provider:
        heard = await google(provider.url, "kind: parallel calls", streaming)
        thought = await google(provider.url, "kind: thinking", streaming)
    assert [name for name, _ in heard.calls] == ["bash", "read_file", "bash"]
    assert (thought.thinking, thought.text) == ("First this and then that.", "That.")
    assert thought.counts == {"input": 10, "output": 30, "reasoning": 25, "cache_read": 0}


VALUES = st.recursive(
    st.none() | st.integers(-1, 3) | st.sampled_from(["", "user", "model", "a"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "parts", "text", "functionCall", "functionResponse", "args", "response"]), inner
        )
    ),
)
TURNS = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "model"])},
    optional={"parts": st.lists(st.dictionaries(st.sampled_from(["text", "functionCall"]), VALUES)) | VALUES},
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(contents=st.lists(TURNS, max_size=3) | VALUES, system=VALUES)
def test_any_json_is_either_refused_or_has_a_text(contents: Any, system: Any) -> None:
    with suppress(RequestRefused):
        assert isinstance(ServedGoogleGenerate().read({"contents": contents, "systemInstruction": system}), str)
