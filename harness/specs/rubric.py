"""Rubrics: binary criteria on five axes."""

import re
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from harness.specs.first_few import first_few
from harness.specs.repo import checked_glob
from harness.specs.test_results import CriterionId, Slug
from harness.specs.yaml_files import FileModel

AXES = {
    1: "comprehensiveness",
    2: "placement",
    3: "suite conventions",
    4: "bucket conventions",
    5: "technique",
}
"""Groups of criteria; the first has exactly the must-haves."""


NAMED = 3
"""Tests that words name, of many."""


class Importance(StrEnum):
    """Importance of a criterion: must or nice."""

    MUST = "must"
    NICE = "nice"


class GradedBy(StrEnum):
    """Graders of a criterion."""

    PROBE = "probe"
    STATIC = "static"
    JUDGE = "judge"


class StaticKind(StrEnum):
    """Kinds of static checks."""

    FILE_MATCHES = "file-matches"
    TEST_NAMED = "test-named"
    USES_NAME = "uses-name"
    INSIDE = "inside"
    CALL_ABSENT = "call-absent"


class Quantifier(StrEnum):
    """Quantifiers of a static check: all tests, or any."""

    ALL = "all"
    ANY = "any"


class StaticCheck(BaseModel):
    """A check of a suite's text. `value` is what `check` asks for.

    It is a glob, a regular expression (searched), or dotted names with `|` between them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    check: StaticKind
    value: str = Field(min_length=1)
    of: Quantifier = Quantifier.ALL

    @property
    def names(self) -> tuple[str, ...]:
        """The names of a check for names or calls, of which any will do."""
        return tuple(self.value.split("|"))

    @model_validator(mode="after")
    def _value_fits(self) -> Self:
        if self.check in (StaticKind.TEST_NAMED, StaticKind.INSIDE):
            try:
                re.compile(self.value)
            except re.error as error:
                raise ValueError(f"{self.value!r} is not a regular expression: {error}") from None
        if self.check is StaticKind.FILE_MATCHES:
            checked_glob(self.value)
        if self.check in (StaticKind.USES_NAME, StaticKind.CALL_ABSENT) and not all(self.names):
            raise ValueError(f"{self.value!r} has an empty name")
        return self


class StaticAnswer(NamedTuple):
    """A static check over a suite: the tests that meet it, and those that don't."""

    check: StaticCheck
    met_by: tuple[str, ...]
    missed_by: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Return whether the suite meets it; one without tests meets nothing."""
        return bool(self.met_by) and not (self.check.of is Quantifier.ALL and self.missed_by)

    def __str__(self) -> str:
        if self.holds:
            return "so in each listed test" if self.check.of is Quantifier.ALL else f"so in {named(self.met_by)}"
        return f"not so in {named(self.missed_by) if self.check.of is Quantifier.ALL else named(())}"


def named(tests: Sequence[str]) -> str:
    """Return the first of some tests, and how many more there are, in words."""
    return first_few(tests, NAMED) or "any listed test"


class Criterion(BaseModel):
    """One binary statement about a submission."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: CriterionId
    axis: int = Field(ge=1, le=5)
    importance: Importance
    statement: str = Field(min_length=10)
    graded_by: tuple[GradedBy, ...] = Field(min_length=1)
    static: StaticCheck | None = None
    negative: bool = Field(default=False, description="met when a judge finds the statement false")
    absence: bool = Field(default=False, description="the statement says that something isn't there")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not self.id.startswith(f"{self.axis}."):
            raise ValueError(f"criterion {self.id} stands on axis {self.axis}; its id must start with that number")
        if (self.axis == 1) != (self.importance is Importance.MUST):
            raise ValueError(f"criterion {self.id}: axis 1 is exactly the must-haves")
        if (GradedBy.STATIC in self.graded_by) != (self.static is not None):
            raise ValueError(f"criterion {self.id}: graded_by static and the key 'static' go together")
        if self.negative and self.graded_by != (GradedBy.JUDGE,):
            raise ValueError(f"criterion {self.id}: only what a judge alone decides can be negative")
        return self

    @property
    def is_of_absence(self) -> bool:
        """Return whether the statement says that something isn't there: then no line of a patch can be its quote."""
        return self.absence or (self.static is not None and self.static.check is StaticKind.CALL_ABSENT)

    @property
    def decided_without_judge(self) -> bool:
        """Return whether a probe or a static check decides it, whatever a judge says."""
        return any(by is not GradedBy.JUDGE for by in self.graded_by)


class Rubric(FileModel):
    """`rubrics/ID.yaml`."""

    task: Slug
    criteria: tuple[Criterion, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _unique(self) -> Self:
        twice = [name for name, count in Counter(criterion.id for criterion in self.criteria).items() if count > 1]
        if twice:
            raise ValueError(f"criterion {twice[0]} is there twice")
        return self

    @staticmethod
    def none(task: str) -> "Rubric":
        """Return the rubric of a task which is graded without one."""
        return Rubric.model_construct(task=task, criteria=())

    @property
    def must_haves(self) -> tuple[Criterion, ...]:
        """The criteria that a submission must meet to be resolved."""
        return tuple(criterion for criterion in self.criteria if criterion.importance is Importance.MUST)
