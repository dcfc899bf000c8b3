"""Observers of how far a trial is."""

from collections.abc import Callable

from harness.judging.verify.arms import ArmObserver
from harness.models.allowance import Budget, StepObserver
from harness.runs.evidence_file import ArmQuota
from harness.runs.outcome import Phase, Stand
from harness.runs.trial_store import TrialStore
from harness.sandbox.protocol import JobResult
from harness.specs.usage import NO_USAGE, Usage
from harness.specs.variants import ArmKey

Tell = Callable[[Stand], None]
"""Hears how far a trial is."""


class StepCount(StepObserver):
    """An observer that tells of each step of an agent, which may take `most`."""

    def __init__(self, most: int, tell: Tell) -> None:
        self._most, self._tell = most, tell
        self.stepped(0, NO_USAGE)

    def stepped(self, steps: int, usage: Usage) -> None:
        self._tell(Stand(phase=Phase.AGENT, done=steps, most=self._most, usd=usage.cost_usd))


class ArmCount(ArmObserver):
    """An observer that counts arms as they end, tells of it, and keeps what they print."""

    def __init__(self, store: TrialStore, quota: ArmQuota, tell: Tell) -> None:
        self._store, self._quota, self._tell = store, quota, tell
        self._done = self._most = 0
        tell(Stand(phase=Phase.ARMS))

    def planned(self, arms: int) -> None:
        self._most += arms

    def printed(self, key: ArmKey, result: JobResult) -> None:
        self._store.keep_arm(key, result, quota=self._quota)
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
