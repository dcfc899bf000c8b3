"""The behaviour of each trial of a run, read from its trajectory, and of each system."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.agents.trajectory import Record, read_trajectory
from harness.analysis.behaviour.actions import Action, Call, actions, calls
from harness.analysis.behaviour.out_of_bounds import Sighting, sightings
from harness.analysis.behaviour.profile import DECILES, Deciles, Profile, profile
from harness.analysis.behaviour.vocabulary import Kind
from harness.analysis.behaviour.watchdog import WatchMark, watch_marks
from harness.analysis.failing.suite_size import correlated, is_resolved
from harness.analysis.rows import TrialRow
from harness.analysis.statistics.clusters import mean
from harness.analysis.statistics.correlation import Correlation
from harness.analysis.statistics.proportions import Rate, rate
from harness.specs.errors import UserError


@dataclass(frozen=True)
class TrialBehaviour:
    """What one trial's agent did. `sightings` and `marks` are never part of its verdict."""

    row: TrialRow
    records: tuple[Record, ...]
    calls: tuple[Call, ...]
    actions: tuple[Action, ...]
    profile: Profile
    sightings: tuple[Sighting, ...]
    marks: tuple[WatchMark, ...]


@dataclass(frozen=True)
class SystemBehaviour:
    """Over `trials` of one system that did anything. Numbers are means over trials.

    `kinds` has actions per trial, `deciles` the same for each tenth of a trajectory. `tested` is the share of trials
    that ran tests after their last edit. `correlations` are with resolving, by what was counted; over trials that
    have a score.
    """

    trials: int
    calls: float
    kinds: Mapping[Kind, float]
    deciles: tuple[Mapping[Kind, float], ...]
    before_edit: float
    explored: float
    tests_run: float
    tested: Rate
    correlations: Mapping[str, Correlation | None]


def trial_behaviour(directory: Path, row: TrialRow) -> TrialBehaviour | None:
    """Of a run's `directory`. None where there is no trajectory, it can't be read, or its agent called nothing."""
    return behaviour_of(row, trajectory_of(directory, row))


def trajectory_of(directory: Path, row: TrialRow) -> tuple[Record, ...]:
    """The records of a trial; none where there is no trajectory or it can't be read."""
    try:
        return tuple(read_trajectory(directory / "trials" / row.trial / "trajectory.jsonl"))
    except UserError:
        return ()


def behaviour_of(row: TrialRow, records: Sequence[Record]) -> TrialBehaviour | None:
    """Pure."""
    asked = calls(records)
    done = actions(asked)
    seconds = row.usage.agent_seconds if row.usage and row.usage.agent_seconds else math.inf
    seen, marks = sightings(done, records), watch_marks(records, asked, seconds)
    if not (asked or seen or marks):
        return None
    return TrialBehaviour(
        row=row,
        records=tuple(records),
        calls=asked,
        actions=done,
        profile=profile(done, len(asked)),
        sightings=seen,
        marks=marks,
    )


Quantity = Callable[[Profile], float]
QUANTITIES: Mapping[str, Quantity] = {
    "calls": lambda found: found.calls,
    "actions before the first edit": lambda found: found.before_edit,
    "reads and searches before the first edit": lambda found: found.explored,
    "runs of tests": lambda found: found.tests_run,
    "runs of tests after the last edit": lambda found: found.tests_after_edit,
    "share of calls that failed": lambda found: found.failed / found.calls if found.calls else 0.0,
}
"""What is set against resolving."""


def system_behaviour(found: Sequence[TrialBehaviour]) -> SystemBehaviour | None:
    """None without a trial. Pure."""
    profiles = [item.profile for item in found]
    if not profiles:
        return None
    return SystemBehaviour(
        trials=len(profiles),
        calls=mean(item.calls for item in profiles),
        kinds=_mean_kinds([item.kinds for item in profiles]),
        deciles=_mean_deciles([item.deciles for item in profiles]),
        before_edit=mean(item.before_edit for item in profiles),
        explored=mean(item.explored for item in profiles),
        tests_run=mean(item.tests_run for item in profiles),
        tested=rate(sum(item.tested_before_submitting for item in profiles), len(profiles)),
        correlations={name: _correlation(found, quantity) for name, quantity in QUANTITIES.items()},
    )


def _correlation(found: Sequence[TrialBehaviour], quantity: Quantity) -> Correlation | None:
    profiles = {id(item.row): item.profile for item in found}
    scored = [item.row for item in found if item.row.is_scored]
    return correlated(scored, lambda row: quantity(profiles[id(row)]), is_resolved)


def _mean_deciles(found: Sequence[Deciles]) -> tuple[Mapping[Kind, float], ...]:
    return tuple(_mean_kinds([each[tenth] for each in found]) for tenth in range(DECILES))


def _mean_kinds(found: Sequence[Mapping[Kind, int]]) -> Mapping[Kind, float]:
    total = sum((Counter(each) for each in found), start=Counter[Kind]())
    return {kind: total[kind] / len(found) for kind in Kind if total[kind]}
