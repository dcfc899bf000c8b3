"""Any provider through litellm, against a real HTTP server."""

import json
import socket
import subprocess
import sys

import pytest

from harness.agents.actions import BASH
from harness.llm.litellm_model import LiteLLMModel, ModelSettings, Retries
from harness.llm.openai_format import message_json
from harness.llm.protocol import Completion, Message, Role, StopReason, ToolCall
from harness.specs.errors import ProviderError
from harness.specs.usage import Usage
from tests.support.chat_server import ChatServer, Reply, answer, failure, serve

KEY = "sk-honeytoken-0123456789"
CONVERSATION = [Message(role=Role.SYSTEM, content="be brief"), Message(role=Role.USER, content="hello")]


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


async def ask(server: ChatServer, name: str = "openai/unheard-of", attempts: int = 3) -> Completion:
    retries = Retries(attempts=attempts, first_wait=0, longest_wait=0)
    return await LiteLLMModel(name, ModelSettings(api_base=server.url), retries).complete(CONVERSATION, [BASH])


async def test_an_answer_comes_with_all_of_its_tokens() -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 30,
        "total_tokens": 130,
        "prompt_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 16},
        "completion_tokens_details": {"reasoning_tokens": 12},
    }
    with serve(answer({"content": "hi"}, usage)) as server:
        completion = await ask(server)
    assert completion.message == Message(role=Role.ASSISTANT, content="hi")
    assert completion.stop is StopReason.END
    assert completion.usage == Usage(
        calls=1, input=100, output=30, reasoning=12, cache_read=64, cache_write=16, cost_usd=None
    )
    assert server.requests[0]["messages"] == [message_json(message) for message in CONVERSATION]
    assert server.requests[0]["tools"][0]["function"]["name"] == "bash"
    assert set(server.requests[0]) == {"model", "messages", "tools"}


async def test_tool_calls_arrive_with_their_arguments_unparsed() -> None:
    calls = [
        {"id": f"id-{n}", "type": "function", "function": {"name": "bash", "arguments": arguments}}
        for n, arguments in enumerate(['{"command": "ls"}', "{broken"])
    ]
    with serve(answer({"content": None, "tool_calls": calls}, finish="tool_calls")) as server:
        completion = await ask(server)
    assert completion.stop is StopReason.TOOL_CALLS
    assert completion.message.tool_calls == (
        ToolCall(id="id-0", name="bash", arguments='{"command": "ls"}'),
        ToolCall(id="id-1", name="bash", arguments="{broken"),
    )


@pytest.mark.parametrize(("finish", "stop"), [("length", StopReason.LENGTH), ("content_filter", StopReason.REFUSAL)])
async def test_an_answer_that_was_cut_or_refused_says_so(finish: str, stop: StopReason) -> None:
    with serve(answer({"content": "I"}, finish=finish)) as server:
        assert (await ask(server)).stop is stop


async def test_half_a_surrogate_pair_becomes_text_that_fits_into_a_file() -> None:
    with serve(answer({"content": "a\ud800b"})) as server:
        assert (await ask(server)).message.content == "a?b"


async def test_the_providers_own_cost_wins_over_the_price_table() -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 1000, "total_tokens": 2000}
    with serve(answer({"content": "hi"}, {**usage, "cost": 0.125}), answer({"content": "hi"}, usage)) as server:
        said = await ask(server, "openai/gpt-4o-mini")
        computed = await ask(server, "openai/gpt-4o-mini")
    assert said.usage.cost_usd == 0.125
    assert computed.usage.cost_usd is not None
    assert 0 < computed.usage.cost_usd < 0.01


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503])
async def test_a_busy_or_broken_provider_is_asked_again(status: int) -> None:
    with serve(failure(status, "later"), answer({"content": "hi"})) as server:
        completion = await ask(server)
    assert completion.message.content == "hi"
    assert len(server.requests) == 2


async def test_attempts_are_counted_and_then_the_trouble_is_told_in_one_line() -> None:
    with serve(failure(429, "slow\ndown\x1b[31m")) as server, pytest.raises(ProviderError) as caught:
        await ask(server, attempts=3)
    assert len(server.requests) == 3
    assert str(caught.value).startswith("openai/unheard-of: RateLimitError: ")
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, None),
        (400, "context_length_exceeded"),
        (400, "content_policy_violation"),
        (401, None),
        (403, None),
        (404, None),
        (422, None),
    ],
)
async def test_what_no_repetition_cures_is_not_repeated(status: int, code: str | None) -> None:
    with serve(failure(status, f"no: {code}", code)) as server, pytest.raises(ProviderError):
        await ask(server)
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 500])
async def test_a_key_that_the_provider_repeats_is_not_passed_on(status: int) -> None:
    with (
        serve(failure(status, f"Incorrect API key provided: {KEY}")) as server,
        pytest.raises(ProviderError) as caught,
    ):
        await ask(server, attempts=1)
    assert "honeytoken" not in str(caught.value)


@pytest.mark.parametrize(
    "body", [b"", b"not json", b"[]", b"{}", b'{"choices": []}', b'{"choices": [{"message": null}]}']
)
async def test_an_answer_that_is_no_completion_is_asked_for_again_and_then_given_up(body: bytes) -> None:
    with serve(Reply(200, body)) as server, pytest.raises(ProviderError, match=r"^openai/unheard-of: "):
        await ask(server, attempts=2)
    assert len(server.requests) == 2


async def test_a_provider_that_cannot_be_reached_is_an_error_of_its_class() -> None:
    with serve(answer({"content": "hi"})) as server:
        pass
    with pytest.raises(ProviderError):
        await ask(server, attempts=2)


async def test_a_provider_that_says_nothing_is_given_up_after_the_timeout() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings = ModelSettings(api_base=f"http://127.0.0.1:{silent.getsockname()[1]}/v1", timeout_seconds=0.05)
        model = LiteLLMModel("openai/unheard-of", settings, Retries(attempts=2, first_wait=0, longest_wait=0))
        with pytest.raises(ProviderError, match="openai/unheard-of: Timeout: "):
            await model.complete(CONVERSATION, [])


def test_a_tools_answer_names_its_call() -> None:
    sent = message_json(Message(role=Role.TOOL, content="out", tool_call_id="id-0"))
    assert sent == {"role": "tool", "content": "out", "tool_call_id": "id-0"}


def test_malformed_parts_of_a_conversation_are_sent_well_formed() -> None:
    calls = tuple(ToolCall(id=f"c{n}", name="bash", arguments=text) for n, text in enumerate(['{"a": 1}', "{", "[]"]))
    sent = message_json(Message(role=Role.ASSISTANT, tool_calls=calls))
    arguments = [json.loads(call["function"]["arguments"]) for call in sent["tool_calls"]]
    assert arguments == [{"a": 1}, {"malformed": "{"}, {"malformed": "[]"}]
    assert message_json(Message(role=Role.ASSISTANT))["content"]


def test_nothing_imports_litellm_before_the_first_call() -> None:
    program = "import sys, harness.llm.build as b; b.build_model('openai/x'); sys.exit('litellm' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
