"""Two sides compared task by task: tasks that one resolves more often, and rates of met criteria by axis."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from harness.results.comparison.sides import PlacedTrial, Side
from harness.results.rows import TrialRow
from harness.results.scores import TaskScore
from harness.results.statistics.clusters import mean
from harness.results.statistics.estimates import Difference, TaskPair, difference_over_tasks
from harness.results.statistics.proportions import Bounds, holm, mcnemar
from harness.specs.reasons import Verdict
from harness.specs.rubric import AXES


@dataclass(frozen=True)
class AxisDifference:
    """Shares of met criteria on one axis, over the tasks where both sides have a trial whose criteria were decided.

    Only trials that were judged as far as the rubric have any: `trials` counts those of either side, `undecided` the
    criteria that nothing could decide, which count neither way. Shares and difference are None without such a task.
    """

    axis: int
    name: str
    first: float | None
    second: float | None
    difference: Difference | None
    trials: tuple[int, int]
    undecided: tuple[int, int]


def axis_differences(first: Side, second: Side, tasks: Sequence[str]) -> tuple[AxisDifference, ...]:
    """Return the difference on each axis that has criteria in these tasks. Pure."""
    return tuple(_axes(first, second, tasks))


def _axes(first: Side, second: Side, tasks: Sequence[str]) -> Iterator[AxisDifference]:
    for axis, name in AXES.items():
        shares = {task: (_share(first, task, axis), _share(second, task, axis)) for task in tasks}
        pairs = [
            TaskPair(task, first.scores[task].repository, one, other)
            for task, (one, other) in shares.items()
            if one is not None and other is not None
        ]
        undecided = (_undecided(first, tasks, axis), _undecided(second, tasks, axis))
        if pairs or any(undecided):
            yield AxisDifference(
                axis=axis,
                name=name,
                first=mean(pair.first for pair in pairs) if pairs else None,
                second=mean(pair.second for pair in pairs) if pairs else None,
                difference=difference_over_tasks(pairs) if pairs else None,
                trials=(_judged(first, tasks, axis), _judged(second, tasks, axis)),
                undecided=undecided,
            )


def _share(side: Side, task: str, axis: int) -> float | None:
    """Return the mean over a task's trials of their share of met criteria."""
    shares = [mean(decided) for trial in side.at(task) if (decided := _decided(trial.row, axis))]
    return mean(shares) if shares else None


def _judged(side: Side, tasks: Sequence[str], axis: int) -> int:
    return sum(bool(_decided(trial.row, axis)) for task in tasks for trial in side.at(task))


def _undecided(side: Side, tasks: Sequence[str], axis: int) -> int:
    return sum(met is None for task in tasks for trial in side.at(task) for met in _answers(trial.row, axis))


def _decided(row: TrialRow, axis: int) -> list[bool]:
    return [met for met in _answers(row, axis) if met is not None]


def _answers(row: TrialRow, axis: int) -> list[bool | None]:
    criteria = row.record.stages.rubric.criteria if row.record else ()
    return [item.met for item in criteria if item.axis == axis]


@dataclass(frozen=True)
class Flip:
    """One task: resolved attempts, and all but unscored ones, of either side, and a trial of each to look at.

    The side with more has a resolved one there, the other one that isn't; None where no such trial has begun.
    """

    task: str
    first: tuple[int, int]
    second: tuple[int, int]
    for_first: bool
    first_trial: PlacedTrial | None
    second_trial: PlacedTrial | None


def flips(first: Side, second: Side, tasks: Sequence[str]) -> tuple[Flip, ...]:
    """Return the tasks that one side resolves and the other doesn't, in order. Pure.

    Unscored attempts don't count: a machine's fault flips nothing.
    """
    return tuple(_flips(first, second, tasks))


def _flips(first: Side, second: Side, tasks: Sequence[str]) -> Iterator[Flip]:
    for task in tasks:
        one, other = first.scores[task], second.scores[task]
        own, others = one.resolved * other.decided, other.resolved * one.decided
        if own == others:
            continue
        wins = own > others
        yield Flip(
            task=task,
            first=(one.resolved, one.decided),
            second=(other.resolved, other.decided),
            for_first=wins,
            first_trial=_example(first, task, wins),
            second_trial=_example(second, task, not wins),
        )


def _example(side: Side, task: str, is_resolved: bool) -> PlacedTrial | None:
    """Return the first of this kind; of those that aren't resolved one with a score comes before one without."""
    fitting = [trial for trial in side.at(task) if (trial.row.verdict is Verdict.RESOLVED) is is_resolved]
    return min(fitting, key=lambda trial: not trial.row.is_scored, default=None)


SIGNIFICANT = 0.05


class Obstacle(StrEnum):
    """Reasons why no side can be said to resolve more."""

    BY_TASK = "the interval by task includes 0"
    BY_REPOSITORY = "the interval by repository includes 0"
    BY_REPOSITORY_T = "the interval by repository (t) includes 0"
    MCNEMAR = "McNemar's p, adjusted, is above 0.05"
    FAULTS = "without faults the interval by task includes 0"


@dataclass(frozen=True)
class McNemar:
    """McNemar's test. Each side alone has won `first` and `second` tasks more often; `equal` ones drop out."""

    first: int
    second: int
    equal: int
    p: float


@dataclass(frozen=True)
class Pair:
    """All differences are first minus second. `adjusted_p` is Holm's, over the pairs of this comparison."""

    first: Side
    second: Side
    difference: Difference
    without_faults: Difference | None
    mcnemar: McNemar
    adjusted_p: float
    axes: tuple[AxisDifference, ...]
    flips: tuple[Flip, ...]

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """The reasons why it can't be said that the sides differ; none only where everything agrees."""
        return tuple(self._obstacles())

    def _obstacles(self) -> Iterator[Obstacle]:
        found = self.difference
        for bounds, obstacle in (
            (found.by_task, Obstacle.BY_TASK),
            (found.by_repository, Obstacle.BY_REPOSITORY),
            (found.by_repository_t, Obstacle.BY_REPOSITORY_T),
        ):
            if bounds and _holds_zero(bounds):
                yield obstacle
        if self.adjusted_p > SIGNIFICANT:
            yield Obstacle.MCNEMAR
        scored = self.without_faults
        if scored is None or _holds_zero(scored.by_task) or scored.value * found.value < 0:
            yield Obstacle.FAULTS

    @property
    def ahead(self) -> Side | None:
        """The side that resolves more of these tasks, None where that can't be told."""
        if self.obstacles:
            return None
        return self.first if self.difference.value > 0 else self.second


def pair_up(first: Side, others: Sequence[Side], tasks: Sequence[str]) -> tuple[Pair, ...]:
    """Return one pair for each of the others, at tasks that all have. Pure."""
    tests = [_mcnemar(first, other, tasks) for other in others]
    adjusted = holm([test.p for test in tests])
    return tuple(
        Pair(
            first=first,
            second=other,
            difference=difference_over_tasks([_pair(first, other, task) for task in tasks]),
            without_faults=_without_faults(first, other, tasks),
            mcnemar=test,
            adjusted_p=p,
            axes=axis_differences(first, other, tasks),
            flips=flips(first, other, tasks),
        )
        for other, test, p in zip(others, tests, adjusted, strict=True)
    )


def _pair(first: Side, second: Side, task: str) -> TaskPair:
    one, other = first.scores[task], second.scores[task]
    return TaskPair(task, one.repository or other.repository, one.share, other.share)


def _without_faults(first: Side, second: Side, tasks: Sequence[str]) -> Difference | None:
    pairs = [
        TaskPair(task, first.scores[task].repository, one, other)
        for task in tasks
        if (one := first.scores[task].share_without_faults) is not None
        and (other := second.scores[task].share_without_faults) is not None
    ]
    return difference_over_tasks(pairs) if pairs else None


def _mcnemar(first: Side, second: Side, tasks: Sequence[str]) -> McNemar:
    """Count a task for the side that resolved it in more attempts, of as many as both have had."""
    signs = [_sign(first.scores[task], second.scores[task]) for task in tasks]
    won, lost = signs.count(1), signs.count(-1)
    return McNemar(won, lost, signs.count(0), mcnemar(won, lost))


def _sign(one: TaskScore, other: TaskScore) -> int:
    """Return who wins a task, by rates: with more attempts a side would win more often by chance alone."""
    number = min(len(one.verdicts), len(other.verdicts))
    first, second = (score.verdicts[:number].count(Verdict.RESOLVED) for score in (one, other))
    return (first > second) - (first < second)


def _holds_zero(bounds: Bounds) -> bool:
    return bounds.low <= 0 <= bounds.high
