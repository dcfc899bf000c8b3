"""`design.yaml`: where a requirement is silent, and the mutants of its rules. Agents never see it."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from harness.specs.errors import UserError
from harness.specs.test_results import Slug
from harness.specs.yaml_files import FileModel, read_text

PLAY = "testwright_design"
"""The folder of an arm's tree that has adapter and cases."""
SUBJECT = f"{PLAY}/subject.py"
_MUTANT_ID = r"^1\.[1-9][0-9]?-(boundary|partition|pair)-[a-z0-9]+$"


class MutantKind(StrEnum):
    """Kinds of mutants: what a case must hit to kill one."""

    PARTITION = "partition"
    """A rule is gone, or holds where it doesn't: any case of the partition kills it."""
    BOUNDARY = "boundary"
    """The edge is elsewhere by one step: only the value at the edge kills it."""
    PAIR = "pair"
    """Wrong only where two things hold at once."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Change(_Part):
    """One change of a text: `find` must be in it exactly once."""

    what: str = Field(min_length=5)
    find: str = Field(min_length=1)
    put: str
    file: str = SUBJECT

    def applied(self, text: str, where: str) -> str:
        """Return the text with the change.

        Raises:
            UserError: The place that is meant isn't there, or is there twice.
        """
        if words := self.misfit(text):
            raise UserError(f"{where}: {words}")
        return text.replace(self.find, self.put)

    def misfit(self, text: str) -> str:
        """Return why the change can't be made in its file's text; empty where it can."""
        count = text.count(self.find)
        words = f"{self.file} has {self.find.strip()[:60]!r} {count} times; it must be there once"
        return "" if count == 1 else words


class MutantSpec(_Part):
    """A mutant: RULE-KIND-NAME. `probe` is one of the base task's, in place of a change.

    `neighbours` are cases of `neighbours.yaml` beside a boundary: right, and blind to this mutant.
    """

    id: Annotated[str, StringConstraints(pattern=_MUTANT_ID)]
    what: str = Field(min_length=5)
    find: str = ""
    put: str = ""
    file: str = SUBJECT
    probe: str = ""
    neighbours: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if bool(self.find) == bool(self.probe):
            raise ValueError("a mutant has either 'find' and 'put', or a 'probe' of the base task")
        if self.kind is MutantKind.BOUNDARY and len(self.neighbours) < 2:
            raise ValueError("a mutant of a boundary names two 'neighbours' or more: values beside the edge miss it")
        if self.kind is not MutantKind.BOUNDARY and self.neighbours:
            raise ValueError("only a mutant of a boundary has 'neighbours'")
        return self

    @property
    def rule(self) -> str:
        return self.id.partition("-")[0]

    @property
    def kind(self) -> MutantKind:
        return MutantKind(self.id.split("-")[1])

    @property
    def change(self) -> Change:
        """Return the change that makes it, where no probe does."""
        return Change(what=self.what, find=self.find, put=self.put, file=self.file)


class DesignFile(FileModel):
    """`design.yaml`. `base` is the task of this catalog whose code is tested; without it the task brings its own."""

    base: Slug | None = None
    frame: str = Field(default="python", description="language of the adapter: python, or own for adapter/run")
    silences: tuple[Change, ...] = Field(min_length=1)
    mutants: tuple[MutantSpec, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _unique(self) -> Self:
        ids = [mutant.id for mutant in self.mutants]
        if twice := [name for name in ids if ids.count(name) > 1]:
            raise ValueError(f"mutants: {twice[0]} is there twice")
        if self.base is None and any(mutant.probe for mutant in self.mutants):
            raise ValueError("mutants: a probe needs the key 'base'")
        return self


def line_with(path: Path, text: str) -> int:
    """Return the first line (from 1) of a file that has a text; 1 where none has."""
    return next((number for number, line in enumerate(read_text(path).splitlines(), 1) if text in line), 1)


def changed(texts: Mapping[str, str], changes: Iterable[Change], path: Path) -> dict[str, str]:
    """Return the texts that changes make, by file: those that differ.

    Args:
        texts: File -> text as it is.
        changes: Applied in order.
        path: The file that has the changes, for messages.
    """
    made: dict[str, str] = {}
    for change in changes:
        where = f"{path}:{line_with(path, change.what)}"
        before = made.get(change.file, texts.get(change.file))
        if before is None:
            raise UserError(f"{where}: there is no text file {change.file!r} to change")
        made[change.file] = change.applied(before, where)
    return made
