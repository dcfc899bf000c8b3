"""The attempts of a trial, over all starts of its run: when, how each ended, what it cost."""

from datetime import datetime
from enum import StrEnum
from pathlib import Path

from pydantic import Field

from harness.models.replay import now
from harness.runs.records import append_line, read_lines
from harness.specs.reasons import Reason, ReasonCode, Stage
from harness.specs.usage import NO_USAGE, Usage
from harness.specs.whole_text import whole_json
from harness.specs.yaml_files import FileModel


class AttemptEnd(StrEnum):
    """Ends of an attempt."""

    JUDGED = "judged"
    FAULT = "fault"
    """The infrastructure failed, or the run's money was spent."""
    HARNESS_ERROR = "harness-error"
    INTERRUPTED = "interrupted"


class AttemptRecord(FileModel):
    """A line of `ATTEMPT.attempts.jsonl`, beside the trial's directory. `number` counts from 1 over all starts.

    `code` and `message` say what went wrong. `is_final` is False where the trial was tried again at once. `kept` is
    the directory that has what the attempt left behind, where it isn't the trial's own, and `traceback` the file with
    an unforeseen error. `usage` is what the attempt has cost, agent and judge together.
    """

    number: int
    started: datetime
    ended: datetime = Field(default_factory=now)
    end: AttemptEnd
    code: ReasonCode | None = None
    message: str = ""
    is_final: bool = True
    kept: str = ""
    traceback: str = ""
    usage: Usage = NO_USAGE

    @property
    def reason(self) -> Reason | None:
        """Return why the trial has no verdict, where this attempt was its last and ended without one."""
        if self.code is None or not self.is_final:
            return None
        return Reason(code=self.code, stage=Stage.TRIAL, words=self.message)


def _is_record(line: bytes) -> bool:
    try:
        AttemptRecord.model_validate_json(line)
    except ValueError:
        return False
    return True


class AttemptLog:
    """The attempts of one trial. A line that can't be read is left out."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> list[AttemptRecord]:
        """Return the attempts in the order of their ends."""
        return read_lines(self.path, AttemptRecord)

    @property
    def is_damaged(self) -> bool:
        """Return whether a line of it can't be read."""
        try:
            lines = self.path.read_bytes().splitlines()
        except FileNotFoundError:
            return False
        except OSError:
            return True
        return any(line.strip() and not _is_record(line) for line in lines)

    def next_number(self) -> int:
        return max((record.number for record in self.read()), default=0) + 1

    def add(self, record: AttemptRecord) -> None:
        """Append one line; it is on the disk when this returns."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        append_line(self.path, whole_json(record))
