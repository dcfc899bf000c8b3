"""The verdict: one function from reasons, and the record that is written of it."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import assert_never

from pydantic import BaseModel, ConfigDict, Field

from harness.judging.verify.judge.questions import JudgeIdentity
from harness.judging.verify.judge.replies import Opinion
from harness.judging.verify.rubric_check import CriterionResult
from harness.specs.grading import ControlRound, GradingRules
from harness.specs.reasons import Note, Reason, ReasonCode, Verdict
from harness.specs.test_results import Outcome, Quality
from harness.specs.tracks import BEHAVIOUR
from harness.specs.yaml_files import FileModel


class StageStatus(StrEnum):
    """Outcomes of a stage."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_JUDGED = "not-judged"
    """By nobody: an earlier stage ended the judging, or there was no judge."""

    @classmethod
    def _missing_(cls, value: object) -> "StageStatus | None":
        """Read a status as records of earlier versions have it."""
        return cls.NOT_JUDGED if value == "not-run" else None


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TestRecord(_Part):
    """One listed test in all arms: arm -> outcome, with the kill quality where it failed.

    An arm's name is its `ArmKey`, written; `same-behaviour` is the worst of all arms that behave as the baseline.
    """

    __test__ = False

    test: str
    arms: dict[str, str]


class ManifestStage(_Part):
    """The first stage in a verdict: the manifest against the patch."""

    status: StageStatus = StageStatus.NOT_JUDGED
    tests: tuple[str, ...] = ()


class MutationStage(_Part):
    """The second stage in a verdict: the tests on the variants."""

    status: StageStatus = StageStatus.NOT_JUDGED
    tests: tuple[TestRecord, ...] = ()


class RubricStage(_Part):
    """The third stage in a verdict: the criteria."""

    status: StageStatus = StageStatus.NOT_JUDGED
    criteria: tuple[CriterionResult, ...] = ()


class Stages(_Part):
    """The stages of a verdict, in their order."""

    manifest: ManifestStage = ManifestStage()
    mutation: MutationStage = MutationStage()
    rubric: RubricStage = RubricStage()


class JudgeRecord(_Part):
    """The judge that was named. It isn't `asked` if the arms already decided.

    `removed_characters` are invisible ones of the submission that it wasn't shown; `void` says why none of its
    answers counts; `manifest` is what it said of the listed tests, `conduct` of each kind of note on how the suite
    reaches its verdicts.
    """

    identity: JudgeIdentity
    asked: bool
    removed_characters: int = 0
    void: str = ""
    manifest: Opinion | None = None
    conduct: dict[str, Opinion] = {}


class VerdictRecord(FileModel):
    """`verdict.json`. The same submission judged twice gives the same bytes."""

    task: str
    track: str = Field(default=BEHAVIOUR, description="the kind of task, by whose rules it was graded")
    task_digest: str
    repo_digest: str = ""
    image_digest: str
    protocol_version: int
    protocol: GradingRules = Field(default=GradingRules.TESTWRIGHT, description="testwright or published")
    isolation: str
    control: ControlRound = Field(
        default=ControlRound.NONE, description="which kills were run again alone; none also in older verdicts"
    )
    verdict: Verdict
    reasons: tuple[Reason, ...] = ()
    notes: tuple[Note, ...] = ()
    stages: Stages = Stages()
    judge: JudgeRecord | None = None

    @property
    def is_without_judge(self) -> bool:
        """Return whether the judge couldn't be had, so that asking again may change this."""
        return any(reason.code is ReasonCode.JUDGE_UNAVAILABLE for reason in self.reasons)

    def to_json(self) -> str:
        """Return the bytes of `verdict.json` as text; the same record gives the same text."""
        return self.model_dump_json(indent=2) + "\n"


def decide(reasons: Iterable[Reason]) -> Verdict:
    """Return the verdict that reasons lead to: the gravest of theirs, and `resolved` only without any.

    Dishonesty outweighs bad work, and bad work outweighs what could not be scored: a fault elsewhere doesn't undo a
    failure that was seen.
    """
    worst = Verdict.RESOLVED
    for reason in reasons:
        verdict = reason.code.verdict
        if _severity(verdict) > _severity(worst):
            worst = verdict
    return worst


def stage_status(reasons: Sequence[Reason]) -> StageStatus:
    """Return the status of a stage that was reached.

    It is `not judged` where only a judge could have decided, and none did.
    """
    if reasons and all(reason.code is ReasonCode.JUDGE_UNAVAILABLE for reason in reasons):
        return StageStatus.NOT_JUDGED
    return StageStatus.FAILED if reasons else StageStatus.PASSED


def _severity(verdict: Verdict) -> int:
    match verdict:
        case Verdict.RESOLVED:
            return 0
        case Verdict.UNSCORED:
            return 1
        case Verdict.FAILED:
            return 2
        case Verdict.INVALID:
            return 3
        case _:
            assert_never(verdict)


def outcome_words(outcome: Outcome, quality: Quality | None) -> str:
    """Return an outcome in one word, with the kill quality of a failure behind it."""
    match outcome:
        case Outcome.PASSED | Outcome.SKIPPED | Outcome.MISSING:
            return outcome.value
        case Outcome.FAILED:
            return f"{outcome.value}: {quality.value}" if quality else outcome.value
        case _:
            assert_never(outcome)
