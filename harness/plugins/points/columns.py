"""Points as signals: columns beside the verdict, and a system's mean with its interval and tier."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.plugins.points.run_scores import current_score
from harness.plugins.points.score import tier_of
from harness.plugins.points.scoring_file import TOTAL, load_scoring, track_path
from harness.results.rows import Cell, TrialRow
from harness.results.signals import task_pairs, task_values, tasks_in_words
from harness.results.statistics.clusters import mean
from harness.results.statistics.estimates import TaskValue, difference_over_tasks, rate_over_tasks

_SCORE, _JUDGE = "points", "points-judge"
_UNSCORED = "unscored"
CAUTION = (
    "Points are no verdict: they weigh facts by a file that somebody wrote; whether a task is resolved doesn't "
    "depend on them. A mean leaves out unscored trials."
)


@dataclass(frozen=True)
class PointsSignal:
    """Points without a judge's; text where the trial is unscored, nothing where no score was written."""

    name: str = _SCORE
    title: str = "points"
    caution: str = CAUTION

    def value(self, trial: Path, row: TrialRow, /) -> Cell:
        """Return what a current `score.json` has."""
        found = current_score(trial) if row.record else None
        return (_UNSCORED if found.score is None else found.score) if found else None

    def of_system(self, rows: Sequence[TrialRow], /) -> str:
        """Return the mean over tasks, its interval by task, and the tier or tiers of the interval."""
        values = _by_task(rows, _SCORE)
        unscored = sum(row.signals.get(_SCORE) == _UNSCORED for row in rows)
        more = f"; {unscored} of {len(rows)} trials unscored" if unscored else ""
        if not values:
            return f"{_UNSCORED}{more}" if unscored else ""
        found = rate_over_tasks(values)
        low, high = (TOTAL * bound for bound in found.by_task)
        judged = _by_task(rows, _JUDGE)
        judge = f" + judge {TOTAL * mean(item.value for item in judged):.3g}" if judged else ""
        tier = tier_words(_tiers(rows), low, high)
        return f"{TOTAL * found.value:.1f} ({low:.1f} to {high:.1f}){judge}{f', tier {tier}' if tier else ''}{more}"

    def of_pair(self, first: Sequence[TrialRow], second: Sequence[TrialRow], /) -> str:
        """Return the mean difference at tasks of which both have a value."""
        return _difference(first, second, self.name)


@dataclass(frozen=True)
class JudgePointsSignal(PointsSignal):
    """A judge's points, which stand apart. A system's are told beside its points."""

    name: str = _JUDGE
    title: str = "judge points"

    def value(self, trial: Path, row: TrialRow, /) -> Cell:
        """Return what a current `score.json` has of a judge's."""
        found = current_score(trial) if row.record else None
        return found.judge if found else None

    def of_system(self, rows: Sequence[TrialRow], /) -> str:  # noqa: ARG002
        """Return nothing: the points' words have it."""
        return ""


def tier_words(tiers: dict[str, int], low: float, high: float) -> str:
    """Return the tier of an interval of scores; `A-B` where its ends lie in different ones."""
    best, worst = tier_of(tiers, high), tier_of(tiers, low)
    return best if best == worst else f"{best}-{worst}"


def _tiers(rows: Sequence[TrialRow]) -> dict[str, int]:
    """Return the tiers of the rows' track; none where they are of several."""
    tracks = {row.record.track for row in rows if row.record}
    path = track_path(min(tracks)) if len(tracks) == 1 else None
    return load_scoring(path).tiers if path and path.is_file() else {}


def _by_task(rows: Sequence[TrialRow], name: str) -> list[TaskValue]:
    """Return each task's mean, from 0 to 1."""
    return task_values(rows, name, lambda points: points / TOTAL)


def _difference(first: Sequence[TrialRow], second: Sequence[TrialRow], name: str) -> str:
    pairs = task_pairs(_by_task(first, name), _by_task(second, name))
    if not pairs:
        return ""
    found = difference_over_tasks(pairs)
    low, high = (TOTAL * bound for bound in found.by_task)
    tasks = tasks_in_words(found.tasks)
    return f"difference {TOTAL * found.value:+.1f} (95% by task {low:+.1f} to {high:+.1f}) at {tasks}"


POINTS = PointsSignal()
JUDGE_POINTS = JudgePointsSignal()
