"""A malformed request is refused as the vendors refuse it: a client can't get away with one."""

from contextlib import suppress
from typing import Any

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.plugins.scripted_provider.anthropic import ServedAnthropicMessages
from harness.plugins.scripted_provider.dialect import ServedDialect
from harness.plugins.scripted_provider.failures import RequestRefused
from harness.plugins.scripted_provider.openai_chat import ServedOpenAIChat
from harness.plugins.scripted_provider.openai_responses import ServedOpenAIResponses
from tests.support.provider import Provider, Reply, playing

Json = dict[str, Any]
HEADERS = {
    "/v1/chat/completions": {"Authorization": "Bearer k"},
    "/v1/responses": {"Authorization": "Bearer k"},
    "/v1/messages": {"x-api-key": "k", "anthropic-version": "2023-06-01"},
    "/v1/messages/count_tokens": {"x-api-key": "k", "anthropic-version": "2023-06-01"},
}
ASK = {"role": "user", "content": "hello"}


def openai_call(*ids: str) -> Json:
    calls = [{"id": id, "type": "function", "function": {"name": "bash", "arguments": "{}"}} for id in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def openai_result(id: str) -> Json:
    return {"role": "tool", "tool_call_id": id, "content": "out"}


def anthropic_call(*ids: str) -> Json:
    blocks = [{"type": "tool_use", "id": id, "name": "bash", "input": {}} for id in ids]
    return {"role": "assistant", "content": blocks}


def anthropic_result(*ids: str, before: str = "", after: str = "") -> Json:
    texts = [[{"type": "text", "text": text}] if text else [] for text in (before, after)]
    results = [{"type": "tool_result", "tool_use_id": id, "content": "out"} for id in ids]
    return {"role": "user", "content": [*texts[0], *results, *texts[1]]}


def chat(*messages: Json, **more: Any) -> Json:
    return {"model": "m", "messages": list(messages) or [ASK], **more}


def message(*messages: Json, **more: Any) -> Json:
    return {"model": "m", "max_tokens": 10, "messages": list(messages) or [ASK], **more}


def response(*items: Json, **more: Any) -> Json:
    return {"model": "m", "input": list(items) or "hello", **more}


def without(request: Json, key: str) -> Json:
    return {name: value for name, value in request.items() if name != key}


CALL_ITEM = {"type": "function_call", "call_id": "a", "name": "bash", "arguments": "{}"}
RESULT_ITEM = {"type": "function_call_output", "call_id": "a", "output": "out"}
MARKED = {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}
SCHEMA = {"name": "bash", "input_schema": {"type": "object"}}
FUNCTION = {"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}

LATER: Json = {"role": "system", "content": "from now on be brief"}
CHAT, RESPONSES, MESSAGES = "/v1/chat/completions", "/v1/responses", "/v1/messages"
GOOD = [
    (
        CHAT,
        chat({"role": "system", "content": "s"}, ASK, openai_call("a", "b"), openai_result("b"), openai_result("a")),
    ),
    (CHAT, chat(tools=[FUNCTION], max_tokens=5, reasoning_effort="low", stream=True)),
    (MESSAGES, message(ASK, anthropic_call("a", "b"), anthropic_result("b", "a", after="go on"), system="s")),
    (MESSAGES, message(ASK, anthropic_call("a", "b"), anthropic_result("a"), anthropic_result("b"))),
    (MESSAGES, message(ASK, LATER, anthropic_call("a"), anthropic_result("a"), LATER)),
    (MESSAGES, message({"role": "user", "content": [MARKED] * 4}, tools=[SCHEMA])),
    (RESPONSES, response(ASK, CALL_ITEM, RESULT_ITEM, instructions="s")),
]
BAD = [
    (CHAT, without(chat(), "model"), "you must provide a model parameter"),
    (CHAT, without(chat(), "messages"), "Missing required parameter: 'messages'"),
    (CHAT, {"model": "m", "messages": []}, "Invalid 'messages': empty array"),
    (CHAT, chat(surprise=1), "Unrecognized request argument supplied: surprise"),
    (CHAT, chat(max_tokens=0), "Invalid 'max_tokens'"),
    (CHAT, chat(tools=[]), "Invalid 'tools': empty array"),
    (CHAT, chat(tools=[SCHEMA]), "tools[0].function"),
    (CHAT, chat(stream_options={"include_usage": True}), "only allowed when 'stream' is enabled"),
    (CHAT, chat({"role": "robot", "content": "x"}), "Invalid 'messages[0].role'"),
    (CHAT, chat({"role": "user", "content": None}), "Invalid 'messages[0].content'"),
    (CHAT, chat(ASK, {"role": "assistant", "content": None}), "Invalid 'messages[1].content'"),
    (CHAT, chat(ASK, {"role": "assistant", "content": "x", "tool_calls": []}), "Invalid 'messages[1].tool_calls'"),
    (CHAT, chat(ASK, openai_result("a")), "must be a response to a preceeding message with 'tool_calls'"),
    (CHAT, chat(ASK, openai_call("a"), openai_result("b")), "must be a response to a preceeding message"),
    (CHAT, chat(ASK, openai_call("a", "b"), openai_result("a"), ASK), "did not have response messages: b"),
    (CHAT, chat(ASK, openai_call("a")), "did not have response messages: a"),
    (MESSAGES, without(message(), "model"), "model: Field required"),
    (MESSAGES, without(message(), "max_tokens"), "max_tokens: Field required"),
    (MESSAGES, without(message(), "messages"), "messages: Field required"),
    (MESSAGES, message(max_tokens=0), "max_tokens: Input should be greater than or equal to 1"),
    (MESSAGES, message(surprise=1), "surprise: Extra inputs are not permitted"),
    (MESSAGES, {"model": "m", "max_tokens": 1, "messages": []}, "at least one message is required"),
    (MESSAGES, message({"role": "robot", "content": "s"}, ASK), 'Unexpected role "robot"'),
    (MESSAGES, message(LATER, ASK), "use the top-level 'system' parameter for the initial system prompt"),
    (MESSAGES, message(ASK, LATER, LATER), "must be the last one or precede an `assistant` message"),
    (
        MESSAGES,
        message(ASK, {"role": "assistant", "content": "x"}, LATER),
        "must immediately follow a `user` message",
    ),
    (MESSAGES, message(ASK, anthropic_call("a"), LATER, anthropic_result("a")), "must immediately follow a `user`"),
    (MESSAGES, message(ASK, {**LATER, "content": [{"type": "image"}]}), "may only have text content"),
    (MESSAGES, message({"role": "assistant", "content": "x"}), 'first message must use the "user" role'),
    (MESSAGES, message({"role": "user", "content": ""}), "must have non-empty content"),
    (MESSAGES, message({"role": "user", "content": [{"type": "text", "text": " "}]}), "non-whitespace text"),
    (MESSAGES, message(ASK, {"role": "assistant", "content": "x "}), "cannot end with trailing whitespace"),
    (MESSAGES, message(anthropic_result("a")), "unexpected `tool_use_id` found in `tool_result` blocks: a"),
    (MESSAGES, message(ASK, anthropic_call("a"), anthropic_result("a", "b")), "unexpected `tool_use_id`"),
    (MESSAGES, message(ASK, anthropic_call("a", "b"), anthropic_result("a")), "without `tool_result` blocks"),
    (MESSAGES, message(ASK, anthropic_call("a"), anthropic_result("a", before="x")), "without `tool_result` blocks"),
    (MESSAGES, message(ASK, anthropic_call("a")), "without `tool_result` blocks"),
    (MESSAGES, message(ASK, anthropic_call("a b"), anthropic_result("a b")), "tool_use.id: String should match"),
    (MESSAGES, message({"role": "user", "content": [MARKED] * 5}), "A maximum of 4 blocks with cache_control"),
    (MESSAGES, message(tools=[FUNCTION["function"]]), "input_schema"),
    (MESSAGES, message(thinking=True), "thinking: Input should be a valid dictionary"),
    (MESSAGES, message(tools={}), "tools: Input should be a valid list"),
    (CHAT, chat(stream=True, stream_options=[]), "Invalid 'stream_options'"),
    (MESSAGES, message(thinking={"type": "enabled", "budget_tokens": 10}), "greater than `thinking.budget_tokens`"),
    (MESSAGES + "/count_tokens", without(message(), "messages"), "messages: Field required"),
    (RESPONSES, without(response(), "model"), "Missing required parameter: 'model'"),
    (RESPONSES, without(response(), "input"), "Missing required parameter: 'input'"),
    (RESPONSES, {"model": "m", "input": {"role": "user"}}, "Invalid type for 'input'"),
    (RESPONSES, response(tools=True), "Invalid type for 'tools'"),
    (RESPONSES, response(messages=[]), "Unknown parameter: 'messages'"),
    (RESPONSES, response(max_output_tokens=0), "Invalid 'max_output_tokens'"),
    (RESPONSES, response(ASK, RESULT_ITEM), "No tool call found for function call output with call_id a"),
    (RESPONSES, response(ASK, CALL_ITEM), "No tool output found for function call a"),
    (RESPONSES, response({"role": "tool", "content": "x"}), "Invalid value: 'tool'"),
    (RESPONSES, response(previous_response_id="resp_1"), "Previous response with id 'resp_1' not found"),
]


async def post(provider: Provider, path: str, headers: dict[str, str], **body: Any) -> tuple[int, Any]:
    async with (
        aiohttp.ClientSession() as session,
        session.post(provider.url + path, headers=headers, **body) as answer,
    ):
        return answer.status, await answer.json() if answer.content_type == "application/json" else None


@pytest.mark.parametrize(("path", "request_"), GOOD)
async def test_a_request_that_is_well_formed_is_answered(path: str, request_: Json) -> None:
    async with playing(Reply(text="hi")) as provider:
        status, _ = await post(provider, path, HEADERS[path], json=request_)
    assert status == 200


@pytest.mark.parametrize(("path", "request_", "words"), BAD, ids=[words for _, _, words in BAD])
async def test_a_malformed_request_is_refused_in_the_vendors_words(path: str, request_: Json, words: str) -> None:
    async with playing(Reply(text="hi")) as provider:
        status, body = await post(provider, path, HEADERS[path], json=request_)
    assert status == 400
    assert words in body["error"]["message"]
    assert body["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize("path", HEADERS)
@pytest.mark.parametrize("body", [b"", b"[1]", b'{"model": ', b'"text"', b'{"messages": [1], "model": 1}'])
async def test_what_is_no_request_at_all_is_refused_too(path: str, body: bytes) -> None:
    async with playing(Reply(text="hi")) as provider:
        status, answer = await post(provider, path, HEADERS[path], data=body)
    assert (status, answer["error"]["type"]) == (400, "invalid_request_error")


@pytest.mark.parametrize("path", HEADERS)
async def test_a_request_without_a_key_is_refused(path: str) -> None:
    headers = {name: "" if name in ("Authorization", "x-api-key") else text for name, text in HEADERS[path].items()}
    async with playing(Reply(text="hi")) as provider:
        status, body = await post(provider, path, headers, json=message())
    assert status == 401
    assert body["error"].get("code", "invalid_api_key") == "invalid_api_key"


async def test_anthropic_insists_on_a_version_and_unknown_places_are_not_found() -> None:
    async with playing(Reply(text="hi")) as provider:
        status, body = await post(provider, MESSAGES, {"x-api-key": "k"}, json=message())
        nowhere, _ = await post(provider, "/v1/completions", {"Authorization": "Bearer k"}, json={})
    assert (status, body["error"]["message"]) == (400, "anthropic-version: header is required")
    assert nowhere == 404


async def test_a_refused_request_uses_up_no_reply() -> None:
    async with playing(Reply(text="first"), Reply(text="second")) as provider:
        await post(provider, CHAT, HEADERS[CHAT], json={})
        _, body = await post(provider, CHAT, HEADERS[CHAT], json=chat())
        assert [bool(request.text) for request in provider.requests] == [False, True]
    assert body["choices"][0]["message"]["content"] == "first"


WORDS = ["", " ", "a", "user", "assistant", "enabled", "custom", "object"]
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-1, 3), st.sampled_from(WORDS))
KEYS = """role content type text tool_use_id id name input function arguments tool_calls tool_call_id call_id output
input_schema budget_tokens include_usage cache_control"""
NAMES = st.sampled_from(KEYS.split())
KINDS = st.sampled_from(["text", "tool_use", "tool_result", "function", "function_call", "function_call_output"])
VALUES = st.recursive(
    st.one_of(SCALARS, KINDS), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4)
)
PARTS = st.dictionaries(NAMES, VALUES, max_size=4)
SPOKEN = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "system", "tool"])},
    optional={"content": VALUES | st.lists(PARTS, max_size=2), "tool_calls": VALUES, "type": KINDS},
)
REQUESTS = st.fixed_dictionaries(
    {},
    optional={
        "model": SCALARS,
        "max_tokens": SCALARS,
        "messages": st.lists(SPOKEN | VALUES, max_size=3) | VALUES,
        "input": st.lists(SPOKEN | PARTS, max_size=3) | VALUES,
        **dict.fromkeys(("system", "instructions", "tools", "thinking", "stream", "stream_options"), VALUES),
    },
)


@pytest.mark.parametrize("dialect", [ServedOpenAIChat(), ServedOpenAIResponses(), ServedAnthropicMessages()])
@given(request_=REQUESTS)
def test_any_json_is_either_refused_or_has_a_text(dialect: ServedDialect, request_: Json) -> None:
    with suppress(RequestRefused):
        assert isinstance(dialect.read({"model": "m", "max_tokens": 9, **request_}), str)
