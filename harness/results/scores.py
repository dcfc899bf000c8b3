"""Scores of a system's attempts at each task, which of them count, and resolve rates."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from harness.results.rows import TrialRow
from harness.results.statistics.clusters import mean
from harness.results.statistics.estimates import Estimate, TaskValue, rate_over_tasks
from harness.results.statistics.proportions import Rate, pass_all, pass_at, rate
from harness.specs.reasons import Verdict

POLICY = (
    "A trial without a verdict (unscored, not judged, or asked for and never begun) counts as failed. "
    "Without faults: only trials that have a verdict count, and only tasks that have such a trial."
)


@dataclass(frozen=True)
class TaskScore:
    """A system's attempts at one task, in their order; None stands for a trial that has no verdict at all."""

    task: str
    repository: str
    verdicts: tuple[Verdict | None, ...]

    @property
    def resolved(self) -> int:
        return self.verdicts.count(Verdict.RESOLVED)

    @property
    def scored(self) -> int:
        return len(self.verdicts) - self.unscored - self.missing

    @property
    def unscored(self) -> int:
        return self.verdicts.count(Verdict.UNSCORED)

    @property
    def missing(self) -> int:
        return self.verdicts.count(None)

    @property
    def share(self) -> float:
        """The resolved share of all attempts."""
        return self.resolved / len(self.verdicts)

    @property
    def share_without_faults(self) -> float | None:
        """The resolved share of the attempts that have a score; None where none has."""
        return self.resolved / self.scored if self.scored else None

    @property
    def decided(self) -> int:
        """Attempts but for unscored ones: those that have a score, and those that were never begun."""
        return len(self.verdicts) - self.unscored

    def value(self) -> TaskValue:
        return TaskValue(self.task, self.repository, self.share)


def task_scores(rows: Iterable[TrialRow], asked: Mapping[str, int] | None = None) -> dict[str, TaskScore]:
    """Return task -> score, for one system in one run.

    `asked` says how many attempts at which task were asked for.
    """
    found: defaultdict[str, list[TrialRow]] = defaultdict(list)
    for row in rows:
        found[row.task].append(row)
    numbers = {task: max(len(found[task]), (asked or {}).get(task, 0)) for task in {**found, **(asked or {})}}
    return {task: _score(task, found[task], number) for task, number in numbers.items()}


def pooled(scores: Iterable[Mapping[str, TaskScore]]) -> dict[str, TaskScore]:
    """Return the attempts of several runs together."""
    found: dict[str, TaskScore] = {}
    for each in scores:
        for task, score in each.items():
            before = found.get(task)
            verdicts = (*before.verdicts, *score.verdicts) if before else score.verdicts
            repository = score.repository or (before.repository if before else "")
            found[task] = TaskScore(task, repository, verdicts)
    return found


def values_without_faults(scores: Iterable[TaskScore]) -> list[TaskValue]:
    """Return the shares of the tasks that have a scored attempt."""
    shares = ((score, score.share_without_faults) for score in scores)
    return [TaskValue(score.task, score.repository, share) for score, share in shares if share is not None]


def _score(task: str, rows: list[TrialRow], number: int) -> TaskScore:
    verdicts = [row.verdict for row in sorted(rows, key=lambda row: row.attempt)]
    repository = next((row.repository for row in rows if row.repository), "")
    return TaskScore(task, repository, (*verdicts, *[None] * (number - len(verdicts))))


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


def resolve_rate(scores: Mapping[str, TaskScore]) -> ResolveRate:
    """Return the share of attempts that resolve their task.

    `pass_at` and `pass_all` have each k for which every task has the attempts.

    Raises:
        ZeroDivisionError: There is no task.
    """
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
