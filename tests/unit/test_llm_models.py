"""What every model of a provider does alike, through litellm and through Anthropic's own client."""

import asyncio
import socket

import pytest

from harness.agents.actions import BASH
from harness.models.protocol import Message, MessageRole, StopReason, ToolCall
from harness.plugins.scripted_provider.scenario import RetryAfter, ScriptedFault, Stop
from harness.specs.errors import ProviderError, ProviderFault
from harness.specs.usage import NO_USAGE, Usage
from tests.support.models import ANTHROPIC, CONVERSATION, KEY, OPENAI, ask, model_at
from tests.support.provider import ErrorKind, Provider, Reply, Tokens, failing, playing

pytestmark = [pytest.mark.usefixtures("few_roots"), pytest.mark.parametrize("name", [OPENAI, ANTHROPIC])]
HI = Reply(text="hi")
TOKENS = Tokens(input=100, output=30, reasoning=12, cache_read=64, cache_write=16)
PRICES = {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75}
LONG = 120
"""Seconds after which a wait that must not be has surely begun."""
COST = (20 * 3 + 64 * 0.3 + 16 * 3.75 + 30 * 15) / 1_000_000


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", KEY)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


async def test_an_answer_comes_with_all_of_its_tokens_and_an_unknown_price_is_no_zero(name: str) -> None:
    async with playing(Reply(text="hi", usage=TOKENS)) as provider:
        completion = await ask(provider, name)
    assert (completion.message.content, completion.stop) == ("hi", StopReason.END)
    assert completion.usage == Usage(
        calls=1, input=100, output=30, reasoning=12, cache_read=64, cache_write=16, cost_usd=None
    )


async def test_the_model_files_prices_make_the_cost(name: str) -> None:
    async with playing(Reply(text="hi", usage=TOKENS)) as provider:
        usage = (await ask(provider, name, prices=PRICES)).usage
    assert usage.cost_usd == pytest.approx(COST)
    assert usage.priced_by == ("model file",)


async def test_an_answer_without_a_count_has_no_known_cost(name: str) -> None:
    async with playing(Reply(text="hi", usage=None)) as provider:
        usage = (await ask(provider, name, prices=PRICES)).usage
    assert (usage.calls, usage.cost_usd) == (1, None)


async def test_parallel_tool_calls_arrive_and_are_answered_side_by_side(name: str) -> None:
    async with playing(Reply(text="I look.", commands=("ls", "pwd")), HI) as provider:
        model = model_at(provider, name)
        called = await model.complete(CONVERSATION, [BASH])
        answers = [Message(role=MessageRole.TOOL, content=f"{n}", tool_call_id=call.id) for n, call in
                   enumerate(called.message.tool_calls)]  # fmt: skip
        await model.complete([*CONVERSATION, called.message, *answers], [BASH])
    assert called.stop is StopReason.TOOL_CALLS
    assert [(call.name, call.arguments) for call in called.message.tool_calls] == [
        ("bash", '{"command": "ls"}'),
        ("bash", '{"command": "pwd"}'),
    ]


@pytest.mark.parametrize(("stop", "found"), [(Stop.LENGTH, StopReason.LENGTH), (Stop.REFUSAL, StopReason.REFUSAL)])
async def test_an_answer_that_was_cut_or_refused_says_so_and_is_paid(
    name: str, stop: Stop, found: StopReason
) -> None:
    async with playing(Reply(text="I", stop=stop, usage=TOKENS)) as provider:
        completion = await ask(provider, name, prices=PRICES)
    assert (completion.stop, completion.message.content) == (found, "I")
    assert completion.usage.cost_usd == pytest.approx(COST)


NOT_RETRYABLE = {
    ErrorKind.BAD_REQUEST: ProviderFault.BAD_REQUEST,
    ErrorKind.UNPROCESSABLE: ProviderFault.BAD_REQUEST,
    ErrorKind.CONTEXT_OVERFLOW: ProviderFault.CONTEXT,
    ErrorKind.CONTENT_POLICY: ProviderFault.POLICY,
    ErrorKind.UNAUTHORIZED: ProviderFault.AUTH,
    ErrorKind.FORBIDDEN: ProviderFault.PERMISSION,
    ErrorKind.NOT_FOUND: ProviderFault.NOT_FOUND,
    ErrorKind.TOO_LARGE: ProviderFault.TOO_LARGE,
    ErrorKind.QUOTA: ProviderFault.QUOTA,
}
RETRYABLE = {
    ErrorKind.TIMEOUT: ProviderFault.TIMEOUT,
    ErrorKind.RATE_LIMIT: ProviderFault.RATE_LIMIT,
    ErrorKind.SERVER_ERROR: ProviderFault.SERVER,
    ErrorKind.BAD_GATEWAY: ProviderFault.SERVER,
    ErrorKind.UNAVAILABLE: ProviderFault.OVERLOADED,
    ErrorKind.OVERLOADED: ProviderFault.OVERLOADED,
}


@pytest.mark.parametrize("kind", NOT_RETRYABLE)
async def test_a_fault_that_is_not_retryable_is_asked_once(name: str, kind: ErrorKind) -> None:
    async with playing(failing(kind), HI) as provider:
        with pytest.raises(ProviderError) as caught:
            await ask(provider, name)
    assert caught.value.fault is NOT_RETRYABLE[kind]
    assert len(provider.requests) == 1


@pytest.mark.parametrize("kind", RETRYABLE)
async def test_a_retryable_fault_is_asked_again_as_often_as_the_model_file_says(name: str, kind: ErrorKind) -> None:
    async with playing(failing(kind), HI) as provider:
        assert (await ask(provider, name)).message.content == "hi"
        assert len(provider.requests) == 2
    async with playing(failing(kind, "no\nway\x1b[31m")) as provider:
        with pytest.raises(ProviderError, match=rf"^{name}: {RETRYABLE[kind]}: .*\(3 requests\)$") as caught:
            await ask(provider, name)
    assert caught.value.fault is RETRYABLE[kind]
    assert str(caught.value).isprintable()
    assert len(provider.requests) == 3


@pytest.mark.parametrize(
    "fault", [fault for fault in ScriptedFault if fault not in (ScriptedFault.HANG, ScriptedFault.STALL)]
)
async def test_an_answer_that_cannot_be_read_is_asked_for_again(name: str, fault: ScriptedFault) -> None:
    async with playing(Reply(text="hi", fault=fault), HI) as provider:
        assert (await ask(provider, name)).message.content == "hi"
    assert len(provider.requests) == 2


@pytest.mark.parametrize("form", RetryAfter)
async def test_the_wait_that_a_provider_asks_for_is_kept(name: str, form: RetryAfter) -> None:
    seconds = 1.2 if form is RetryAfter.DATE else 0.1
    busy = failing("rate-limit", retry_after=seconds)
    busy = busy.model_copy(update={"error": busy.error.model_copy(update={"retry_after_form": form})})
    async with playing(busy, HI) as provider:
        await ask(provider, name)
    first, second = (request.seconds for request in provider.requests)
    # A date has whole seconds only.
    assert second - first >= (0.05 if form is RetryAfter.DATE else 0.1)


async def test_a_wait_beyond_the_deadline_is_not_begun(name: str) -> None:
    async with playing(failing("rate-limit", retry_after=3600), HI) as provider, asyncio.timeout(LONG):
        with pytest.raises(ProviderError, match="asks to wait 3600 seconds, longer than the model's total"):
            await ask(provider, name, total_seconds=3000)
    assert len(provider.requests) == 1


async def test_waits_of_our_own_are_no_longer_than_the_model_file_says(name: str) -> None:
    retries = {"attempts": 3, "first_wait": 1000, "longest_wait": 0.05}
    async with playing(failing("server-error"), failing("server-error"), HI) as provider, asyncio.timeout(LONG):
        await ask(provider, name, retries=retries)


async def test_one_request_has_a_deadline_and_all_together_have_another(name: str) -> None:
    async with playing(HI) as provider:  # the first call of a process imports the client, which takes seconds
        await ask(provider, name)
    async with playing(Reply(text="hi", fault=ScriptedFault.HANG), HI) as provider:
        # As many attempts as it takes: on a busy machine an answer that is there at once can take so long as well.
        answer = await ask(provider, name, request_seconds=0.2, attempts=20)
        assert (answer.message.content, len(provider.requests) > 1) == ("hi", True)
    async with playing(Reply(text="hi", fault=ScriptedFault.HANG)) as provider:
        with pytest.raises(ProviderError, match=r"no answer within 3 seconds; before: .*0\.5 seconds") as caught:
            await ask(provider, name, request_seconds=0.5, total_seconds=3, attempts=20)
    assert caught.value.fault is ProviderFault.TIMEOUT
    assert caught.value.requests >= 2


async def test_replies_that_were_paid_for_nothing_are_counted_with_the_answer(name: str) -> None:
    for body in UNREADABLE[name]:
        async with playing(Reply(body=body), Reply(text="hi", usage=TOKENS)) as provider:
            usage = (await ask(provider, name, prices=PRICES)).paid
        assert (usage.calls, usage.input, usage.output) == (2, 107, 33), body
        assert usage.cost_usd == pytest.approx(COST + (7 * 3 + 3 * 15) / 1_000_000)


async def test_an_error_carries_what_was_paid_before_it(name: str) -> None:
    unreadable = Reply(body=UNREADABLE[name][0])
    async with playing(unreadable, unreadable, failing("unauthorized")) as provider:
        with pytest.raises(ProviderError) as caught:
            await ask(provider, name, prices=PRICES)
    assert (caught.value.usage.calls, caught.value.usage.input, caught.value.usage.output) == (2, 14, 6)
    assert caught.value.usage.cost_usd == pytest.approx(2 * (7 * 3 + 3 * 15) / 1_000_000)


async def test_a_garbled_page_without_a_count_costs_nothing(name: str) -> None:
    async with playing(Reply(text="hi", fault=ScriptedFault.HTML)) as provider:
        with pytest.raises(ProviderError) as caught:
            await ask(provider, name)
    assert (caught.value.fault, caught.value.usage) == (ProviderFault.MALFORMED, NO_USAGE)


@pytest.mark.parametrize("kind", ["bad-request", "unauthorized", "forbidden", "server-error"])
async def test_a_key_that_the_provider_repeats_is_not_passed_on(name: str, kind: str) -> None:
    async with playing(failing(kind, f"Incorrect API key provided: {KEY}")) as provider:
        with pytest.raises(ProviderError) as caught:
            await ask(provider, name)
    assert "honeytoken" not in str(caught.value)


async def test_a_provider_that_cannot_be_reached_is_a_fault_of_its_own(name: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        nobody = Provider(url=f"http://127.0.0.1:{free.getsockname()[1]}")
    with pytest.raises(ProviderError) as caught:
        await ask(nobody, name)
    assert caught.value.fault is ProviderFault.CONNECTION


async def test_a_model_file_without_tools_is_asked_for_text(name: str) -> None:
    async with playing(HI) as provider:
        await ask(provider, name)
        await model_at(provider, name, tools=False).complete(CONVERSATION, [BASH])
    assert ["tools" in request.body for request in provider.requests] == [True, False]


async def test_malformed_parts_of_a_conversation_are_sent_well_formed(name: str) -> None:
    calls = tuple(ToolCall(id=f"c{n}", name="bash", arguments=text) for n, text in enumerate(['{"a": 1}', "{", "[]"]))
    answers = [Message(role=MessageRole.TOOL, tool_call_id=call.id) for call in calls]
    said = [
        Message(role=MessageRole.ASSISTANT, tool_calls=calls),
        *answers,
        Message(role=MessageRole.ASSISTANT),
        Message(role=MessageRole.USER),
    ]
    async with playing(HI) as provider:
        assert (await ask(provider, name, [*CONVERSATION, *said])).message.content == "hi"


async def test_temperature_and_length_are_passed_on(name: str) -> None:
    async with playing(HI) as provider:
        await ask(provider, name, temperature=0.5, max_tokens=77)
    body = provider.requests[0].body
    assert (body["temperature"], body["max_tokens"], body["model"]) == (0.5, 77, "unheard-of")


COUNT = '"usage": {"prompt_tokens": 7, "completion_tokens": 3}'
UNREADABLE = {
    OPENAI: [f'{{"choices": [], {COUNT}}}', f'{{"choices": "none", {COUNT}}}', f'{{"choices": [{{}}], {COUNT}}}'],
    ANTHROPIC: ['{"content": null, "usage": {"input_tokens": 7, "output_tokens": 3}}'],
}
"""Answers that are paid and hold nothing."""
