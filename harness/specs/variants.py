"""Changed trees, and executions of tests on them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Self

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from harness.specs.test_results import TestResult


class VariantKind(StrEnum):
    """Kinds of variants."""

    BASELINE = "baseline"
    """Pristine text, pristine code: the only variant that runs what an agent saw."""
    REWRITTEN = "rewritten"
    """Pristine behaviour, other text of it drawn by a machine."""
    TWIN = "twin"
    """An authored equivalent mutant that matches a probe."""
    PLACEBO_AUTHORED = "placebo-authored"
    """One larger authored rewriting."""
    REMOVAL = "removal"
    """The behaviour is gone, and refuses."""
    GARBAGE = "garbage"
    """The behaviour is gone, and gives plausible garbage."""
    PROBE = "probe"

    @property
    def behaves_like_baseline(self) -> bool:
        """Return whether no test may fail where variants of this kind run."""
        return self in (
            VariantKind.BASELINE,
            VariantKind.REWRITTEN,
            VariantKind.TWIN,
            VariantKind.PLACEBO_AUTHORED,
        )

    @property
    def removes(self) -> bool:
        """Return whether every listed test must fail where all variants of this kind run."""
        return self in (VariantKind.REMOVAL, VariantKind.GARBAGE)


@dataclass(frozen=True)
class Variant:
    """A changed tree. `source` is what lies on disk, `code` what runs; both map path -> bytes.

    All variants of one judging have the same keys in both maps, so that no arm shows by its files which
    one it is.
    """

    name: str
    kind: VariantKind
    source: Mapping[str, bytes] = field(default_factory=dict)
    code: Mapping[str, bytes] = field(default_factory=dict)
    criterion: str = ""


class Role(StrEnum):
    """Roles of an arm: which tests it runs, and for what question."""

    LISTED = "listed"
    """The tests of the manifest, with the patch."""
    CHANGED_BEFORE = "changed-before"
    """Tests that the patch changes, as they were before it."""
    EXISTING_BEFORE = "existing-before"
    """Tests that the patch leaves as they were, without the patch."""
    EXISTING_AFTER = "existing-after"
    """The same with the patch."""
    WHOLE_AFTER = "whole-after"
    """The repository's own run of its tests, with the patch: only its exit status is known."""
    WHOLE_BEFORE = "whole-before"
    """The same without the patch."""
    WHOLE_UNLOADABLE = "whole-unloadable"
    """The repository's own run with a test file that can't be loaded: one of the manifest, or one that was there."""
    WHOLE_MUTANT = "whole-mutant"
    """The repository's own command on the files of the manifest, and on a mutant that their tests notice."""
    EVERYTHING_MUTANT = "everything-mutant"
    """The repository's own command on such a mutant, where it finds all test files and runs those of the manifest."""
    CONTROL = "control"
    """The tests of the manifest on one mutant, where no arm is near whose code is right."""
    HIDDEN = "hidden"
    """Tests that the submission never saw, on a tree that it has changed."""
    SEEN = "seen"
    """All tests of one file of a published task, to see which there are."""
    BESIDE = "beside"
    """The tests of the manifest, some of them or in another order, for a question of the track's own."""
    PUBLISHED = "published"
    """All tests of the agent's tree, run and read by the published verifier's rules."""


VARIANT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_MOST = 999_999
_WRITTEN_ROLES = "|".join(role.value for role in Role if role is not Role.LISTED)
_SPELLING = re.compile(
    rf"({VARIANT_NAME.pattern})(?:,({_WRITTEN_ROLES}))?(?:,run-([1-9][0-9]{{0,5}}))?(?:,test-([1-9][0-9]{{0,5}}))?"
)


@dataclass(frozen=True, order=True, slots=True)
class ArmKey:
    """The identity of an arm within one judging.

    `variant` is the variant's name, `repetition` counts from 1. `part` is 0 for a whole arm; a test that is run
    again alone has its number, from 1, and so has a listed file, or a kind, of a repository's own runs. Raises
    ValueError for a name or a number that can't be written.

    `str` gives a name for files and tables, which `parse` reads: `removal`, `baseline,run-2`,
    `baseline,existing-after`, `removal,test-3`.
    """

    role: Role
    variant: str
    repetition: int = 1
    part: int = 0

    def __post_init__(self) -> None:
        if not (VARIANT_NAME.fullmatch(self.variant) and 1 <= self.repetition <= _MOST and 0 <= self.part <= _MOST):
            raise ValueError(f"no arm can be called {self.variant!r} {self.repetition} {self.part}")

    def __str__(self) -> str:
        parts = [
            self.variant,
            "" if self.role is Role.LISTED else self.role.value,
            f"run-{self.repetition}" if self.repetition > 1 else "",
            f"test-{self.part}" if self.part else "",
        ]
        return ",".join(filter(None, parts))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the arm of a text that `str` gave.

        Raises:
            ValueError: `str` doesn't give such a text.
        """
        found = _SPELLING.fullmatch(text)
        if found is None:
            raise ValueError(f"{text[:100]!r} is not the name of an arm")
        variant, role, repetition, part = found.groups()
        key = cls(Role(role or Role.LISTED), variant, int(repetition or 1), int(part or 0))
        if str(key) != text:
            raise ValueError(f"{text[:100]!r} is not the name of an arm")
        return key

    @property
    def again(self) -> "ArmKey":
        """The same arm once more."""
        return replace(self, repetition=self.repetition + 1)

    def alone(self, number: int) -> "ArmKey":
        """Return one of this arm's tests run alone, the `number`th of them."""
        return replace(self, part=number)


@lru_cache(4096)
def _arm_key(text: str) -> ArmKey:
    """Parse the name of an arm, once: the same few are in the files of all trials."""
    return ArmKey.parse(text)


ArmName = Annotated[
    ArmKey,
    PlainValidator(lambda value: value if isinstance(value, ArmKey) else _arm_key(str(value))),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string", "pattern": f"^{_SPELLING.pattern}$"}),
]
"""An `ArmKey` that is written as its name, also as the key of a mapping."""


class ArmStatus(StrEnum):
    """Ends of an arm."""

    FINISHED = "finished"
    TIMED_OUT = "timed-out"
    OVER_LIMIT = "over-limit"
    """Ended by a limit of its sandbox: disk, memory or processes."""
    WRONG_VARIANT = "wrong-variant"
    """The arm couldn't prove that its variant is what runs: an infrastructure fault, never evidence."""
    DISAGREES = "disagrees"
    """Exit status, report and collected count contradict one another."""


@dataclass(frozen=True)
class Arm:
    """One execution of tests on one variant, in a fresh container."""

    kind: VariantKind
    status: ArmStatus
    exit_status: int
    results: tuple[TestResult, ...]
    seconds: float
    test_seconds: float = 0.0
    disagreement: str = ""
