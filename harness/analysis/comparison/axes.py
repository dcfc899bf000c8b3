"""Where submissions differ: rates of met criteria, by axis."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.analysis.comparison.sides import Side
from harness.analysis.rows import TrialRow
from harness.analysis.statistics.clusters import mean
from harness.analysis.statistics.estimates import Difference, TaskPair, difference_over_tasks
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
    """For each axis that has criteria in these tasks. Pure."""
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
    """The mean over a task's trials of their share of met criteria."""
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
