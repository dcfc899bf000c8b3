"""What a system's attempts at each task came to, and which of them count."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from harness.analysis.rows import TrialRow
from harness.analysis.statistics.estimates import TaskValue
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
        """Of all attempts, the resolved ones."""
        return self.resolved / len(self.verdicts)

    @property
    def share_without_faults(self) -> float | None:
        """Of the attempts that have a score; None where none has."""
        return self.resolved / self.scored if self.scored else None

    def value(self) -> TaskValue:
        return TaskValue(self.task, self.repository, self.share)


def task_scores(rows: Iterable[TrialRow], asked: Mapping[str, int] | None = None) -> dict[str, TaskScore]:
    """Task -> score, for one system in one run. `asked` says how many attempts at which task were asked for."""
    found: defaultdict[str, list[TrialRow]] = defaultdict(list)
    for row in rows:
        found[row.task].append(row)
    numbers = {task: max(len(found[task]), (asked or {}).get(task, 0)) for task in {**found, **(asked or {})}}
    return {task: _score(task, found[task], number) for task, number in numbers.items()}


def pooled(scores: Iterable[Mapping[str, TaskScore]]) -> dict[str, TaskScore]:
    """The attempts of several runs together."""
    found: dict[str, TaskScore] = {}
    for each in scores:
        for task, score in each.items():
            before = found.get(task)
            verdicts = (*before.verdicts, *score.verdicts) if before else score.verdicts
            repository = score.repository or (before.repository if before else "")
            found[task] = TaskScore(task, repository, verdicts)
    return found


def values_without_faults(scores: Iterable[TaskScore]) -> list[TaskValue]:
    """Of the tasks that have a scored attempt."""
    shares = ((score, score.share_without_faults) for score in scores)
    return [TaskValue(score.task, score.repository, share) for score, share in shares if share is not None]


def _score(task: str, rows: list[TrialRow], number: int) -> TaskScore:
    verdicts = [row.verdict for row in sorted(rows, key=lambda row: row.attempt)]
    repository = next((row.repository for row in rows if row.repository), "")
    return TaskScore(task, repository, (*verdicts, *[None] * (number - len(verdicts))))
