"""Tasks that one side resolves more often than the other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.analysis.comparison.sides import PlacedTrial, Side
from harness.specs.reasons import Verdict


@dataclass(frozen=True)
class Flip:
    """One task: resolved and all attempts of either side, and a trial of each to look at.

    The side with more has a resolved one there, the other one that isn't; None where no such trial has begun.
    """

    task: str
    first: tuple[int, int]
    second: tuple[int, int]
    for_first: bool
    first_trial: PlacedTrial | None
    second_trial: PlacedTrial | None


def flips(first: Side, second: Side, tasks: Sequence[str]) -> tuple[Flip, ...]:
    """In the order of the tasks. Pure."""
    return tuple(_flips(first, second, tasks))


def _flips(first: Side, second: Side, tasks: Sequence[str]) -> Iterator[Flip]:
    for task in tasks:
        one, other = first.scores[task], second.scores[task]
        if one.share == other.share:
            continue
        wins = one.share > other.share
        yield Flip(
            task=task,
            first=(one.resolved, len(one.verdicts)),
            second=(other.resolved, len(other.verdicts)),
            for_first=wins,
            first_trial=_example(first, task, wins),
            second_trial=_example(second, task, not wins),
        )


def _example(side: Side, task: str, is_resolved: bool) -> PlacedTrial | None:
    """The first of this kind; of those that aren't resolved one with a score comes before one without."""
    fitting = [trial for trial in side.at(task) if (trial.row.verdict is Verdict.RESOLVED) is is_resolved]
    return min(fitting, key=lambda trial: not trial.row.is_scored, default=None)
