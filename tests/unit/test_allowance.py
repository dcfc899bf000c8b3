"""The allowance of an agent: what it may use is counted at its model, and the agent has no say in it."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.agents.protocol import Agent, AgentContext, AgentResult, Finish
from harness.agents.registry import agent_context
from harness.agents.supervision import supervise
from harness.agents.trajectory import Ending, EndRecord, HeaderRecord, Trajectory, read_trajectory
from harness.models.allowance import Allowance, AllowanceExhausted, Limit, Spending
from harness.models.protocol import Completion, Message, MessageRole, Model, Tool
from harness.models.replay import ScriptedModel, say
from harness.sandbox.protocol import LimitReached, MadeUnusable, Sandbox
from harness.specs.errors import BudgetExhausted, ProviderError, ProviderFault
from harness.specs.task import TaskLimits
from harness.specs.usage import Usage
from tests.support.clocks import ManualClock
from tests.support.small_task import scaffold, small_task
from tests.support.subprocess_sandbox import SubprocessSandbox

HELLO = [Message(role=MessageRole.USER, content="hello")]
LIMITS = TaskLimits(steps=2, wall_seconds=100, cost_usd=1.0)


class TimedModel:
    """Takes `call` seconds of the clock for an answer, of which the request that brought it took `own`."""

    name = "timed"

    def __init__(
        self, clock: ManualClock, call: float, own: float | None, fault: ProviderFault | None = None
    ) -> None:
        self.clock, self.call, self.own, self.fault = clock, call, own, fault

    async def complete(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Completion:
        self.clock.seconds += self.call
        if self.fault:
            raise ProviderError("it is down", self.fault)
        return say("hi").model_copy(update={"seconds": self.own})


class GatedModel:
    """Answers once it is let."""

    name = "gated"

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.asked = 0

    async def complete(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Completion:
        self.asked += 1
        await self.gate.wait()
        return say("hi")


async def test_the_step_after_the_last_is_not_taken() -> None:
    allowance = Allowance(LIMITS)
    model = allowance.metered(ScriptedModel([say("a"), say("b"), say("c")]))
    await model.complete(HELLO, [])
    await model.complete(HELLO, [])
    with pytest.raises(AllowanceExhausted, match="its limit of 2 steps") as caught:
        await model.complete(HELLO, [])
    assert (caught.value.limit, allowance.steps, allowance.spending.usage.calls) == (Limit.STEPS, 2, 2)


async def test_calls_at_once_share_the_steps_that_are_left() -> None:
    gated = GatedModel()
    model = Allowance(LIMITS).metered(gated)
    calls = [asyncio.create_task(model.complete(HELLO, [])) for _ in range(4)]
    for call in calls[2:]:
        with pytest.raises(AllowanceExhausted):
            await call
    gated.gate.set()
    await asyncio.gather(*calls[:2])
    assert gated.asked == 2


async def test_a_call_that_failed_takes_no_step() -> None:
    clock = ManualClock()
    allowance = Allowance(LIMITS, clock=clock)
    for _ in range(3):
        with pytest.raises(ProviderError):
            await allowance.metered(TimedModel(clock, 5, None, ProviderFault.SERVER)).complete(HELLO, [])
    assert (allowance.steps, allowance.failed_requests) == (0, 3)


async def test_money_ends_the_agent_at_its_own_limit_and_the_call_at_the_runs() -> None:
    paid = say("", usage=Usage(calls=1, cost_usd=1.0))
    own = Allowance(LIMITS, Spending(5.0)).metered(ScriptedModel([paid]))
    runs = Allowance(TaskLimits(cost_usd=50), Spending(1.0)).metered(ScriptedModel([paid]))
    await own.complete(HELLO, [])
    await runs.complete(HELLO, [])
    with pytest.raises(AllowanceExhausted, match=r"its limit of \$1; \$1\.0000 are spent"):
        await own.complete(HELLO, [])
    with pytest.raises(BudgetExhausted):
        await runs.complete(HELLO, [])


async def test_the_agents_clock_counts_the_answers_own_time_and_stands_still_for_the_rest() -> None:
    clock = ManualClock()
    allowance = Allowance(LIMITS, clock=clock)
    clock.seconds += 7
    await allowance.metered(TimedModel(clock, call=1000, own=20)).complete(HELLO, [])
    assert (allowance.counted_seconds, allowance.model_seconds, allowance.waiting_seconds) == (27, 20, 980)
    assert allowance.seconds_left() == 73
    clock.seconds += 73
    with pytest.raises(AllowanceExhausted, match="its limit of 100 seconds") as caught:
        allowance.seconds_left()
    assert caught.value.limit is Limit.WALL


async def test_a_model_that_does_not_know_its_own_time_counts_with_all_of_it() -> None:
    clock = ManualClock()
    allowance = Allowance(LIMITS, clock=clock)
    await allowance.metered(TimedModel(clock, call=30, own=None)).complete(HELLO, [])
    assert (allowance.counted_seconds, allowance.waiting_seconds) == (30, 0)


async def test_a_call_that_fails_costs_the_agent_no_time() -> None:
    clock = ManualClock()
    allowance = Allowance(LIMITS, clock=clock)
    with pytest.raises(ProviderError):
        await allowance.metered(TimedModel(clock, 1800, None, ProviderFault.OVERLOADED)).complete(HELLO, [])
    assert (allowance.counted_seconds, allowance.waiting_seconds) == (0, 1800)


async def test_the_clock_stands_still_while_a_request_is_under_way() -> None:
    clock, gated = ManualClock(), GatedModel()
    allowance = Allowance(LIMITS, clock=clock)
    call = asyncio.create_task(allowance.metered(gated).complete(HELLO, []))
    while not gated.asked:
        await asyncio.wait({call}, timeout=0)
    clock.seconds += 500
    assert allowance.is_waiting
    assert allowance.seconds_left() == 100
    gated.gate.set()
    await call
    assert (allowance.is_waiting, allowance.counted_seconds) == (False, 500)


async def test_calls_that_overlap_are_counted_once() -> None:
    clock, gated = ManualClock(), GatedModel()
    allowance = Allowance(LIMITS, clock=clock)
    model = allowance.metered(gated)
    calls = {asyncio.create_task(model.complete(HELLO, [])) for _ in range(2)}
    while gated.asked < 2:
        await asyncio.wait(calls, timeout=0)
    clock.seconds += 40
    gated.gate.set()
    await asyncio.gather(*calls)
    assert (allowance.counted_seconds, allowance.model_seconds) == (40, 40)


class Insatiable:
    """An agent that goes on whatever it is told: it asks its model until it has been refused three times."""

    def __init__(self, context: AgentContext) -> None:
        self.context = context
        self.refused: list[Limit] = []

    async def work(self, sandbox: Sandbox, trajectory: Trajectory) -> Finish:
        assert self.context.model
        while len(self.refused) < 3:
            try:
                await self.context.model.complete(HELLO, [])
            except AllowanceExhausted as error:
                self.refused.append(error.limit)
        return Finish(Ending.SUBMITTED, "I gave in")


class Deaf:
    """An agent that neither asks a model nor looks at the time, and never ends."""

    def __init__(self, context: AgentContext, clock: ManualClock) -> None:
        self.context, self.clock, self.cancelled = context, clock, False

    async def work(self, sandbox: Sandbox, trajectory: Trajectory) -> Finish:
        self.clock.seconds += 1000
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        raise AssertionError("nobody sets that future")


class Raising:
    """An agent that lets an error pass."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def work(self, sandbox: Sandbox, trajectory: Trajectory) -> Finish:
        raise self.error


async def supervised(agent: Agent, context: AgentContext, directory: Path) -> AgentResult:
    with Trajectory(directory / "t.jsonl") as trajectory:
        return await supervise(agent, context, SubprocessSandbox(directory), trajectory, grace=0)


def context_of(directory: Path, model: Model | None = None, clock: ManualClock | None = None) -> AgentContext:
    task = small_task(directory / "task", steps=2, wall_seconds=100)
    allowance = Allowance(task.file.limits, clock=clock) if clock else None
    return agent_context(task, scaffold("mini"), model, allowance)


async def test_an_agent_that_does_not_take_no_for_an_answer_gets_no_further(tmp_path: Path) -> None:
    script = ScriptedModel([say(str(number)) for number in range(9)])
    agent = Insatiable(context := context_of(tmp_path, script))
    result = await supervised(agent, context, tmp_path)
    assert agent.refused == [Limit.STEPS] * 3
    assert (result.ending, result.steps, result.message) == (Ending.SUBMITTED, 2, "I gave in")


async def test_an_agent_that_never_looks_at_the_time_is_cancelled(tmp_path: Path) -> None:
    context = context_of(tmp_path, clock=(clock := ManualClock()))
    agent = Deaf(context, clock)
    result = await supervised(agent, context, tmp_path)
    assert (result.ending, result.message, agent.cancelled) == (
        Ending.WALL_LIMIT, "cancelled after 100 seconds", True
    )  # fmt: skip


@pytest.mark.parametrize(
    ("error", "ending"),
    [
        (AllowanceExhausted(Limit.COST, "all of it"), Ending.COST_LIMIT),
        (LimitReached("memory", "256 MiB"), Ending.MEMORY_LIMIT),
        (MadeUnusable("its own processes end every shell"), Ending.SANDBOX_UNUSABLE),
        (ProviderError("200000 tokens", ProviderFault.CONTEXT), Ending.CONTEXT_LIMIT),
    ],
)
async def test_what_an_agent_lets_pass_is_its_ending_where_it_is_the_agents_own(
    tmp_path: Path, error: Exception, ending: Ending
) -> None:
    result = await supervised(Raising(error), context_of(tmp_path), tmp_path)
    assert (result.ending, result.message) == (ending, str(error))


@pytest.mark.parametrize("error", [ProviderError("down"), BudgetExhausted("$5"), ZeroDivisionError("ours")])
async def test_what_is_nobodys_submission_passes_and_leaves_no_last_record(tmp_path: Path, error: Exception) -> None:
    with pytest.raises(type(error)):
        await supervised(Raising(error), context_of(tmp_path), tmp_path)
    assert [record.kind for record in read_trajectory(tmp_path / "t.jsonl")] == ["header"]


async def test_the_trajectory_has_the_limits_and_what_was_used_of_them(tmp_path: Path) -> None:
    clock = ManualClock()
    context = context_of(tmp_path, TimedModel(clock, call=90, own=20), clock)
    await supervised(Insatiable(context), context, tmp_path)
    header, end = read_trajectory(tmp_path / "t.jsonl")
    assert isinstance(header, HeaderRecord)
    assert header.limits == TaskLimits(steps=2, wall_seconds=100)
    assert isinstance(end, EndRecord)
    assert (end.steps, end.counted_seconds, end.model_seconds, end.waiting_seconds) == (2, 40, 40, 140)
