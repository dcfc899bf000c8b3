"""Limits that all trials of a run keep together; a minute is a fraction of a second here."""

import asyncio
import time
from itertools import pairwise

import pytest

from harness.models.build import Models
from harness.models.protocol import Message, MessageRole
from harness.models.rate_limits import RateLimiter
from harness.specs.catalog import Catalog
from harness.specs.model_file import RateLimits
from tests.support.provider import Reply, playing

MINUTE = 0.3


async def begin(limiter: RateLimiter, *tokens: int) -> list[float]:
    """When each of several requests that come at once may be sent, in seconds since they came."""
    began, starts = time.monotonic(), []

    async def one(size: int) -> None:
        async with limiter.turn(size):
            starts.append(time.monotonic() - began)

    await asyncio.gather(*map(one, tokens))
    return starts


async def test_requests_beyond_the_limit_wait_until_the_minute_is_over() -> None:
    starts = await begin(RateLimiter(RateLimits(requests_per_minute=2), MINUTE), 1, 1, 1, 1, 1)
    assert starts[1] < MINUTE <= starts[2]
    assert starts[3] < 2 * MINUTE <= starts[4]


async def test_tokens_beyond_the_limit_wait_and_a_request_larger_than_it_goes_alone() -> None:
    starts = await begin(RateLimiter(RateLimits(tokens_per_minute=100), MINUTE), 60, 40, 500, 1)
    assert starts[1] < MINUTE <= starts[2]
    assert starts[3] >= 2 * MINUTE


async def test_tokens_count_as_the_provider_has_counted_them() -> None:
    limiter = RateLimiter(RateLimits(tokens_per_minute=100))
    async with limiter.turn(100) as turn:
        turn.tokens = 10
    assert (await begin(limiter, 80))[0] < 30


async def test_no_more_requests_are_under_way_than_the_limit_says() -> None:
    limiter = RateLimiter(RateLimits(concurrent_requests=2))
    under_way, most, gate = 0, 0, asyncio.Event()

    async def one() -> None:
        nonlocal under_way, most
        async with limiter.turn(1):
            under_way += 1
            most = max(most, under_way)
            if under_way == 2:
                gate.set()
            async with asyncio.timeout(5):
                await gate.wait()
            under_way -= 1

    await asyncio.gather(*(one() for _ in range(6)))
    assert most == 2


async def test_trials_of_a_run_keep_a_models_limits_together(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    async with playing(Reply(text="hi", delay_seconds=0.05)) as provider:
        file = tmp_path / "m.yaml"
        file.write_text(f"model: openai/x\napi_base: {provider.url}/v1\nlimits: {{concurrent_requests: 1}}\n")
        models = Models(Catalog())
        message = Message(role=MessageRole.USER, content="hello")
        await asyncio.gather(*(models.build(str(file)).complete([message], []) for _ in range(3)))
    seconds = [request.seconds for request in provider.requests]
    assert min(later - earlier for earlier, later in pairwise(seconds)) >= 0.05


async def test_the_queue_of_the_limits_is_not_the_models_deadline(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    async with playing(Reply(text="hi", delay_seconds=0.3)) as provider:
        file = tmp_path / "m.yaml"
        file.write_text(
            f"model: openai/x\napi_base: {provider.url}/v1\ntotal_seconds: 1\nlimits: {{concurrent_requests: 1}}\n"
        )
        models = Models(Catalog())
        message = Message(role=MessageRole.USER, content="hello")
        answers = await asyncio.gather(*(models.build(str(file)).complete([message], []) for _ in range(4)))
    assert len(answers) == 4
