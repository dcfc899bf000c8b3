"""Findings of names that don't exist, and `names.json`, which holds those of a trial's suite."""

import hashlib
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from harness.runs.records import read_record, write_whole
from harness.specs.yaml_files import FileModel

FILE = "names.json"


class Kind(StrEnum):
    """Kinds of names."""

    MODULE = "module"
    MEMBER = "member"
    """An attribute, a name of a module, a function: whatever is reached through something else, or by itself."""
    PARAMETER = "parameter"
    ON_MOCK = "on-mock"
    """A name on a mock without a spec that only the suite touches."""


class Finding(BaseModel):
    """A name that doesn't exist, in an added line of a suite. `line` counts from 1."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: str
    line: int
    kind: Kind
    name: str
    evidence: str = Field(description="what the language, or the look at a mock, said of it")


class Working(BaseModel):
    """Complaints of absent names in what an agent's commands printed while it worked.

    `errors` are different complaints in the output of a command, summed over `commands`. `packages` are those that a
    registry doesn't have, by what the package manager printed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    commands: int
    errors: int
    packages: tuple[str, ...] = ()

    @property
    def per_hundred(self) -> float | None:
        """Errors per 100 commands; None without a command."""
        return 100 * self.errors / self.commands if self.commands else None


class NamesFile(FileModel):
    """`names.json` beside a verdict. `why_none` says why nothing was looked at, where nothing was."""

    task: str
    submission: str = Field(description="sha256 of the patch and the manifest that were looked at")
    findings: tuple[Finding, ...] = ()
    why_none: str = ""
    seconds: float = Field(default=0.0, description="processor seconds of the container")
    working: Working | None = None

    @property
    def is_measured(self) -> bool:
        return not self.why_none


def digest_of(patch: bytes, manifest: bytes) -> str:
    """Return what names a submission in `NamesFile.submission`: sha256, in hex."""
    whole = hashlib.sha256(len(patch).to_bytes(8, "big"))
    whole.update(patch)
    whole.update(manifest)
    return whole.hexdigest()


def read_names(trial: Path) -> NamesFile | None:
    """Return a trial's findings; None where nobody looked, or the file can't be read.

    Several signals ask for the same file, one after the other: it is read once.
    """
    path = trial / FILE
    try:
        found = path.stat()
    except OSError:
        return None
    return _read(path, found.st_ino, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=1)
def _read(path: Path, *_state: int) -> NamesFile | None:
    return read_record(path, NamesFile)


def keep_names(trial: Path, names: NamesFile) -> None:
    """Write them beside the verdict, whole or not at all."""
    write_whole(trial / FILE, names.model_dump_json(indent=2) + "\n")
