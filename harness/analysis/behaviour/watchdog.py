"""Signs that an agent made no progress: stalls, one command over and over, storms of errors."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import groupby

from harness.agents.trajectory import FaultRecord, Record
from harness.analysis.behaviour.actions import Call
from harness.llm.protocol import Role
from harness.llm.recording import MessageRecord

STALL_SECONDS = 300.0
LOOP_CALLS = 4
STORM_CALLS = 8
STORM_REQUESTS = 5


class Mark(StrEnum):
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
    """`step` is where it began, `length` how many calls or requests, or seconds of a stall."""

    mark: Mark
    step: int
    length: int
    words: str


def watch_marks(records: Sequence[Record], calls: Sequence[Call], seconds: float = math.inf) -> tuple[WatchMark, ...]:
    """By their steps. `seconds` is how long the agent worked, its waits included. Pure."""
    found = [*_stalls(records, seconds), *_runs(calls), *_failed_requests(records)]
    return tuple(sorted(found, key=lambda mark: mark.step))


def _stalls(records: Sequence[Record], seconds: float) -> Iterator[WatchMark]:
    """Records have the time of day: a wait longer than the agent's whole work is a clock that was set."""
    before: datetime | None = None
    step = 0
    for record in records:
        waited = (record.time - before).total_seconds() if before else 0.0
        if STALL_SECONDS <= waited <= seconds:
            yield WatchMark(Mark.STALL, step, round(waited), f"nothing was recorded for {waited:.0f} s")
        before = record.time
        if isinstance(record, MessageRecord) and record.message.role is Role.ASSISTANT:
            step = record.step


def _runs(calls: Sequence[Call]) -> Iterator[WatchMark]:
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
