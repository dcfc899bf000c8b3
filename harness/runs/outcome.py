"""The outcome of a trial, and the events that are reported while trials run.

The outcome of a trial, submission or task that an error ends, and where its traceback is kept.
"""

import errno
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from harness.judging.verify.verdict import VerdictRecord
from harness.runs.finished_work import SubmissionUnread
from harness.runs.plan import Trial
from harness.runs.records import is_there, write_whole
from harness.runs.submission_files import SubmissionDamaged
from harness.runs.trial_store import UsageFile
from harness.specs.errors import (
    BudgetExhausted,
    ImageUnavailable,
    InfrastructureError,
    JudgeUnavailable,
    ProviderError,
    ToolFailed,
    UserError,
)
from harness.specs.reasons import Reason, ReasonCode, Stage, Verdict


class Progress(StrEnum):
    """Kinds of events while trials run."""

    STARTED = "started"
    AT_WORK = "at-work"
    RETRIED = "retried"
    FINISHED = "finished"


class Phase(StrEnum):
    """Phases of a trial."""

    IMAGE = "image"
    AGENT = "agent"
    ARMS = "arms"
    JUDGE = "judge"


_COUNTED = {Phase.AGENT: "step ", Phase.ARMS: "", Phase.JUDGE: "call "}


class Stand(BaseModel):
    """Progress of a trial in its phase: `done` of at most `most` steps, arms or calls; 0 where the number is unknown.

    `usd` is what the phase has cost so far, None where that isn't known.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    phase: Phase
    done: int = 0
    most: int = 0
    usd: float | None = 0.0

    def __str__(self) -> str:
        of = f" of {self.most}" if self.most else ""
        count = f", {_COUNTED[self.phase]}{self.done}{of}" if self.done and self.phase in _COUNTED else ""
        money = "unknown cost" if self.usd is None else f"${self.usd:.4f}" if self.usd else ""
        return f"{self.phase}{count}" + (f", {money}" if money else "")


Observer = Callable[[Trial, Progress, str, Stand | None], None]
"""An observer of each step of each trial: the trial, what happened, a word about it, and its progress."""


class TrialEvent(BaseModel):
    """A step of a trial at work. `number` is the attempt within this start, from 1; `fault` is what went wrong.

    `stand` is there where the trial has come one step further.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    place: str
    progress: Progress
    number: int
    fault: str = ""
    stand: Stand | None = None


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
        """Return whether the harness itself failed at this trial."""
        return any(reason.code is ReasonCode.HARNESS_ERROR for reason in self.reasons)


@dataclass(frozen=True)
class RunOutcome:
    """A trial and what it came to, for tables."""

    trial: Trial
    end: TrialOutcome

    @property
    def verdict(self) -> Verdict:
        """The trial's verdict; `unscored` where it has no record of one."""
        return self.end.verdict

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """The reasons of the verdict."""
        return self.end.reasons

    @property
    def usage(self) -> UsageFile | None:
        """Tokens and money of agent and judge, where they are known."""
        return self.end.usage

    @property
    def ending(self) -> str:
        """How the agent ended; empty where it didn't come to that."""
        return self.end.ending

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks on how the trial went, for the reader."""
        return self.end.remarks

    @property
    def record(self) -> VerdictRecord | None:
        """The record of the verdict; None where there is none."""
        return self.end.record

    @property
    def beside(self) -> VerdictRecord | None:
        """The published rules' record, where both sets of rules were asked for."""
        return self.end.beside


_CODES: Mapping[type[Exception], ReasonCode] = {
    ImageUnavailable: ReasonCode.IMAGE_UNAVAILABLE,
    ProviderError: ReasonCode.PROVIDER_ERROR,
    ToolFailed: ReasonCode.HARNESS_ERROR,
    InfrastructureError: ReasonCode.SANDBOX_LOST,
    BudgetExhausted: ReasonCode.BUDGET_EXHAUSTED,
    JudgeUnavailable: ReasonCode.JUDGE_UNAVAILABLE,
}
"""The first that fits counts; whatever else there is, is an error of the harness."""


def reason_code(error: Exception) -> ReasonCode:
    """Return the reason that an error is for a verdict of `unscored`."""
    return next((code for kind, code in _CODES.items() if isinstance(error, kind)), ReasonCode.HARNESS_ERROR)


def reason_of(error: Exception) -> Reason:
    """Return why an item that ended with this error has no verdict."""
    return Reason(code=reason_code(error), stage=Stage.TRIAL, words=message_of(error))


def message_of(error: Exception) -> str:
    """Return an error in one line; one that nobody foresaw with its class."""
    foreseen = UserError | InfrastructureError | BudgetExhausted | JudgeUnavailable
    known = isinstance(error, foreseen | SubmissionUnread | SubmissionDamaged)
    text = str(error) if known else f"{type(error).__name__}: {error}"
    if isinstance(error, OSError) and error.filename and error.strerror:
        text = f"{error.filename}: {error.strerror}; mend that and start again"
    return text.strip().partition("\n")[0]


def keep_error(directory: Path, error: Exception) -> Path:
    """Keep an error's traceback as `error-1.txt`, `error-2.txt`, ... in a directory; the file's path."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"error-{len(list(directory.glob('error-*.txt'))) + 1}.txt"
    write_whole(path, "".join(traceback.format_exception(error)))
    return path


_OF_THE_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


def ends_run(error: Exception, directory: Path) -> bool:
    """Return whether an error at one trial ends its run: no other trial could keep anything, or go on from there.

    That is so where the disk of the run's directory takes nothing any more, and where somebody removed the directory.
    """
    if not isinstance(error, OSError) or not is_below(error.filename, directory):
        return False
    return error.errno in _OF_THE_DISK or not is_there(directory / "run.yaml")


def is_below(name: object, directory: Path) -> bool:
    """Return whether the file that an OSError names lies in a directory."""
    return isinstance(name, str | Path) and Path(name).absolute().is_relative_to(directory.absolute())
