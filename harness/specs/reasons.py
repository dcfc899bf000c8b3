"""Reasons, and the verdict that each leads to.

A track of a plugin may have reasons of its own: it registers each with the verdict that it leads to.
"""

from enum import StrEnum
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler

from harness.specs.errors import UserError
from harness.specs.registry import Registry
from harness.specs.whole_text import WholeText


class Verdict(StrEnum):
    """Verdicts of a trial."""

    RESOLVED = "resolved"
    FAILED = "failed"
    INVALID = "invalid"
    UNSCORED = "unscored"


REASONS: Registry[Verdict] = Registry("reason", "testwright.reasons", {})
"""Codes of plugins' reasons, each with the verdict that it leads to: failed, invalid or unscored."""


class Stage(StrEnum):
    """Stages of a trial."""

    INTAKE = "intake"
    MANIFEST = "manifest"
    MUTATION = "mutation"
    RUBRIC = "rubric"
    TRIAL = "trial"


class ReasonCode(StrEnum):
    """Codes of reasons; each knows the verdict it leads to.

    A code that a plugin has registered is one as well: `ReasonCode("not-located")`. Iterating gives the core's alone.
    """

    EMPTY_SUBMISSION = "empty-submission"
    PATCH_DOES_NOT_APPLY = "patch-does-not-apply"
    PATCH_TOO_LARGE = "patch-too-large"
    MANIFEST_MISSING = "manifest-missing"
    MANIFEST_UNPARSEABLE = "manifest-unparseable"
    MANIFEST_UNKNOWN_TEST = "manifest-unknown-test"
    MANIFEST_UNLISTED_TEST = "manifest-unlisted-test"
    MANIFEST_AMBIGUOUS = "manifest-ambiguous"
    MANIFEST_DUPLICATE = "manifest-duplicate"
    MANIFEST_NOT_A_TEST = "manifest-not-a-test"
    ASSERTS_NOTHING = "asserts-nothing"
    BASELINE_RED = "baseline-red"
    BASELINE_SKIPPED = "baseline-skipped"
    BASELINE_MISSING = "baseline-missing"
    FLAKY = "flaky"
    PLACEBO_SENSITIVE = "placebo-sensitive"
    SURVIVED_REMOVAL = "survived-removal"
    KILLED_BY_COLLECTION = "killed-by-collection"
    EXISTING_TEST_BROKEN = "existing-test-broken"
    ARM_TIMEOUT = "arm-timeout"
    ARM_LIMIT = "arm-limit"
    CRITERION_UNMET = "criterion-unmet"
    KILL_NOT_REPEATED = "kill-not-repeated"
    CONDUCT_REFUSED = "conduct-refused"
    FORGED_REPORT = "forged-report"
    UNSAFE_PATH = "unsafe-path"
    SANDBOX_LOST = "sandbox-lost"
    IMAGE_UNAVAILABLE = "image-unavailable"
    JUDGE_UNAVAILABLE = "judge-unavailable"
    JUDGE_UNPARSEABLE = "judge-unparseable"
    PROBE_UNAVAILABLE = "probe-unavailable"
    PROVIDER_ERROR = "provider-error"
    BUDGET_EXHAUSTED = "budget-exhausted"
    HARNESS_ERROR = "harness-error"
    NEEDS_REVIEW = "needs-review"

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        """Return the code of this name that a plugin has registered, the same object each time."""
        if not isinstance(value, str) or value not in REASONS.names:
            return None
        made = str.__new__(cls, value)
        made._name_, made._value_ = value.upper().replace("-", "_"), value
        return cls._value2member_map_.setdefault(value, made)  # type: ignore[return-value]

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the schema of the core's codes and of any that a plugin may register."""
        core = handler(schema)
        found = handler.resolve_ref_schema(core)
        names = found.pop("enum")
        found["anyOf"] = [{"enum": names}, {"pattern": "^[a-z]+(-[a-z]+)*$", "description": "a plugin's"}]
        return core

    @property
    def verdict(self) -> Verdict:
        """The verdict that this reason alone leads to: never `resolved`.

        Raises:
            UserError: A plugin has registered the code with no such verdict.
        """
        if self.name not in ReasonCode.__members__:
            return _of_plugin(self)
        if self in _INVALID:
            return Verdict.INVALID
        if self in _UNSCORED:
            return Verdict.UNSCORED
        return Verdict.FAILED


def _of_plugin(code: ReasonCode) -> Verdict:
    verdict = REASONS.get(code)
    if not isinstance(verdict, Verdict) or verdict is Verdict.RESOLVED:
        raise UserError(
            f"reason {code}: it is registered with {verdict!r}, and must lead to a verdict that isn't resolved"
        )
    return verdict


_INVALID = frozenset({ReasonCode.FORGED_REPORT, ReasonCode.UNSAFE_PATH})
_UNSCORED = frozenset(
    {
        ReasonCode.SANDBOX_LOST,
        ReasonCode.IMAGE_UNAVAILABLE,
        ReasonCode.JUDGE_UNAVAILABLE,
        ReasonCode.JUDGE_UNPARSEABLE,
        ReasonCode.PROBE_UNAVAILABLE,
        ReasonCode.PROVIDER_ERROR,
        ReasonCode.BUDGET_EXHAUSTED,
        ReasonCode.HARNESS_ERROR,
        ReasonCode.NEEDS_REVIEW,
    }
)


class NoteCode(StrEnum):
    """Codes of notes beside a verdict, which never change it."""

    PRODUCTION_EDIT = "production-edit"
    RUNNER_EDIT = "runner-edit"
    JUDGE_PROBE_DISAGREE = "judge-probe-disagree"
    SLOW_TESTS = "slow-tests"
    FLAKY_ONCE = "flaky-once"
    SKIPPED_CASES = "skipped-cases"
    WITHOUT_CHECK = "without-check"
    INSPECTS_CODE = "inspects-code"
    COPIED_ORACLE = "copied-oracle"
    RECORDED_ORACLE = "recorded-oracle"
    ABSENT_NAME = "absent-name"

    @property
    def is_of_a_look(self) -> bool:
        """Return whether a look beside the judging says this, and not the judging itself."""
        return self is NoteCode.ABSENT_NAME


class Reason(BaseModel):
    """A reason for a verdict. `subject` is the test or criterion it is about, or empty.

    `words` holds no test output, address, port or anything else that differs from one judging to the next.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    code: ReasonCode
    stage: Stage
    subject: WholeText = ""
    words: WholeText


class Note(BaseModel):
    """A note beside a verdict, which never changes it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    code: NoteCode
    subject: WholeText = ""
    words: WholeText
