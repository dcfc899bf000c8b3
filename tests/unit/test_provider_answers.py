"""What a scenario says is what comes out of the vendors' own clients, in each protocol, streaming and not."""

import json
import os
from collections.abc import AsyncIterator
from typing import Any

import pytest

from harness.plugins.scripted_provider.scenario import Call, Reply, Stop, Tokens
from harness.plugins.scripted_provider.server import Provider, serve
from tests.support.provider import scenario
from tests.support.vendor_clients import CLIENTS, Client, chat, messages

pytestmark = pytest.mark.usefixtures("few_roots")

KINDS = ["text only", "one call", "parallel calls", "empty", "refusal", "filtered", "cut", "thinking"]
PLAYED = scenario("every-kind")
REPLIES = dict(zip(KINDS, (rule.replies[0] for rule in PLAYED.rules), strict=True))


def expected(reply: Reply) -> tuple[str, str, list[tuple[str, Any]]]:
    return reply.text, reply.thinking, [(call.name, call.arguments) for call in reply.calls]


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    async with serve(PLAYED) as running:
        yield running


STOPS = {
    "chat": {None: "stop", "calls": "tool_calls", Stop.LENGTH: "length", Stop.FILTERED: "content_filter"},
    "responses": {
        None: "completed",
        "calls": "completed",
        Stop.LENGTH: "max_output_tokens",
        Stop.FILTERED: "content_filter",
    },
    "messages": {None: "end_turn", "calls": "tool_use", Stop.LENGTH: "max_tokens", Stop.FILTERED: "refusal"},
}


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streaming"])
@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.__name__)
@pytest.mark.parametrize("kind", KINDS)
async def test_every_kind_of_reply_comes_out_of_the_vendors_client(
    provider: Provider, kind: str, client: Client, streaming: bool
) -> None:
    reply = REPLIES[kind]
    heard = await client(provider.url, f"kind: {kind}", streaming)
    assert (heard.text, heard.thinking, heard.calls) == expected(reply)
    assert len(set(heard.ids)) == len(reply.calls)
    stops = {**STOPS[client.__name__], Stop.REFUSAL: "refusal"}
    assert heard.stop == stops["calls" if reply.calls else reply.stop]
    assert reply.usage
    counts = reply.usage.model_dump()
    assert heard.counts == {name: counts[name] for name in heard.counts}


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streaming"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", ["openai/scripted", "anthropic/scripted"])
async def test_litellm_hears_the_same(provider: Provider, model: str, kind: str, streaming: bool) -> None:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm

    reply = REPLIES[kind]
    base = f"{provider.url}/v1" if model.startswith("openai") else provider.url
    asked: Any = {
        "model": model,
        "messages": [{"role": "user", "content": f"kind: {kind}"}],
        "api_base": base,
        "api_key": "k",
        "max_retries": 0,
    }
    options = {"stream_options": {"include_usage": True}} if streaming else {}
    answer: Any = await litellm.acompletion(**asked, stream=streaming, **options)
    if streaming:
        answer = litellm.stream_chunk_builder([chunk async for chunk in answer])
    message = answer.choices[0].message
    calls = [(call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls or []]
    assert calls == [(call.name, call.arguments) for call in reply.calls]
    if reply.stop is not Stop.REFUSAL:  # of a refusal litellm drops the words
        assert (message.content or "") == reply.text
    assert answer.usage.prompt_tokens == (reply.usage or Tokens()).input
    assert answer.usage.completion_tokens == (reply.usage or Tokens()).output


async def test_ids_of_calls_differ_from_request_to_request(provider: Provider) -> None:
    first, second = [await chat(provider.url, "kind: parallel calls", False) for _ in range(2)]
    assert not set(first.ids) & set(second.ids)


async def test_arguments_that_are_no_json_are_sent_as_they_are() -> None:
    import openai

    broken = Reply(tool_calls=(Call(name="bash", arguments='{"command": "ls'),))
    async with (
        serve(lambda _: broken) as provider,
        openai.AsyncOpenAI(api_key="k", base_url=f"{provider.url}/v1", max_retries=0) as client,
    ):
        done = await client.chat.completions.create(model="m", messages=[{"role": "user", "content": "?"}])
    assert done.choices[0].message.tool_calls
    assert done.choices[0].message.tool_calls[0].function.arguments == '{"command": "ls'


async def test_models_are_listed_as_each_vendor_does(provider: Provider) -> None:
    import anthropic
    import openai

    async with openai.AsyncOpenAI(api_key="k", base_url=f"{provider.url}/v1") as client:
        assert [model.id async for model in client.models.list()] == ["scripted", "scripted-small"]
    async with anthropic.AsyncAnthropic(api_key="k", base_url=provider.url) as other:
        assert [model.id async for model in other.models.list()] == ["scripted", "scripted-small"]


async def test_tokens_are_counted_without_using_up_a_reply(provider: Provider) -> None:
    import anthropic

    async with anthropic.AsyncAnthropic(api_key="k", base_url=provider.url) as client:
        asked: Any = {"model": "scripted", "messages": [{"role": "user", "content": "x" * 400}]}
        short = await client.messages.count_tokens(**{**asked, "messages": [{"role": "user", "content": "x"}]})
        long = await client.messages.count_tokens(**asked)
    assert 0 < short.input_tokens < long.input_tokens


async def test_requests_are_kept_as_they_came(provider: Provider) -> None:
    await chat(provider.url, "kind: empty", False)
    await messages(provider.url, "kind: empty", False)
    first, second = provider.requests
    assert (first.path, second.path) == ("/v1/chat/completions", "/v1/messages")
    assert first.headers["authorization"] == "Bearer k"
    assert second.headers.get("x-api-key") or second.headers["authorization"] == "Bearer k"
    assert second.body["max_tokens"] == 100
    assert first.text == "kind: empty"
    assert first.seconds <= second.seconds
