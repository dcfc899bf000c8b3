"""Activity of each trial of a run, read from its trajectory, and of each system.

It has how often an agent did what, when and in which order, and signs that it made no progress: stalls, one command
over and over, storms of errors.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import groupby
from pathlib import Path

from harness.agents.trajectory import FaultRecord, Record, read_trajectory
from harness.models.protocol import MessageRole
from harness.models.replay import MessageRecord
from harness.results.activity.actions import AgentAction, ToolUse, actions, calls, writes_manifest_alone
from harness.results.activity.out_of_bounds import Sighting, sightings
from harness.results.activity.vocabulary import Kind
from harness.results.failing.criteria import correlated, is_resolved
from harness.results.rows import TrialRow
from harness.results.statistics.clusters import Correlation, mean
from harness.results.statistics.proportions import Rate, rate
from harness.specs.errors import UserError

DECILES = 10

Deciles = tuple[Mapping[Kind, int], ...]
"""Kind -> number of actions, for each tenth of a trajectory."""


@dataclass(frozen=True)
class Profile:
    """Counts of an agent's actions. `before_edit` are those before the first that writes (all where none does).

    `explored` are those of them that read, search or navigate. `tests_run` counts runs of tests, `tests_after_edit`
    those after the last edit, where writing the manifest is none: an agent that has none of them hands in what it
    hasn't seen run. `failed` calls ended with another status than 0, as far as that is known.
    """

    calls: int
    actions: int
    kinds: Mapping[Kind, int]
    deciles: Deciles
    has_edited: bool
    before_edit: int
    explored: int
    tests_run: int
    tests_after_edit: int
    failed: int

    @property
    def tested_before_submitting(self) -> bool:
        return self.tests_after_edit > 0


def profile(found: Sequence[AgentAction], calls: int | None = None) -> Profile:
    """Count actions by kind and place. Pure. `calls` is how many there were, where some gave no action."""
    edits = [place for place, action in enumerate(found) if action.kind is Kind.WRITE]
    of_code = [place for place in edits if not writes_manifest_alone(found[place])]
    before = found[: edits[0]] if edits else found
    after = found[of_code[-1] + 1 :] if of_code else found
    asked = {action.call.position: action.call for action in found}
    return Profile(
        calls=len(asked) if calls is None else calls,
        actions=len(found),
        kinds=_counted(found),
        deciles=deciles(found),
        has_edited=bool(edits),
        before_edit=len(before),
        explored=sum(action.kind in (Kind.READ, Kind.SEARCH, Kind.NAVIGATION) for action in before),
        tests_run=_tests(found),
        tests_after_edit=_tests(after) if of_code else 0,
        failed=sum(call.is_error for call in asked.values()),
    )


def deciles(found: Sequence[AgentAction]) -> Deciles:
    """Return the actions by tenths of the trajectory, in its order; the i-th of n falls into tenth i * 10 // n."""
    parts: list[list[AgentAction]] = [[] for _ in range(DECILES)]
    for place, action in enumerate(found):
        parts[place * DECILES // len(found)].append(action)
    return tuple(map(_counted, parts))


def _counted(found: Sequence[AgentAction]) -> Mapping[Kind, int]:
    counts = Counter(action.kind for action in found)
    return {kind: counts[kind] for kind in Kind if counts[kind]}


def _tests(found: Sequence[AgentAction]) -> int:
    return sum(action.kind is Kind.TESTS for action in found)


STALL_SECONDS = 300.0
LOOP_CALLS = 4
STORM_CALLS = 8
STORM_REQUESTS = 5


class Mark(StrEnum):
    """Signs that an agent made no progress."""

    STALL = "stall"
    """Nothing was recorded for five minutes."""
    LOOP = "loop"
    """The same command four times or more without another between."""
    ERROR_STORM = "error-storm"
    """Eight calls or more in a row that failed, or five requests to the provider."""
    TIMEOUTS = "timeouts"
    """Two commands or more in a row ran into their time limit."""


@dataclass(frozen=True)
class WatchMark:
    """A sign of no progress. `step` is where it began, `length` how many calls or requests, or seconds of a stall."""

    mark: Mark
    step: int
    length: int
    words: str


def watch_marks(
    records: Sequence[Record], calls: Sequence[ToolUse], seconds: float = math.inf
) -> tuple[WatchMark, ...]:
    """Return what looks odd in a trajectory, by steps. Pure.

    `seconds` is how long the agent worked, its waits included.
    """
    found = [*_stalls(records, seconds), *_runs(calls), *_failed_requests(records)]
    return tuple(sorted(found, key=lambda mark: mark.step))


def _stalls(records: Sequence[Record], seconds: float) -> Iterator[WatchMark]:
    """Yield long waits. Records have the time of day: a wait longer than the whole work is a clock that was set."""
    before: datetime | None = None
    step = 0
    for record in records:
        waited = (record.time - before).total_seconds() if before else 0.0
        if STALL_SECONDS <= waited <= seconds:
            yield WatchMark(Mark.STALL, step, round(waited), f"nothing was recorded for {waited:.0f} s")
        before = record.time
        if isinstance(record, MessageRecord) and record.message.role is MessageRole.ASSISTANT:
            step = record.step


def _runs(calls: Sequence[ToolUse]) -> Iterator[WatchMark]:
    for (tool, text), same in groupby(calls, key=lambda call: (call.tool, call.text.strip())):
        run = list(same)
        if len(run) >= LOOP_CALLS:
            words = f"{len(run)} times in a row: {' '.join((text or tool).split())}"
            yield WatchMark(Mark.LOOP, run[0].step, len(run), words)
    for is_error, alike in groupby(calls, key=lambda call: call.is_error):
        run = list(alike)
        if is_error and len(run) >= STORM_CALLS:
            yield WatchMark(Mark.ERROR_STORM, run[0].step, len(run), f"{len(run)} calls in a row failed")
    for timed_out, late in groupby(calls, key=lambda call: call.timed_out):
        run = list(late)
        if timed_out and len(run) > 1:
            yield WatchMark(Mark.TIMEOUTS, run[0].step, len(run), f"{len(run)} commands in a row ran out of time")


def _failed_requests(records: Sequence[Record]) -> Iterator[WatchMark]:
    by_step = groupby((record for record in records if isinstance(record, FaultRecord)), key=lambda item: item.step)
    for step, same in by_step:
        failed = list(same)
        if len(failed) >= STORM_REQUESTS:
            words = f"{len(failed)} requests to the provider failed at one answer: {failed[-1].fault}"
            yield WatchMark(Mark.ERROR_STORM, step, len(failed), words)


@dataclass(frozen=True)
class TrialBehaviour:
    """One trial's agent at work. `sightings` and `marks` are never part of its verdict."""

    row: TrialRow
    records: tuple[Record, ...]
    calls: tuple[ToolUse, ...]
    actions: tuple[AgentAction, ...]
    profile: Profile
    sightings: tuple[Sighting, ...]
    marks: tuple[WatchMark, ...]


@dataclass(frozen=True)
class SystemBehaviour:
    """Activity of one system over the `trials` in which it did anything. Numbers are means over trials.

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
    """Return an agent's activity.

    None where there is no trajectory, it can't be read, or its agent called nothing.
    """
    return behaviour_of(row, trajectory_of(directory, row))


def trajectory_of(directory: Path, row: TrialRow) -> tuple[Record, ...]:
    """Return the records of a trial; none where there is no trajectory or it can't be read."""
    try:
        return tuple(read_trajectory(directory / "trials" / row.trial / "trajectory.jsonl"))
    except UserError:
        return ()


def behaviour_of(row: TrialRow, records: Sequence[Record]) -> TrialBehaviour | None:
    """Return the activity of a trial's agent; None where its trajectory has no call. Pure."""
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
"""Quantities that are set against resolving."""


def system_behaviour(found: Sequence[TrialBehaviour]) -> SystemBehaviour | None:
    """Return None without a trial. Pure."""
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
