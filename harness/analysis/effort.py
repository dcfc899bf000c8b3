"""What a system's work has cost, and how long it took."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from harness.analysis.rows import TrialRow
from harness.analysis.statistics.clusters import mean
from harness.runs.trial_store import UsageFile
from harness.specs.reasons import Verdict
from harness.specs.usage import NO_USAGE, Usage


@dataclass(frozen=True)
class Effort:
    """`agent`, `lost` (attempts that were set aside) and `judge` are sums over `trials` trials, the rest are means.

    Means are over the trials that have the number, None where none has. `wall_seconds` are the agent's wall time with
    its sandbox's start, `working_seconds` those without waiting for a provider. `retries` is how many attempts were
    tried again because the infrastructure failed.
    """

    trials: int
    resolved: int
    agent: Usage
    lost: Usage
    judge: Usage
    steps: float | None
    wall_seconds: float | None
    working_seconds: float | None
    waiting_seconds: float | None
    retries: int

    @property
    def cost_per_trial(self) -> float | None:
        """USD of agent and lost attempts; None where a cost isn't known."""
        cost = (self.agent + self.lost).cost_usd
        return None if cost is None or not self.trials else cost / self.trials

    @property
    def cost_per_resolved(self) -> float | None:
        """USD of all trials by the number of resolved ones; None where nothing was resolved."""
        cost = (self.agent + self.lost).cost_usd
        return None if cost is None or not self.resolved else cost / self.resolved


def effort(rows: Sequence[TrialRow]) -> Effort:
    """Pure."""
    usages = [row.usage for row in rows if row.usage]
    return Effort(
        trials=len(rows),
        resolved=sum(row.verdict is Verdict.RESOLVED for row in rows),
        agent=_total(usages, lambda usage: usage.agent),
        lost=_total(usages, lambda usage: usage.lost),
        judge=_total(usages, lambda usage: usage.judge),
        steps=_mean(row.steps for row in rows),
        wall_seconds=_mean(_wall(row) for row in rows),
        working_seconds=_mean(row.agent_seconds for row in rows),
        waiting_seconds=_mean(row.waiting_seconds for row in rows),
        retries=sum(not attempt.is_final for row in rows for attempt in row.attempts),
    )


def _wall(row: TrialRow) -> float | None:
    return row.usage.agent_seconds if row.usage and row.ending else None


def _total(usages: Iterable[UsageFile], part: Callable[[UsageFile], Usage]) -> Usage:
    return sum(map(part, usages), start=NO_USAGE)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return mean(known) if known else None
