"""Turns a submission's examination into its verdict. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness import PROTOCOL_VERSION
from harness.specs.grading import GradingRules
from harness.specs.reasons import Note, NoteCode, Reason, ReasonCode, Stage
from harness.specs.task import Task
from harness.specs.variants import VariantKind
from harness.verify.arm_records import records_of
from harness.verify.arms import ArmContext
from harness.verify.conduct_verdict import judge_conduct, opinions_on_conduct
from harness.verify.evidence import Evidence
from harness.verify.examination import Examination
from harness.verify.judge.identity import JudgeIdentity
from harness.verify.judge.judge import Judging
from harness.verify.judge.questions import MANIFEST
from harness.verify.judge.voting import Opinion
from harness.verify.judge_questions import decided_by_execution, judge_manifest
from harness.verify.rubric_check import disagreements, grade, judge_rubric
from harness.verify.second_looks import failed_once, flaky_tests
from harness.verify.verdict import (
    JudgeRecord,
    ManifestStage,
    MutationStage,
    RubricStage,
    Stages,
    VerdictRecord,
    decide,
    stage_status,
)

NO_STAGES = Stages()
NO_OPINIONS: Mapping[str, Opinion] = {}
SLOW_SECONDS = 30.0
"""Of the listed tests together at baseline; beyond it they are noted as slow."""


@dataclass(frozen=True)
class Judgement:
    """The verdict, and beside it what may differ from one judging to the next: seconds of all arms' tests, and all
    that arms showed."""

    record: VerdictRecord
    patch: bytes
    arm_seconds: float = 0.0
    test_seconds: float = 0.0
    judging: Judging | None = None
    evidence: Evidence | None = None


def combine(
    task: Task,
    context: ArmContext,
    found: Examination,
    judge: JudgeIdentity | None = None,
    judging: Judging | None = None,
) -> Judgement:
    """The verdict. `judge` is who was named, `judging` what it said, None where it wasn't asked."""
    told = judge_manifest(judging, decided_by_execution(task, found)) if judging else ()
    opinions = judging.opinions if judging else {}
    reached = found.evidence if found.reaches_rubric else None
    criteria = grade(task, reached, found.check.static, opinions) if reached else ()
    rubric = judge_rubric(criteria, task)
    lost = _lost(found)
    reasons = (*found.intake.reasons, *found.check.reasons, *told, *lost, *found.mutation, *rubric)
    conduct = judge_conduct(found.check.conduct, judging, refused=bool(reasons))
    stages = Stages(
        manifest=_manifest_stage(found, (*told, *conduct)),
        mutation=_mutation_stage(found),
        rubric=RubricStage(status=stage_status(rubric), criteria=criteria) if criteria else RubricStage(),
    )
    of_text = (*found.intake.notes, *found.check.conduct, *_unchecked(found))
    notes = (*of_text, *disagreements(criteria), *_slow(found.evidence), *_flaky_once(found.evidence))
    asked = judge_record(judge, judging, opinions_on_conduct(found.check.conduct, judging))
    record = verdict_record(task, context, (*reasons, *conduct), notes, stages, asked)
    return _judgement(record, found, judging)


def verdict_record(
    task: Task,
    context: ArmContext,
    reasons: Sequence[Reason],
    notes: Sequence[Note] = (),
    stages: Stages = NO_STAGES,
    judge: JudgeRecord | None = None,
    rules: GradingRules = GradingRules.TESTWRIGHT,
) -> VerdictRecord:
    """The record of a verdict that `reasons` lead to; without any it is resolved."""
    return VerdictRecord(
        task=task.id,
        track=task.track,
        task_digest=task.digest,
        repo_digest=task.repo.digest,
        image_digest=context.image.digest,
        protocol_version=PROTOCOL_VERSION,
        protocol=rules,
        isolation=context.engine.isolation,
        verdict=decide(reasons),
        reasons=tuple(reasons),
        notes=tuple(notes),
        stages=stages,
        judge=judge,
    )


def _lost(found: Examination) -> tuple[Reason, ...]:
    """Whatever else is missing, a submission whose tests never ran isn't resolved."""
    if found.evidence is None and not (found.intake.reasons or found.check.reasons):
        return (Reason(code=ReasonCode.SANDBOX_LOST, stage=Stage.MUTATION, words="no test was run"),)
    return ()


def _judgement(record: VerdictRecord, found: Examination, judging: Judging | None) -> Judgement:
    arms = found.evidence.arms.values() if found.evidence else ()
    return Judgement(
        record,
        found.intake.patch,
        arm_seconds=sum(arm.seconds for arm in arms),
        test_seconds=sum(arm.test_seconds for arm in arms),
        judging=judging,
        evidence=found.evidence,
    )


def judge_record(
    judge: JudgeIdentity | None, judging: Judging | None, conduct: Mapping[str, Opinion] = NO_OPINIONS
) -> JudgeRecord | None:
    if judge is None:
        return None
    return JudgeRecord(
        identity=judge,
        asked=judging is not None,
        removed_characters=judging.removed if judging else 0,
        void=judging.void if judging else "",
        manifest=judging.opinions.get(MANIFEST) if judging else None,
        conduct=dict(conduct),
    )


def _manifest_stage(found: Examination, told: Sequence[Reason]) -> ManifestStage:
    if found.intake.reasons:
        return ManifestStage()
    return ManifestStage(status=stage_status([*found.check.reasons, *told]), tests=tuple(map(str, found.check.tests)))


def _mutation_stage(found: Examination) -> MutationStage:
    if found.evidence is None:
        return MutationStage()
    return MutationStage(status=stage_status(found.mutation), tests=records_of(found.evidence))


def _unchecked(found: Examination) -> tuple[Note, ...]:
    words = "nothing checks anything, in its text or in what it calls of the patch"
    return tuple(Note(code=NoteCode.WITHOUT_CHECK, subject=str(test), words=words) for test in found.check.unchecked)


def _flaky_once(evidence: Evidence | None) -> tuple[Note, ...]:
    if evidence is None or flaky_tests(evidence):
        return ()
    runs = sum(arm.kind.behaves_like_baseline for arm in evidence.listed.values())
    words = f"it failed once in {runs} runs on code of the same behaviour, and passed there when it ran twice more"
    return tuple(Note(code=NoteCode.FLAKY_ONCE, subject=str(test), words=words) for test in failed_once(evidence))


def _slow(evidence: Evidence | None) -> tuple[Note, ...]:
    arms = evidence.listed.values() if evidence else ()
    seconds = max((arm.test_seconds for arm in arms if arm.kind is VariantKind.BASELINE), default=0)
    if seconds <= SLOW_SECONDS:
        return ()
    words = f"the listed tests take more than {SLOW_SECONDS:.0f} seconds together"
    return (Note(code=NoteCode.SLOW_TESTS, words=words),)
