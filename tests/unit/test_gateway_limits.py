"""Limits, money and outages at the gateway: what ends a trial, and whose end it is."""

import asyncio

import aiohttp
import pytest

from harness.models.allowance import AllowanceExhausted, Limit, Spending
from harness.models.gateway import access
from harness.models.gateway.dialects.protocol import DialectName
from harness.models.protocol import Message, MessageRole
from harness.plugins.scripted_provider.scenario import Reply, ReplyRule, Scenario, ScriptedFault, Tokens
from harness.plugins.scripted_provider.server import serve
from harness.specs.errors import BudgetExhausted, ProviderError, ProviderFault
from harness.specs.task import TaskLimits
from tests.support.clocks import ManualClock
from tests.support.gateways import ANTHROPIC, KEY, NATIVE, OPENAI, Trial, asking, opened, send
from tests.support.provider import failing, playing

HELLO = Message(role=MessageRole.USER, content="hello")
TWO_STEPS = TaskLimits(steps=2, wall_seconds=100, cost_usd=1)


async def hello(trial: Trial, dialect: DialectName = DialectName.CHAT, streaming: bool = False) -> int:
    return (await send(trial, dialect, asking(dialect, HELLO), streaming)).status


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streaming"])
@pytest.mark.parametrize("dialect", DialectName)
async def test_the_step_after_the_last_is_refused_and_ends_the_trial(dialect: DialectName, streaming: bool) -> None:
    async with playing(Reply(text="hi")) as provider, opened(provider, NATIVE[dialect], TWO_STEPS) as trial:
        ended = asyncio.create_task(trial.access.ended())
        for _ in range(2):
            assert await hello(trial, dialect, streaming) == 200
        assert not ended.done()
        for _ in range(2):
            got = await send(trial, dialect, asking(dialect, HELLO), streaming)
            assert (got.status, got.headers["x-should-retry"]) == (400, "false")
            assert "the trial is over: its limit of 2 steps" in got.json["error"]["message"]
        with pytest.raises(AllowanceExhausted, match="its limit of 2 steps") as caught:
            await ended
        assert (caught.value.limit, len(provider.requests)) == (Limit.STEPS, 2)


async def test_money_that_is_spent_ends_the_trial() -> None:
    dear = Reply(text="hi", usage=Tokens(input=50_000, output=6_000))
    async with playing(dear) as provider, opened(provider, OPENAI, TWO_STEPS) as trial:
        assert [await hello(trial), await hello(trial)] == [200, 400]
        with pytest.raises(AllowanceExhausted, match=r"its limit of \$1; \$1.1000 are spent"):
            await trial.access.ended()
    assert trial.allowance.spending.usage.priced_by == ("model file",)


async def test_time_that_is_used_up_ends_the_trial() -> None:
    clock = ManualClock()
    async with playing(Reply(text="hi")) as provider, opened(provider, OPENAI, TWO_STEPS, clock=clock) as trial:
        assert await hello(trial) == 200
        clock.seconds += 101
        assert await hello(trial) == 400
        with pytest.raises(AllowanceExhausted, match="its limit of 100 seconds"):
            await trial.access.ended()


async def test_the_runs_money_ends_it_as_nobodys_limit() -> None:
    run = Spending(limit=0.001)
    async with playing(Reply(text="hi")) as provider, opened(provider, OPENAI, within=run) as trial:
        assert [await hello(trial), await hello(trial)] == [200, 400]
        with pytest.raises(BudgetExhausted):
            await trial.access.ended()
    assert run.usage == trial.allowance.spending.usage


async def test_the_call_under_way_at_the_end_of_a_trial_is_waited_for_and_paid() -> None:
    arrived = asyncio.Event()

    def slow(_: object) -> Reply:
        arrived.set()
        return Reply(text="hi", delay_seconds=0.3)

    async with serve(slow) as provider, opened(provider, OPENAI) as trial:
        asked = asyncio.create_task(hello(trial))
        await arrived.wait()
    assert await asked == 200
    assert (trial.allowance.steps, len(trial.answers)) == (1, 1)
    assert trial.summary.dialects == {"chat": 1}


async def test_a_call_that_is_given_up_at_the_end_is_charged_by_an_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    """An unknown cost would keep the run from its cap for good."""
    monkeypatch.setattr(access, "DRAIN_SECONDS", 0.0)
    arrived, run = asyncio.Event(), Spending(limit=5)

    def silent(_: object) -> Reply:
        arrived.set()
        return Reply(text="hi", delay_seconds=30)

    async with serve(silent) as provider, opened(provider, OPENAI, within=run) as trial:
        body = {
            **asking(DialectName.CHAT, Message(role=MessageRole.USER, content="hello " * 1000)),
            "max_tokens": 700,
        }
        asked = asyncio.create_task(send(trial, DialectName.CHAT, body))
        await arrived.wait()
    asked.cancel()
    usage = trial.allowance.spending.usage
    assert (usage.calls, usage.output, usage.priced_by) == (1, 700, ("model file",))
    assert 1500 < usage.input < 1700
    assert run.usage == usage
    await run.check()
    assert "cut off at the end of the trial" in trial.failed[-1].message


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streaming"])
@pytest.mark.parametrize("dialect", DialectName)
async def test_a_providers_fault_is_passed_on_as_it_is_and_counts_as_no_step(
    dialect: DialectName, streaming: bool
) -> None:
    async with (
        playing(failing("rate-limit", retry_after=7), Reply(text="hi")) as provider,
        opened(provider, NATIVE[dialect]) as trial,
    ):
        got = await send(trial, dialect, asking(dialect, HELLO), streaming)
        assert (got.status, got.headers["retry-after"]) == (429, "7")
        assert isinstance(trial.access.fault, ProviderError)
        assert trial.access.fault.fault is ProviderFault.RATE_LIMIT
        assert await hello(trial, dialect, streaming) == 200
        assert trial.access.fault is None
    assert [failed.fault for failed in trial.failed] == [ProviderFault.RATE_LIMIT]
    assert (trial.allowance.steps, trial.allowance.failed_requests) == (1, 1)
    assert [role for _, role, _ in trial.messages] == [
        MessageRole.USER,
        MessageRole.ASSISTANT,
    ]  # the prompt isn't doubled


TRANSLATED_FAULTS = {
    "rate-limit": (429, ProviderFault.RATE_LIMIT),
    "unavailable": (503, ProviderFault.OVERLOADED),
    "server-error": (500, ProviderFault.SERVER),
    "context-overflow": (400, ProviderFault.CONTEXT),
    "bad-request": (400, ProviderFault.BAD_REQUEST),
    "unauthorized": (401, ProviderFault.AUTH),
}


@pytest.mark.parametrize("kind", TRANSLATED_FAULTS)
@pytest.mark.parametrize(("dialect", "model"), [(DialectName.MESSAGES, OPENAI), (DialectName.RESPONSES, ANTHROPIC)])
async def test_a_fault_of_another_dialect_keeps_its_meaning(kind: str, dialect: DialectName, model: str) -> None:
    status, fault = TRANSLATED_FAULTS[kind]
    async with playing(failing(kind)) as provider, opened(provider, model) as trial:
        got = await send(trial, dialect, asking(dialect, HELLO))
        assert (got.status, trial.failed[0].fault) == (status, fault)
        if fault is ProviderFault.CONTEXT:
            words = {DialectName.MESSAGES: "prompt is too long", DialectName.RESPONSES: "context_length_exceeded"}
            assert words[dialect] in got.body.decode()
        assert KEY not in got.body.decode()


@pytest.mark.parametrize("kind", ["unauthorized", "forbidden", "quota", "not-found"])
async def test_what_no_agent_can_mend_ends_the_trial_at_once(kind: str) -> None:
    async with playing(failing(kind)) as provider, opened(provider, ANTHROPIC) as trial:
        await hello(trial, DialectName.MESSAGES)
        with pytest.raises(ProviderError, match=r"^anthropic/unheard-of: "):
            await trial.access.ended()
        assert await hello(trial, DialectName.MESSAGES) == 400
        assert len(provider.requests) == 1


@pytest.mark.parametrize("kind", ["bad-request", "context-overflow", "too-large", "content-policy"])
async def test_what_an_agent_may_mend_is_its_own_affair(kind: str) -> None:
    async with playing(*[failing(kind)] * 9, Reply(text="hi")) as provider, opened(provider, OPENAI) as trial:
        statuses = [await hello(trial) for _ in range(10)]
        assert statuses[-1] == 200
        assert trial.access.end is None
        assert len(trial.failed) == 9


async def test_an_outage_ends_the_trial_after_as_many_requests_as_an_answer_may_have() -> None:
    async with playing(failing("unavailable")) as provider, opened(provider, OPENAI, attempts=3) as trial:
        assert [await hello(trial) for _ in range(2)] == [503, 503]
        assert trial.access.end is None
        assert await hello(trial) == 503
        with pytest.raises(ProviderError, match=r"overloaded: .* \(3 requests\)$") as caught:
            await trial.access.ended()
        assert caught.value.fault is ProviderFault.OVERLOADED


async def test_requests_that_fail_at_the_same_time_are_no_outage_yet() -> None:
    clock = ManualClock()
    wishes = {"retries": {"attempts": 2, "first_wait": 0, "longest_wait": 60}}
    async with playing(failing("unavailable")) as provider, opened(provider, OPENAI, clock=clock, **wishes) as trial:
        for _ in range(5):
            await hello(trial)
        assert trial.access.end is None
        clock.seconds += 61
        await hello(trial)
        assert isinstance(trial.access.end, ProviderError)


async def test_waiting_for_a_provider_is_not_the_agents_time() -> None:
    clock = ManualClock()
    wishes = {"retries": {"attempts": 9, "first_wait": 0, "longest_wait": 60}}
    async with (
        playing(failing("overloaded"), failing("overloaded"), Reply(text="hi")) as provider,
        opened(provider, OPENAI, clock=clock, **wishes) as trial,
    ):
        await hello(trial)
        clock.seconds += 40  # the agent waits before it asks again
        await hello(trial)
        clock.seconds += 90  # longer than anybody would wait: the rest is its own
        await hello(trial)
        clock.seconds += 5
        assert (trial.allowance.counted_seconds, trial.allowance.waiting_seconds) == (35, 100)


async def test_waits_for_a_provider_are_no_longer_in_all_than_the_agents_time() -> None:
    """Else one that brings faults about between its answers would have time without end."""
    clock = ManualClock()
    wishes = {"retries": {"attempts": 9, "first_wait": 0, "longest_wait": 60}}
    async with (
        playing(*[failing("rate-limit"), Reply(text="hi")] * 3) as provider,
        opened(provider, OPENAI, TWO_STEPS.model_copy(update={"steps": 9}), clock=clock, **wishes) as trial,
    ):
        counted = []
        for _ in range(3):
            await hello(trial)
            clock.seconds += 45
            await hello(trial)
            counted.append(trial.allowance.counted_seconds)
        assert counted == [0, 0, 35]


@pytest.mark.parametrize(("kind", "counted"), [("bad-request", 12), ("overloaded", 5), ("unauthorized", 5)])
async def test_a_request_that_is_refused_for_what_it_asks_is_the_agents_time(kind: str, counted: int) -> None:
    """Else a loop of them in the background would keep its clock still."""
    clock = ManualClock()

    def slow(_: object) -> Reply:
        clock.seconds += 7
        return failing(kind)

    wishes = {"retries": {"attempts": 9, "first_wait": 0, "longest_wait": 0}}
    async with serve(slow) as provider, opened(provider, OPENAI, clock=clock, **wishes) as trial:
        await hello(trial)
        clock.seconds += 5
        assert (trial.allowance.counted_seconds, trial.allowance.steps) == (counted, 0)


ITSELF = ReplyRule(when="are you there", replies=(Reply(text="yes"),), repeat=True)


def answering_once_then(*failures: Reply) -> Scenario:
    """One answer for the agent, then faults; what the gateway asks by itself is answered."""
    return Scenario(rules=(ITSELF, ReplyRule(replies=(Reply(text="hi"), *failures), repeat=True)))


@pytest.mark.usefixtures("few_roots")
@pytest.mark.parametrize(
    "fault",
    [
        failing("forbidden"),
        failing("not-found"),
        failing("bad-request", "Invalid value: 'insufficient_quota'. Supported values are: 'system', 'user'."),
        failing("unavailable"),
        failing("rate-limit"),
    ],
    ids=["forbidden", "not-found", "quota in its own words", "unavailable", "rate-limit"],
)
async def test_what_an_agent_provokes_after_an_answer_is_no_outage(fault: Reply) -> None:
    async with (
        serve(answering_once_then(*[fault] * 3, Reply(text="again"))) as provider,
        opened(provider, OPENAI, attempts=3) as trial,
    ):
        statuses = [await hello(trial) for _ in range(5)]
        assert (statuses[0], statuses[-1], trial.access.end) == (200, 200, None)
        assert 200 not in statuses[1:4]
    asked = sum("are you there" in str(seen.body) for seen in provider.requests)
    assert asked >= 1
    assert (trial.allowance.steps, trial.allowance.failed_requests) == (2, 3)
    assert trial.allowance.spending.usage.calls == 2 + asked


@pytest.mark.usefixtures("few_roots")
@pytest.mark.parametrize("kind", ["unauthorized", "unavailable"])
async def test_what_the_gateway_meets_by_itself_ends_the_trial(kind: str) -> None:
    """Its own question has the repetitions of a model of our own."""
    async with (
        playing(Reply(text="hi"), failing(kind)) as provider,
        opened(provider, ANTHROPIC, attempts=2) as trial,
    ):
        for _ in range(3):
            await hello(trial, DialectName.MESSAGES)
        with pytest.raises(ProviderError, match=r"^anthropic/unheard-of: ") as caught:
            await trial.access.ended()
    assert caught.value.fault.is_retryable == (kind == "unavailable")
    of_its_own = ["are you there" in str(seen.body) for seen in provider.requests]
    assert of_its_own == ([False, False, True] if kind == "unauthorized" else [False, False, False, True, True])


@pytest.mark.usefixtures("few_roots")
async def test_one_question_is_enough_for_a_while() -> None:
    clock = ManualClock()
    wishes = {"retries": {"attempts": 9, "first_wait": 0, "longest_wait": 60}}
    async with (
        serve(answering_once_then(failing("forbidden"))) as provider,
        opened(provider, OPENAI, clock=clock, **wishes) as trial,
    ):
        for seconds, asked in ((0, 0), (0, 1), (30, 1), (29, 1), (1, 2), (0, 2)):
            clock.seconds += seconds
            await hello(trial)
            assert sum("are you there" in str(seen.body) for seen in provider.requests) == asked
        assert trial.access.end is None


@pytest.mark.usefixtures("few_roots")
async def test_while_the_gateway_asks_by_itself_an_agent_waits() -> None:
    """So that it can't make that fail by asking all the time."""
    asks = asyncio.Event()
    denials: list[int] = []

    def say(request: object) -> Reply:
        said = str(getattr(request, "body", request))
        if "are you there" in said:
            asks.set()
            return Reply(text="yes", delay_seconds=0.3)
        denials.append(trial.access.outage.denials)
        return Reply(text="hi") if len(denials) != 2 else failing("forbidden")

    async with serve(say) as provider, opened(provider, OPENAI) as trial:
        await hello(trial)
        provoking = asyncio.create_task(hello(trial))
        await asks.wait()
        assert (await hello(trial), await provoking) == (200, 403)
    assert denials == [0, 0, 1]


BROKEN = {
    ScriptedFault.DROP: (502, ProviderFault.CONNECTION),
    ScriptedFault.TRUNCATED: (200, ProviderFault.MALFORMED),
    ScriptedFault.NOT_JSON: (200, ProviderFault.MALFORMED),
    ScriptedFault.WRONG_SHAPE: (200, ProviderFault.MALFORMED),
    ScriptedFault.HTML: (200, ProviderFault.MALFORMED),
}


@pytest.mark.parametrize("dialect", DialectName)
@pytest.mark.parametrize("fault", BROKEN)
async def test_an_answer_that_is_broken_is_no_step(fault: ScriptedFault, dialect: DialectName) -> None:
    status, kind = BROKEN[fault]
    async with playing(Reply(text="hi", fault=fault)) as provider, opened(provider, NATIVE[dialect]) as trial:
        assert await hello(trial, dialect) == status
    assert [failed.fault for failed in trial.failed] == [kind]
    assert (trial.allowance.steps, trial.answers) == (0, [])


@pytest.mark.parametrize("fault", [ScriptedFault.DROP_MIDWAY, ScriptedFault.STALL])
@pytest.mark.parametrize("dialect", DialectName)
async def test_a_stream_that_breaks_breaks_for_the_agent_too(dialect: DialectName, fault: ScriptedFault) -> None:
    """So that nobody takes half an answer for a whole one; what it cost until then is told where it is known."""
    reply = Reply(text="one two three", fault=fault, usage=Tokens(input=1000, output=50))
    # Long enough for the half of it that comes, on a busy machine as well.
    seconds = 2 if fault is ScriptedFault.STALL else 600
    async with playing(reply) as provider, opened(provider, NATIVE[dialect], request_seconds=seconds) as trial:
        with pytest.raises(aiohttp.ClientError):
            await hello(trial, dialect, streaming=True)
    expected = ProviderFault.TIMEOUT if fault is ScriptedFault.STALL else ProviderFault.CONNECTION
    assert [failed.fault for failed in trial.failed] == [expected]
    assert trial.failed[0].usage.input == (1000 if dialect is DialectName.MESSAGES else 0)
    assert trial.allowance.spending.usage == trial.failed[0].usage


@pytest.mark.parametrize("dialect", DialectName)
async def test_a_provider_that_says_nothing_times_out(dialect: DialectName) -> None:
    silent = Reply(text="hi", fault=ScriptedFault.HANG)
    async with playing(silent) as provider, opened(provider, NATIVE[dialect], request_seconds=0.2) as trial:
        assert await hello(trial, dialect) == 504
    assert trial.failed[0].message == "no answer within 0.2 seconds"


async def test_an_error_in_a_stream_is_passed_on_and_is_no_step() -> None:
    said = 'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}\n\n'
    async with playing(Reply(body=said)) as provider, opened(provider, ANTHROPIC) as trial:
        got = await send(trial, DialectName.MESSAGES, asking(DialectName.MESSAGES, HELLO), streaming=True)
    assert got.body.decode() == said
    assert (trial.failed[0].fault, trial.allowance.steps) == (ProviderFault.OVERLOADED, 0)


async def test_a_provider_that_is_not_there_is_a_connection_fault() -> None:
    async with playing(Reply(text="hi")) as provider:
        pass
    async with opened(provider, OPENAI) as trial:
        assert await hello(trial) == 502
    assert trial.failed[0].fault is ProviderFault.CONNECTION


async def test_no_key_at_all_ends_the_trial_with_the_name_of_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    async with playing(Reply(text="hi")) as provider, opened(provider, OPENAI, key=None) as trial:
        assert await hello(trial) == 401
        with pytest.raises(ProviderError, match="there is no key: set OPENAI_API_KEY"):
            await trial.access.ended()


async def test_a_token_of_the_providers_is_sent_as_its_own_client_sends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", KEY)
    async with playing(Reply(text="hi")) as provider, opened(provider, ANTHROPIC, key=None) as trial:
        await hello(trial, DialectName.MESSAGES)
        seen = {name.lower(): value for name, value in provider.requests[-1].headers.items()}
    assert seen["authorization"] == f"Bearer {KEY}"
    assert "x-api-key" not in seen


async def test_rate_limits_are_kept_and_their_queue_is_not_the_agents_time() -> None:
    clock = ManualClock()
    wishes = {"limits": {"requests_per_minute": 1}}
    async with playing(Reply(text="hi")) as provider, opened(provider, OPENAI, clock=clock, **wishes) as trial:
        assert [await hello(trial) for _ in range(3)] == [200, 200, 200]
        assert (clock.seconds, trial.allowance.waiting_seconds) == (120, 120)


async def test_unknown_costs_are_unknown_not_nothing() -> None:
    async with playing(Reply(text="hi", usage=None)) as provider, opened(provider, OPENAI) as trial:
        assert await hello(trial) == 200
    assert trial.allowance.spending.usage.cost_usd is None


async def test_what_the_provider_says_it_costs_wins() -> None:
    told = Reply(text="hi", usage=Tokens(cost_usd=0.25))
    async with serve(lambda _: told) as provider, opened(provider, OPENAI) as trial:
        assert await hello(trial) == 200
        assert await hello(trial, DialectName.RESPONSES) == 200
    assert trial.allowance.spending.usage.cost_usd == 0.5
    assert trial.allowance.spending.usage.priced_by == ("provider",)
