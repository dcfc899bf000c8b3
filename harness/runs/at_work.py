"""The trials that a run has at work, in a file that is replaced while they go on and removed when they have ended."""

import asyncio
import contextlib
import os
from collections import Counter
from datetime import datetime
from pathlib import Path

from pydantic import Field

from harness.models.replay import now
from harness.runs.outcome import Phase, Stand, TrialEvent, TrialOutcome
from harness.runs.plan import Trial
from harness.runs.records import read_record, write_whole
from harness.specs.yaml_files import FileModel

AT_WORK = "at-work.json"
_SECONDS = 0.5
"""Seconds from an event to the file: events in between are written with it."""


class TrialAtWork(FileModel):
    """One trial: its try, its phase, and how far it is there. `usd` is over all phases of this try."""

    place: str = Field(description="TASK/SCAFFOLD/MODEL/ATTEMPT")
    label: str
    tried: int = Field(description="number of the try within this start, from 1")
    began: datetime
    phase: Phase | None = None
    done: int = Field(default=0, description="steps, arms or calls of the judge in this phase")
    most: int = Field(default=0, description="how many there can be; 0: unknown")
    usd: float | None = Field(default=0.0, description="null: unknown")


class AtWorkFile(FileModel):
    """`at-work.json`: how far this start of a run is. `usd` is of its agents and judges, with those at work."""

    pid: int = Field(description="of the process at work, on the machine where it runs")
    written: datetime
    total: int = Field(description="trials that this start was to do")
    ended: dict[str, int] = Field(description="verdict -> trials of this start that have ended")
    usd: float | None = 0.0
    trials: tuple[TrialAtWork, ...] = ()


class AtWork:
    """A file in the run's directory. Errors in writing it are ignored: nothing depends on it."""

    def __init__(self, directory: Path, total: int) -> None:
        self._path = directory / AT_WORK
        self._total = total
        self._trials: dict[str, TrialAtWork] = {}
        self._spent: dict[str, dict[Phase, float | None]] = {}
        self._ended: Counter[str] = Counter()
        self._usd: float | None = 0.0
        self._waiting: asyncio.TimerHandle | None = None
        self._is_closed = False

    def observe(self, trial: Trial, event: TrialEvent) -> None:
        """Take what has happened to a trial before its end."""
        known = self._trials.get(event.place)
        if known is None or known.tried != event.number:
            known = TrialAtWork(place=event.place, label=trial.label, tried=event.number, began=now())
            self._spent[event.place] = {}
        if event.stand:
            known = known.model_copy(update=self._stand(event.place, event.stand))
        self._trials[event.place] = known
        self._soon()

    def done(self, outcome: TrialOutcome) -> None:
        """Take a trial's end."""
        self._trials.pop(outcome.place, None)
        self._spent.pop(outcome.place, None)
        self._ended[outcome.verdict] += 1
        self._usd = _sum(self._usd, outcome.usage.total.cost_usd if outcome.usage else 0.0)
        self._soon()

    def close(self) -> None:
        """Remove the file; it isn't written any more."""
        self._is_closed = True
        if self._waiting:
            self._waiting.cancel()
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)

    def _stand(self, place: str, stand: Stand) -> dict[str, object]:
        spent = self._spent[place]
        spent[stand.phase] = stand.usd
        usd = _sum(*spent.values())
        return {"phase": stand.phase, "done": stand.done, "most": stand.most, "usd": usd}

    def _soon(self) -> None:
        if self._waiting is None and not self._is_closed:
            self._waiting = asyncio.get_running_loop().call_later(_SECONDS, self._write)

    def _write(self) -> None:
        self._waiting = None
        file = AtWorkFile(
            pid=os.getpid(),
            written=now(),
            total=self._total,
            ended=dict(self._ended),
            usd=_sum(self._usd, *(trial.usd for trial in self._trials.values())),
            trials=tuple(self._trials.values()),
        )
        with contextlib.suppress(OSError):
            write_whole(self._path, file.model_dump_json(indent=1) + "\n")


def read_at_work(directory: Path) -> AtWorkFile | None:
    """Return how far a run is; None where nothing is at work or the file can't be read."""
    return read_record(directory / AT_WORK, AtWorkFile)


def _sum(*parts: float | None) -> float | None:
    """Return a sum; None is unknown, and so is a sum with it."""
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None
