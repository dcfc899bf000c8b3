"""What the scripted provider does to an answer on its way, seen from the wire and by the vendors' clients."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from harness.models.faults import wait_asked_for
from harness.plugins.scripted_provider.scenario import Failure, Reply, ReplyRule, RetryAfter, Scenario, ScriptedFault
from harness.plugins.scripted_provider.server import serve
from tests.support.provider import ErrorKind, Provider, failing, playing

pytestmark = pytest.mark.usefixtures("few_roots")

OPENAI: tuple[str, dict[str, str]] = ("/v1/chat/completions", {"Authorization": "Bearer k"})
RESPONSES: tuple[str, dict[str, str]] = ("/v1/responses", {"Authorization": "Bearer k"})
ANTHROPIC: tuple[str, dict[str, str]] = ("/v1/messages", {"x-api-key": "k", "anthropic-version": "2023-06-01"})
BODIES: dict[str, dict[str, Any]] = {
    OPENAI[0]: {"model": "m", "messages": [{"role": "user", "content": "hello"}]},
    RESPONSES[0]: {"model": "m", "input": "hello"},
    ANTHROPIC[0]: {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hello"}]},
}
TEXT = "An answer that is long enough to be cut in the middle."
everywhere = pytest.mark.parametrize("place", [OPENAI, RESPONSES, ANTHROPIC], ids=lambda place: place[0])
both_ways = pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streaming"])
Place = tuple[str, dict[str, str]]


def asking(session: aiohttp.ClientSession, provider: Provider, place: Place, streaming: bool = False) -> Any:
    path, headers = place
    return session.post(provider.url + path, headers=headers, json={**BODIES[path], "stream": streaming})


async def answered_by(session: aiohttp.ClientSession, provider: Provider, place: Place, streaming: bool) -> bytes:
    async with asking(session, provider, place, streaming) as answer:
        body: bytes = await answer.read()
    return body


@asynccontextmanager
async def answered(reply: Reply, place: Place, streaming: bool = False) -> AsyncIterator[aiohttp.ClientResponse]:
    async with (
        playing(reply) as provider,
        aiohttp.ClientSession() as session,
        asking(session, provider, place, streaming) as answer,
    ):
        yield answer


KINDS = {
    "bad-request": (400, "invalid_request_error", 400, "invalid_request_error"),
    "context-overflow": (400, "context_length_exceeded", 400, "invalid_request_error"),
    "content-policy": (400, "content_policy_violation", 400, "invalid_request_error"),
    "unauthorized": (401, "invalid_api_key", 401, "authentication_error"),
    "forbidden": (403, "invalid_request_error", 403, "permission_error"),
    "not-found": (404, "model_not_found", 404, "not_found_error"),
    "timeout": (408, "server_error", 408, "timeout_error"),
    "too-large": (413, "invalid_request_error", 413, "request_too_large"),
    "unprocessable": (422, "invalid_request_error", 422, "invalid_request_error"),
    "rate-limit": (429, "rate_limit_exceeded", 429, "rate_limit_error"),
    "quota": (429, "insufficient_quota", 400, "invalid_request_error"),
    "server-error": (500, "server_error", 500, "api_error"),
    "bad-gateway": (502, "server_error", 502, "api_error"),
    "unavailable": (503, "server_error", 503, "api_error"),
    "overloaded": (503, "server_error", 529, "overloaded_error"),
}


def test_every_kind_of_error_is_in_the_table() -> None:
    assert set(KINDS) == {kind.value for kind in ErrorKind}


@both_ways
@pytest.mark.parametrize("kind", KINDS)
async def test_errors_come_out_of_the_clients_with_the_vendors_status_and_type(kind: str, streaming: bool) -> None:
    import anthropic
    import openai

    status, code, anthropic_status, anthropic_type = KINDS[kind]
    more: Any = {"model": "m", "messages": [{"role": "user", "content": "hello"}], "stream": streaming}
    async with playing(failing(kind)) as provider:
        async with openai.AsyncOpenAI(api_key="k", base_url=f"{provider.url}/v1", max_retries=0) as client:
            with pytest.raises(openai.APIStatusError) as caught:
                await client.chat.completions.create(**more)
            assert (caught.value.status_code, caught.value.code or caught.value.type) == (status, code)
        async with anthropic.AsyncAnthropic(api_key="k", base_url=provider.url, max_retries=0) as other:
            with pytest.raises(anthropic.APIStatusError) as refused:
                await other.messages.create(max_tokens=9, **more)
    body: Any = refused.value.body
    assert (refused.value.status_code, body["error"]["type"]) == (anthropic_status, anthropic_type)


@pytest.mark.parametrize(
    ("form", "header", "text"),
    [(RetryAfter.SECONDS, "retry-after", "0.25"), (RetryAfter.MILLISECONDS, "retry-after-ms", "250")],
)
async def test_the_wait_is_asked_for_in_the_chosen_header(form: RetryAfter, header: str, text: str) -> None:
    failure = Failure(kind=ErrorKind.RATE_LIMIT, retry_after=0.25, retry_after_form=form, message="Slow down.")
    async with answered(Reply(error=failure), OPENAI) as answer:
        assert (answer.status, answer.headers[header]) == (429, text)
        assert (await answer.json())["error"]["message"] == "Slow down."


async def test_the_vendors_own_retries_keep_the_wait() -> None:
    import openai

    replies = (failing("rate-limit", retry_after=0.2), failing("overloaded", retry_after=0.2), Reply(text="hi"))
    async with playing(*replies) as provider:
        async with openai.AsyncOpenAI(api_key="k", base_url=f"{provider.url}/v1", max_retries=2) as client:
            await client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hello"}])
        times = [request.seconds for request in provider.requests]
    assert len(times) == 3
    assert min(times[1] - times[0], times[2] - times[1]) >= 0.2


async def test_litellms_own_retries_keep_the_wait() -> None:
    from harness.models.price_table import load_litellm

    replies = (failing("rate-limit", retry_after=0.2), failing("rate-limit", retry_after=0.2), Reply(text="hi"))
    async with playing(*replies) as provider:
        answer = await load_litellm().acompletion(
            model="openai/m",
            messages=[{"role": "user", "content": "hello"}],
            api_base=f"{provider.url}/v1",
            api_key="k",
            max_retries=2,
        )
        times = [request.seconds for request in provider.requests]
    assert answer.choices[0].message.content == "hi"
    assert len(times) == 3
    assert min(times[1] - times[0], times[2] - times[1]) >= 0.2


@everywhere
@both_ways
async def test_a_connection_can_end_before_the_first_byte(place: Place, streaming: bool) -> None:
    async with playing(Reply(text=TEXT, fault=ScriptedFault.DROP)) as provider, aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.ServerDisconnectedError):
            await asking(session, provider, place, streaming)


@everywhere
@both_ways
async def test_a_connection_can_end_in_the_middle(place: Place, streaming: bool) -> None:
    async with answered(Reply(text=TEXT, fault=ScriptedFault.DROP_MIDWAY), place, streaming) as answer:
        assert answer.status == 200
        with pytest.raises(aiohttp.ClientPayloadError):
            await answer.read()


@everywhere
@both_ways
async def test_a_provider_can_say_nothing_until_the_client_leaves(place: Place, streaming: bool) -> None:
    arrived = asyncio.Event()
    script = Scenario(rules=(ReplyRule(replies=(Reply(text=TEXT, fault=ScriptedFault.HANG),)),))
    async with (
        serve(script, observe=lambda *_: arrived.set()) as provider,
        aiohttp.ClientSession() as session,
        asyncio.TaskGroup() as group,
    ):
        asked = group.create_task(answered_by(session, provider, place, streaming))
        await arrived.wait()
        done, _ = await asyncio.wait({asked}, timeout=0.1)
        assert not done
        asked.cancel()


@everywhere
@both_ways
async def test_a_provider_can_stop_in_the_middle_and_hold_the_line(place: Place, streaming: bool) -> None:
    async with answered(Reply(text=TEXT, fault=ScriptedFault.STALL), place, streaming) as answer:
        assert await answer.content.readany()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(answer.read(), 0.1)


async def test_a_hanging_request_does_not_keep_the_server_from_ending() -> None:
    arrived = asyncio.Event()
    script = Scenario(rules=(ReplyRule(replies=(Reply(fault=ScriptedFault.HANG),)),))
    async with aiohttp.ClientSession() as session, asyncio.timeout(30):
        async with serve(script, observe=lambda *_: arrived.set()) as provider:
            asked = asyncio.create_task(answered_by(session, provider, OPENAI, False))
            await arrived.wait()
        with pytest.raises(aiohttp.ServerDisconnectedError):
            await asked


@everywhere
@both_ways
@pytest.mark.parametrize(
    "fault", [ScriptedFault.TRUNCATED, ScriptedFault.NOT_JSON, ScriptedFault.WRONG_SHAPE, ScriptedFault.HTML]
)
async def test_garbage_comes_with_status_200_and_ends_well(
    fault: ScriptedFault, place: Place, streaming: bool
) -> None:
    async with answered(Reply(text=TEXT, fault=fault), place, streaming) as answer:
        assert answer.status == 200
        text = await answer.text()
    last = text.rstrip().splitlines()[-1].removeprefix("data: ")
    if fault is ScriptedFault.WRONG_SHAPE:
        assert json.loads(last)["result"] == "ok"
    else:
        with pytest.raises(json.JSONDecodeError):
            json.loads(last)
    assert ("<html>" in text) == (answer.content_type == "text/html") == (fault is ScriptedFault.HTML)


@both_ways
async def test_a_body_of_ones_own_is_sent_as_it_is(streaming: bool) -> None:
    async with answered(Reply(body='{"choices": []}'), OPENAI, streaming) as answer:
        assert await answer.text() == '{"choices": []}'


@everywhere
@both_ways
async def test_a_slow_answer_is_late_and_then_comes_in_pieces(place: Place, streaming: bool) -> None:
    reply = Reply(text=TEXT, delay_seconds=0.1, chunk_delay_seconds=0.03)
    async with playing(reply) as provider, aiohttp.ClientSession() as session:
        began = time.monotonic()
        async with asking(session, provider, place, streaming) as answer:
            headers_after = time.monotonic() - began
            await answer.read()
            all_after = time.monotonic() - began
    assert headers_after >= 0.1
    assert all_after - headers_after >= 0.06


def test_a_date_to_wait_for_is_counted_from_the_answers_own_date() -> None:
    headers = {"Date": "Fri, 01 Jan 2021 10:00:00 GMT", "Retry-After": "Fri, 01 Jan 2021 10:00:07 GMT"}
    assert wait_asked_for(headers) == 7, "our clock may be a day off"
    assert wait_asked_for({"Retry-After": headers["Retry-After"]}) == 0
    assert wait_asked_for({**headers, "Retry-After": "soon"}) is None
