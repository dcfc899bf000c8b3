"""What only Anthropic's own client does."""

import json
import subprocess
import sys

import pytest

from harness.agents.actions import BASH
from harness.models.anthropic_model import AnthropicModel
from harness.models.protocol import Message, MessageRole
from harness.models.rate_limits import RateLimiter
from harness.specs.errors import ProviderError, ProviderFault
from harness.specs.model_file import ModelFile
from tests.support.models import ANTHROPIC, CONVERSATION, ask, model_at
from tests.support.provider import Reply, Tokens, playing

pytestmark = pytest.mark.usefixtures("few_roots")

HI = Reply(text="hi")


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


async def test_thinking_goes_back_as_it_came_and_survives_the_trajectory() -> None:
    async with playing(Reply(thinking="hm", commands=("ls",)), HI) as provider:
        model = model_at(provider, ANTHROPIC)
        called = (await model.complete(CONVERSATION, [BASH])).message
        kept = Message.model_validate_json(called.model_dump_json())
        answer = Message(role=MessageRole.TOOL, content="x", tool_call_id=called.tool_calls[0].id)
        await model.complete([*CONVERSATION, kept, answer], [BASH])
    block = provider.requests[1].body["messages"][1]["content"][0]
    assert (block["type"], block["thinking"]) == ("thinking", "hm")
    assert block["signature"]
    assert called.content == ""


async def test_effort_is_sent_and_a_model_that_can_is_let_think() -> None:
    async with playing(HI) as provider:
        await ask(provider, ANTHROPIC, effort="high")
        await ask(provider, "anthropic/claude-opus-4-6", effort="low")
        await ask(provider, ANTHROPIC)
    unknown, thinker, plain = (request.body for request in provider.requests)
    assert (unknown["output_config"], "thinking" in unknown) == ({"effort": "high"}, False)
    assert (thinker["output_config"], thinker["thinking"]) == ({"effort": "low"}, {"type": "adaptive"})
    assert not {"output_config", "thinking", "temperature"} & set(plain)


async def test_the_table_prices_cached_tokens_apart() -> None:
    tokens = Tokens(input=10_000, output=1_000, cache_read=6_000, cache_write=2_000)
    async with playing(Reply(text="hi", usage=tokens)) as provider:
        usage = (await ask(provider, "anthropic/claude-sonnet-4-5")).usage
    # By hand, USD per million: 3 for input, 0.30 read, 3.75 written, 15 for output.
    assert usage.cost_usd == pytest.approx((2_000 * 3 + 6_000 * 0.3 + 2_000 * 3.75 + 1_000 * 15) / 1_000_000)
    assert [by.startswith("litellm 1.") for by in usage.priced_by] == [True]


async def test_a_missing_key_is_said_before_any_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    async with playing(HI) as provider:
        file = ModelFile(model=ANTHROPIC, api_base=provider.url)
        with pytest.raises(ProviderError, match="auth: there is no key: ") as caught:
            await AnthropicModel(ANTHROPIC, file, None, RateLimiter(file.limits)).complete(CONVERSATION, [])
    assert caught.value.fault is ProviderFault.AUTH
    assert provider.requests == []


async def test_tool_results_stand_together_in_one_message() -> None:
    async with playing(Reply(commands=("a", "b")), HI) as provider:
        model = model_at(provider, ANTHROPIC)
        called = (await model.complete(CONVERSATION, [BASH])).message
        results = [Message(role=MessageRole.TOOL, content="", tool_call_id=call.id) for call in called.tool_calls]
        await model.complete([*CONVERSATION, called, *results], [BASH])
    last = provider.requests[1].body["messages"][-1]
    assert [part["type"] for part in last["content"]] == ["tool_result", "tool_result"]
    assert json.dumps(last).count("(empty)") == 2


def test_nothing_imports_the_client_before_the_first_call() -> None:
    program = """
import sys
from harness.models.build import Models
from harness.specs.catalog import Catalog
Models(Catalog()).build("anthropic/x")
sys.exit("anthropic" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
