"""Two sides held against each other, task by task."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from harness.analysis.comparison.axes import AxisDifference, axis_differences
from harness.analysis.comparison.flips import Flip, flips
from harness.analysis.comparison.sides import Side
from harness.analysis.scores import TaskScore
from harness.analysis.statistics.estimates import Difference, TaskPair, difference_over_tasks
from harness.analysis.statistics.paired_tests import holm, mcnemar
from harness.analysis.statistics.proportions import Bounds
from harness.specs.reasons import Verdict

SIGNIFICANT = 0.05


class Obstacle(StrEnum):
    """Why no side can be said to resolve more."""

    BY_TASK = "the interval by task includes 0"
    BY_REPOSITORY = "the interval by repository includes 0"
    BY_REPOSITORY_T = "the interval by repository (t) includes 0"
    MCNEMAR = "McNemar's p, adjusted, is above 0.05"
    FAULTS = "without faults the interval by task includes 0"


@dataclass(frozen=True)
class McNemar:
    """`first` and `second` tasks were resolved more often by that side alone, `equal` ones drop out of the test."""

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
        """None only where everything agrees that the sides differ."""
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
    """One pair for each of the others, at tasks that all have. Pure."""
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
    """A task counts for the side that resolved it in more attempts, of as many as both have had."""
    signs = [_sign(first.scores[task], second.scores[task]) for task in tasks]
    won, lost = signs.count(1), signs.count(-1)
    return McNemar(won, lost, signs.count(0), mcnemar(won, lost))


def _sign(one: TaskScore, other: TaskScore) -> int:
    """With different numbers of attempts the side with more of them would win more often by chance alone."""
    number = min(len(one.verdicts), len(other.verdicts))
    first, second = (score.verdicts[:number].count(Verdict.RESOLVED) for score in (one, other))
    return (first > second) - (first < second)


def _holds_zero(bounds: Bounds) -> bool:
    return bounds.low <= 0 <= bounds.high
