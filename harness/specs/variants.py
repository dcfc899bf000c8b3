"""Changed trees, and executions of tests on them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from harness.specs.results import TestResult


class VariantKind(StrEnum):
    BASELINE = "baseline"
    PLACEBO_TEXT = "placebo-text"
    PLACEBO_CODE = "placebo-code"
    PLACEBO_SOURCE = "placebo-source"
    PLACEBO_AUTHORED = "placebo-authored"
    REMOVAL = "removal"
    REMOVAL_PRISTINE_SOURCE = "removal-pristine-source"
    PROBE = "probe"

    @property
    def behaves_like_baseline(self) -> bool:
        return self in (
            VariantKind.BASELINE,
            VariantKind.PLACEBO_TEXT,
            VariantKind.PLACEBO_CODE,
            VariantKind.PLACEBO_SOURCE,
            VariantKind.PLACEBO_AUTHORED,
        )


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


class ArmStatus(StrEnum):
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
    """One execution of the submission's tests on one variant, in a fresh container."""

    variant: str
    kind: VariantKind
    status: ArmStatus
    exit_status: int
    results: tuple[TestResult, ...]
    seconds: float
    test_seconds: float = 0.0
    disagreement: str = ""
