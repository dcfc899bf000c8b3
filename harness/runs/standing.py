"""Tells how far a trial at work is: steps of its agent, arms, calls of its judge."""

from collections.abc import Callable

from harness.llm.allowance import Allowance
from harness.llm.spending import Budget
from harness.runs.outcome import Phase, Stand
from harness.sandbox.protocol import JobResult
from harness.specs.usage import NO_USAGE, Usage
from harness.specs.variants import ArmKey

Tell = Callable[[Stand], None]


def tell_steps(allowance: Allowance, most: int, tell: Tell) -> None:
    """Tell of each step of an agent, which may take `most`."""

    def stepped() -> None:
        tell(Stand(phase=Phase.AGENT, done=allowance.steps, most=most, usd=allowance.spending.usage.cost_usd))

    allowance.stepped = stepped
    stepped()


class ArmCount:
    """Counts arms as they end. `plan` may be told of more as they turn out to be needed."""

    def __init__(self, keep: Callable[[ArmKey, JobResult], None], tell: Tell) -> None:
        self._keep = keep
        self._tell = tell
        self._done = self._most = 0
        tell(Stand(phase=Phase.ARMS))

    def plan(self, arms: int) -> None:
        self._most += arms

    def keep(self, key: ArmKey, result: JobResult) -> None:
        self._keep(key, result)
        self._done += 1
        # Tests that a crash has hid run again alone, which nobody plans.
        self._tell(Stand(phase=Phase.ARMS, done=self._done, most=max(self._most, self._done) if self._most else 0))


class ToldBudget:
    """See `Budget`. Tells of each call that a judge is paid for."""

    def __init__(self, budget: Budget, tell: Tell) -> None:
        self._budget = budget
        self._tell = tell
        self._calls = 0
        self._usage = NO_USAGE

    async def check(self) -> None:
        await self._budget.check()

    async def charge(self, usage: Usage) -> None:
        await self._budget.charge(usage)
        self._calls += 1
        self._usage += usage
        self._tell(Stand(phase=Phase.JUDGE, done=self._calls, usd=self._usage.cost_usd))
