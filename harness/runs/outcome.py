"""The outcome of a trial, and the events that are reported while trials run."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from harness.runs.plan import Trial
from harness.runs.trial_store import UsageFile
from harness.specs.reasons import Reason, ReasonCode, Verdict
from harness.verify.verdict import VerdictRecord


class Progress(StrEnum):
    STARTED = "started"
    RETRIED = "retried"
    FINISHED = "finished"


Observer = Callable[[Trial, Progress, str], None]
"""Told of each step of each trial: the trial, what happened, and a word about it."""


class TrialEvent(BaseModel):
    """A step of a trial at work. `number` is the attempt within this start, from 1; `fault` is what went wrong."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    place: str
    progress: Progress
    number: int
    fault: str = ""


class TrialOutcome(BaseModel):
    """A trial's end, as an executor hands it back. `place` is the trial's directory below `trials/`.

    `reasons` are of the verdict, or of the fault where there is none. `record` is the verdict in full, `beside` the
    published verifier's where both were asked for. `ending` is how the agent ended, empty where none has.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    place: str
    verdict: Verdict
    reasons: tuple[Reason, ...] = ()
    usage: UsageFile | None = None
    ending: str = ""
    remarks: tuple[str, ...] = ()
    record: VerdictRecord | None = None
    beside: VerdictRecord | None = None

    @property
    def is_harness_error(self) -> bool:
        """Whether the harness itself failed at this trial."""
        return any(reason.code is ReasonCode.HARNESS_ERROR for reason in self.reasons)


@dataclass(frozen=True)
class Outcome:
    """A trial and what it came to, for tables."""

    trial: Trial
    end: TrialOutcome

    @property
    def verdict(self) -> Verdict:
        return self.end.verdict

    @property
    def reasons(self) -> tuple[Reason, ...]:
        return self.end.reasons

    @property
    def usage(self) -> UsageFile | None:
        return self.end.usage

    @property
    def ending(self) -> str:
        return self.end.ending

    @property
    def remarks(self) -> tuple[str, ...]:
        return self.end.remarks

    @property
    def record(self) -> VerdictRecord | None:
        return self.end.record

    @property
    def beside(self) -> VerdictRecord | None:
        return self.end.beside
