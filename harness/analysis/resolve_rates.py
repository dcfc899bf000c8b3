"""How often trials are resolved, by scaffold and model."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from harness.analysis.rows import TrialRow
from harness.analysis.scores import TaskScore, task_scores, values_without_faults
from harness.analysis.statistics.clusters import mean
from harness.analysis.statistics.estimates import Estimate, rate_over_tasks
from harness.analysis.statistics.proportions import Rate, rate
from harness.analysis.statistics.repeated_attempts import pass_all, pass_at
from harness.specs.reasons import Verdict


class Who(NamedTuple):
    """A scaffold and the model in it; the model is empty for scaffolds without one."""

    scaffold: str
    model: str


@dataclass(frozen=True)
class ResolveRate:
    """The mean over tasks of the mean over attempts, and beside it what it must not be read without.

    `rate` counts trials without a verdict as failed, `without_faults` leaves them out; that is None where nothing was
    scored. `unscored`, `invalid` and `missing` are shares of all trials.
    """

    rate: Estimate
    without_faults: Estimate | None
    resolved: int
    unscored: Rate
    invalid: Rate
    missing: Rate
    pass_at: Mapping[int, float]
    pass_all: Mapping[int, float]

    @property
    def trials(self) -> int:
        return self.unscored.whole


def resolve_rates(rows: Iterable[TrialRow]) -> dict[Who, ResolveRate]:
    """The rate for each scaffold and model, in the order of the rows. Pure."""
    groups: dict[Who, list[TrialRow]] = {}
    for row in rows:
        groups.setdefault(Who(row.scaffold, row.model), []).append(row)
    return {who: resolve_rate(task_scores(found)) for who, found in groups.items()}


def resolve_rate(scores: Mapping[str, TaskScore]) -> ResolveRate:
    """`pass_at` and `pass_all` have each k for which every task has the attempts. Raises ZeroDivisionError without a
    task."""
    found = list(scores.values())
    verdicts = [verdict for score in found for verdict in score.verdicts]
    scored = values_without_faults(found)
    counts = [(score.resolved, len(score.verdicts)) for score in found]
    ks = range(1, min(attempts for _, attempts in counts) + 1)
    return ResolveRate(
        rate=rate_over_tasks([score.value() for score in found]),
        without_faults=rate_over_tasks(scored) if scored else None,
        resolved=verdicts.count(Verdict.RESOLVED),
        unscored=rate(verdicts.count(Verdict.UNSCORED), len(verdicts)),
        invalid=rate(verdicts.count(Verdict.INVALID), len(verdicts)),
        missing=rate(verdicts.count(None), len(verdicts)),
        pass_at={k: mean(pass_at(k, *count) for count in counts) for k in ks},
        pass_all={k: mean(pass_all(k, *count) for count in counts) for k in ks},
    )
