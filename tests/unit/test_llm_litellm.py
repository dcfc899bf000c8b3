"""Any provider through litellm, against a real HTTP server."""

import json
import os
import subprocess
import sys

import pytest

from harness.agents.actions import BASH
from harness.models.litellm_model import LiteLLMModel
from harness.models.openai_format import message_json
from harness.models.protocol import Completion, FailedRequest, Message, MessageRole, StopReason, ToolCall
from harness.models.rate_limits import RateLimiter
from harness.plugins.scripted_provider.scenario import Call, Stop
from harness.specs.errors import ProviderError, ProviderFault
from harness.specs.model_file import ModelFile
from harness.specs.usage import Usage
from tests.support.models import KEY, model_at
from tests.support.provider import Provider, Reply, Tokens, failing, playing

CONVERSATION = [Message(role=MessageRole.SYSTEM, content="be brief"), Message(role=MessageRole.USER, content="hello")]


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


async def ask(provider: Provider, name: str = "openai/unheard-of", attempts: int = 3) -> Completion:
    return await model_at(provider, name, attempts).complete(CONVERSATION, [BASH])


async def test_an_answer_comes_with_all_of_its_tokens() -> None:
    tokens = Tokens(input=100, output=30, reasoning=12, cache_read=64, cache_write=16)
    async with playing(Reply(text="hi", usage=tokens)) as provider:
        completion = await ask(provider)
    assert completion.message == Message(role=MessageRole.ASSISTANT, content="hi")
    assert completion.stop is StopReason.END
    assert completion.usage == Usage(
        calls=1, input=100, output=30, reasoning=12, cache_read=64, cache_write=16, cost_usd=None
    )
    body = provider.requests[0].body
    assert body["messages"] == [message_json(message) for message in CONVERSATION]
    assert body["tools"][0]["function"]["name"] == "bash"
    assert set(body) == {"model", "messages", "tools"}


async def test_tool_calls_arrive_with_their_arguments_unparsed() -> None:
    texts = ['{"command": "ls"}', "{broken"]
    calls = tuple(Call(name="bash", arguments=text) for text in texts)
    async with playing(Reply(tool_calls=calls)) as provider:
        completion = await ask(provider)
    assert completion.stop is StopReason.TOOL_CALLS
    assert completion.message.tool_calls == tuple(
        ToolCall(id=f"call_0001_{number}", name="bash", arguments=text) for number, text in enumerate(texts)
    )


@pytest.mark.parametrize(
    ("said", "stop"),
    [
        (Stop.LENGTH, StopReason.LENGTH),
        (Stop.FILTERED, StopReason.REFUSAL),
    ],
)
async def test_an_answer_that_was_cut_or_refused_says_so(said: Stop, stop: StopReason) -> None:
    async with playing(Reply(text="I", stop=said)) as provider:
        assert (await ask(provider)).stop is stop


async def test_half_a_surrogate_pair_becomes_text_that_fits_into_a_file() -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": "a\ud800b"}, "finish_reason": "stop"}
    body = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    async with playing(Reply(body=json.dumps(body))) as provider:
        assert (await ask(provider)).message.content == "a\ufffdb"


async def test_the_providers_own_cost_wins_over_the_price_table() -> None:
    tokens = Tokens(input=1000, output=1000)
    told = tokens.model_copy(update={"cost_usd": 0.125})
    async with playing(Reply(text="hi", usage=told), Reply(text="hi", usage=tokens)) as provider:
        said = await ask(provider, "openai/gpt-4o-mini")
        computed = await ask(provider, "openai/gpt-4o-mini")
    assert said.usage.cost_usd == 0.125
    assert computed.usage.cost_usd is not None
    assert 0 < computed.usage.cost_usd < 0.01


async def test_attempts_are_counted_and_then_the_trouble_is_told_in_one_line() -> None:
    async with playing(failing("rate-limit", "slow\ndown\x1b[31m")) as provider:
        with pytest.raises(ProviderError) as caught:
            await ask(provider, attempts=3)
    assert len(provider.requests) == 3
    assert str(caught.value).startswith("openai/unheard-of: rate-limit: RateLimitError: ")
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("kind", ["bad-request", "unauthorized", "forbidden", "server-error"])
async def test_a_key_that_the_provider_repeats_is_not_passed_on(kind: str) -> None:
    async with playing(failing(kind, f"Incorrect API key provided: {KEY}")) as provider:
        with pytest.raises(ProviderError) as caught:
            await ask(provider, attempts=1)
    assert "honeytoken" not in str(caught.value)


@pytest.mark.parametrize("body", ["", "not json", "[]", "{}", '{"choices": []}', '{"choices": [{"message": null}]}'])
async def test_an_answer_that_is_no_completion_is_asked_for_again_and_then_given_up(body: str) -> None:
    async with playing(Reply(body=body)) as provider:
        with pytest.raises(ProviderError, match=r"^openai/unheard-of: "):
            await ask(provider, attempts=2)
    assert len(provider.requests) == 2


async def test_a_provider_that_cannot_be_reached_is_an_error_of_its_class() -> None:
    async with playing(Reply(text="hi")) as provider:
        pass
    with pytest.raises(ProviderError):
        await ask(provider, attempts=2)


def test_a_tools_answer_names_its_call() -> None:
    sent = message_json(Message(role=MessageRole.TOOL, content="out", tool_call_id="id-0"))
    assert sent == {"role": "tool", "content": "out", "tool_call_id": "id-0"}


def test_malformed_parts_of_a_conversation_are_sent_well_formed() -> None:
    calls = tuple(ToolCall(id=f"c{n}", name="bash", arguments=text) for n, text in enumerate(['{"a": 1}', "{", "[]"]))
    sent = message_json(Message(role=MessageRole.ASSISTANT, tool_calls=calls))
    arguments = [json.loads(call["function"]["arguments"]) for call in sent["tool_calls"]]
    assert arguments == [{"a": 1}, {"malformed": "{"}, {"malformed": "[]"}]
    assert message_json(Message(role=MessageRole.ASSISTANT))["content"]


def test_nothing_imports_litellm_before_the_first_call() -> None:
    program = """
import sys
from harness.models.build import Models
from harness.specs.catalog import Catalog
Models(Catalog()).build("openai/x")
sys.exit("litellm" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.long
def test_what_both_vendors_clients_share_is_imported_in_one_thread() -> None:
    # In two, as at the first calls of two models at once, one of them sees it half made.
    program = """if True:
        import sys
        from harness.models.price_table import load_litellm
        load_litellm()
        sys.exit(not {"anthropic", "openai"} <= set(sys.modules))
    """
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("openai/unheard-of", "OPENAI_API_KEY"),
        ("gemini/unheard-of", "GEMINI_API_KEY"),
        ("azure/unheard-of", "AZURE_OPENAI_API_KEY"),
        ("fireworks_ai/unheard-of", "FIREWORKS_API_KEY"),
    ],
)
async def test_a_missing_key_is_said_at_once_and_nothing_is_repeated(
    monkeypatch: pytest.MonkeyPatch, name: str, variable: str
) -> None:
    for known in [key for key in os.environ if key.endswith(("_KEY", "_TOKEN"))]:
        monkeypatch.delenv(known)
    failed: list[FailedRequest] = []
    async with playing(Reply(text="hi")) as provider:
        file = ModelFile(model=name, api_base=f"{provider.url}/v1")
        model = LiteLLMModel(name, file, None, RateLimiter(file.limits), failed.append)
        with pytest.raises(ProviderError, match=f"^{name}: auth: there is no key: .*{variable}") as caught:
            await model.complete(CONVERSATION, [BASH])
    assert (caught.value.fault, caught.value.requests) == (ProviderFault.AUTH, 1)
    assert [(item.fault, item.retry_in) for item in failed] == [(ProviderFault.AUTH, None)]
    assert provider.requests == []
