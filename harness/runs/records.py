"""Files of ours that hold one model, written so that a crash at any moment loses nothing.

`agent.json`: facts about an agent's work beside the submission and the trajectory.

The attempts of a trial, over all starts of its run: when, how each ended, what it cost.

An agent's finished work that could not be read: it is kept, and a later start reads it.

The work is paid even if the cache's disk is full or a tool fails; the run's directory may be on another disk.
"""

import os
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO, TypeVar

from pydantic import BaseModel, Field

from harness.judging.submission.extraction import MAX_EXPORT_BYTES
from harness.models.replay import now
from harness.sandbox.archives import capped
from harness.sandbox.protocol import AGENT_LOGS, Sandbox
from harness.specs.reasons import Reason, ReasonCode, Stage
from harness.specs.usage import NO_USAGE, Usage
from harness.specs.yaml_files import FileModel

FileT = TypeVar("FileT", bound=FileModel)
LineT = TypeVar("LineT", bound=BaseModel)


def read_record(path: Path, model: type[FileT]) -> FileT | None:
    """Return a record of ours, or None where it is absent or was cut by a crash."""
    try:
        return model.model_validate_json(path.read_bytes())
    except (OSError, ValueError):
        return None


def read_lines(path: Path, model: type[LineT]) -> list[LineT]:
    """Return the records of a file with one to a line, without those that can't be read; none where there is no
    file.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return []
    records = []
    for line in lines:
        try:
            records.append(model.model_validate_json(line))
        except ValueError:
            continue
    return records


def write_whole(path: Path, data: str | bytes) -> None:
    """Replace a file whole: a reader finds the old one or the new one, never a part."""
    partial = _partial(path)
    try:
        with _opened(partial) as file:
            file.write(data.encode() if isinstance(data, str) else data)
            file.truncate()
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:  # it names the other file, or both, or none
        raise type(error)(error.errno, error.strerror, str(path)) from None


def reserve(path: Path, size: int) -> None:
    """Take room on the disk for a file that `write_whole` writes later, whoever fills the disk in the meantime.

    Raises OSError that names the file.
    """
    partial = _partial(path)
    with naming(path):
        try:
            with partial.open("wb") as file:
                os.posix_fallocate(file.fileno(), 0, size)
        except OSError:
            partial.unlink(missing_ok=True)
            raise


def give_back(path: Path) -> None:
    """Let go of room that was reserved for a file and not used."""
    with suppress(OSError):
        _partial(path).unlink()


def is_there(path: Path) -> bool:
    """Return whether a file or directory is there; not where the disk doesn't let us know."""
    try:
        return path.exists()
    except OSError:
        return False


def _partial(path: Path) -> Path:
    return path.with_name(f".{path.name}.partial")


def _opened(partial: Path) -> BinaryIO:
    """Open a file for writing from its begin: the space that is reserved there is used first."""
    try:
        return partial.open("r+b")
    except FileNotFoundError:
        return partial.open("wb")


def append_line(path: Path, line: str) -> None:
    """Append a line, after one that a crash has cut too; it is on the disk when this returns."""
    with naming(path), path.open("ab+") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            line = line if file.read(1) == b"\n" else f"\n{line}"
        file.write(f"{line}\n".encode())
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name the file in errors of the disk within this block: those of write and fsync don't by themselves."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


PATCH = "patch.diff"
MANIFEST = "manifest.yaml"


class AgentFile(FileModel):
    """`agent.json`: written once the submission is safely on disk. The agent is never paid again after that.

    `identity` is the trial's. `message` says more of an ending than its name. `seconds` is wall time, with the
    sandbox's start and the reading of the submission. `counted_seconds` is what the agent's clock showed,
    `model_seconds` the part of it in which a model composed an answer; `waiting_seconds` of failed requests and rate
    limits are in neither. `format_errors` are malformed calls; null where the agent doesn't tell of them.
    `patch_sha256` and `manifest_sha256` are of the files in `submission/`; earlier versions didn't write them.
    """

    identity: str = ""
    ending: str
    message: str = ""
    steps: int
    usage: Usage
    seconds: float
    refusal: str = ""
    remarks: tuple[str, ...] = ()
    counted_seconds: float = 0.0
    model_seconds: float = 0.0
    waiting_seconds: float = 0.0
    failed_requests: int = 0
    format_errors: int | None = None
    patch_sha256: str = ""
    manifest_sha256: str = ""

    def sums(self) -> Iterator[tuple[str, str]]:
        """Yield each file in `submission/` whose sha256 is known, and that."""
        if self.patch_sha256:
            yield PATCH, self.patch_sha256
        if self.manifest_sha256:
            yield MANIFEST, self.manifest_sha256


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
        append_line(self.path, record.model_dump_json())


_CHUNK = 1 << 20
_WHOLE = "agent.json"


class SubmissionUnread(Exception):
    """An agent has done its work, and nothing could be made of it here and now. It isn't paid again for that."""


class UnreadWork:
    """A directory with the tars of one sandbox. It is there once `agent` says so, which is written last."""

    def __init__(self, folder: Path, workdir: str) -> None:
        self._folder = folder
        self._tars = {AGENT_LOGS: folder / "logs.tar", workdir: folder / "tree.tar"}

    def agent(self) -> AgentFile | None:
        """Return how the agent ended; None where nothing is kept."""
        return read_record(self._folder / _WHOLE, AgentFile)

    async def keep(self, sandbox: Sandbox, agent: AgentFile) -> None:
        """Copy what a killed sandbox holds. Raises OSError, SandboxLost, LimitReached."""
        self._folder.mkdir(exist_ok=True)
        for path, tar in self._tars.items():
            try:
                async with sandbox.export_tree(path, MAX_EXPORT_BYTES) as chunks:
                    with naming(tar), tar.open("wb") as file:
                        async for chunk in chunks:
                            file.write(chunk)
            except FileNotFoundError:
                continue
        write_whole(self._folder / _WHOLE, agent.model_dump_json(indent=2) + "\n")

    @asynccontextmanager
    async def export_tree(self, path: str, limit: int) -> AsyncIterator[AsyncIterator[bytes]]:
        """See `Sandbox`."""
        with self._tars[path].open("rb") as file:

            async def chunks() -> AsyncIterator[bytes]:
                while chunk := file.read(_CHUNK):
                    yield chunk

            yield capped(chunks(), limit)

    def remove(self) -> None:
        """Remove the file, once it has been read."""
        shutil.rmtree(self._folder, ignore_errors=True)
