"""The way from a submission's examination to its verdict. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness import PROTOCOL_VERSION
from harness.judging.verify.arms import ArmContext
from harness.judging.verify.chance_failures import excused_arms, failed_once, flaky_tests
from harness.judging.verify.evidence import AT_BASELINE, Evidence
from harness.judging.verify.examination import (
    Examination,
    decided_by_execution,
    judge_conduct,
    judge_manifest,
    opinions_on_conduct,
)
from harness.judging.verify.judge.judge import JudgeReport
from harness.judging.verify.judge.questions import MANIFEST, JudgeIdentity
from harness.judging.verify.judge.replies import Opinion
from harness.judging.verify.rubric_check import disagreements, grade, judge_rubric
from harness.judging.verify.verdict import (
    JudgeRecord,
    ManifestStage,
    MutationStage,
    RubricStage,
    Stages,
    TestRecord,
    VerdictRecord,
    decide,
    outcome_words,
    stage_status,
)
from harness.specs.grading import ControlRound, GradingRules
from harness.specs.reasons import Note, NoteCode, Reason, ReasonCode, Stage
from harness.specs.task import Task
from harness.specs.test_results import Outcome, Quality, TestId, TestResult
from harness.specs.variants import VariantKind

LIKE_BASELINE = "same-behaviour"
"""All other arms under whose variants a test must pass as it does at baseline: how many there are is drawn."""


def records_of(evidence: Evidence) -> tuple[TestRecord, ...]:
    """Return each listed test's outcomes, by the names of the arms that every judging has.

    Arms whose number and place were drawn are one entry, so that the same submission gives the same record.
    """
    return tuple(TestRecord(test=str(test), arms=_outcomes(evidence, test)) for test in evidence.tests)


def _outcomes(evidence: Evidence, test: TestId) -> dict[str, str]:
    first = {key: arm for key, arm in sorted(evidence.listed.items()) if key.repetition == 1}
    alike = [key for key, arm in first.items() if arm.kind.behaves_like_baseline and key != AT_BASELINE]
    excused = excused_arms(evidence)
    like_baseline = [item for key in alike if key not in excused and (item := evidence.result(key, test))]
    found = {str(key): item for key in first if key not in alike and (item := evidence.result(key, test))}
    if like_baseline:
        found[LIKE_BASELINE] = min(like_baseline, key=_standing)
    return {name: outcome_words(item.outcome, item.quality) for name, item in sorted(found.items())}


def _standing(item: TestResult) -> tuple[bool, list[int]]:
    """Return a key that sorts failures before passes, and two failures always in the same order."""
    qualities, outcomes = list(Quality), list(Outcome)
    quality = qualities.index(item.quality) if item.quality else len(qualities)
    return item.outcome is Outcome.PASSED, [outcomes.index(item.outcome), quality]


NO_STAGES = Stages()
NO_OPINIONS: Mapping[str, Opinion] = {}
SLOW_SECONDS = 30.0
"""Seconds of the listed tests together at baseline beyond which they are noted as slow."""


@dataclass(frozen=True)
class Judgement:
    """A verdict, and beside it what may differ between two judgings: the tests' seconds, and the arms' results."""

    record: VerdictRecord
    patch: bytes
    arm_seconds: float = 0.0
    test_seconds: float = 0.0
    judging: JudgeReport | None = None
    evidence: Evidence | None = None


def judgement_of(
    task: Task,
    context: ArmContext,
    found: Examination,
    judge: JudgeIdentity | None = None,
    judging: JudgeReport | None = None,
) -> Judgement:
    """Combine intake, evidence and the judge's answers into a judgement. Pure.

    Args:
        task: What was asked for.
        context: Its image and engine are named in the verdict.
        found: What was read of the submission, and what its arms showed.
        judge: Who was named; None without a judge.
        judging: The judge's answers; None where it wasn't asked.
    """
    told = judge_manifest(judging, decided_by_execution(task, found)) if judging else ()
    opinions = judging.opinions if judging else {}
    reached = found.evidence if found.reaches_rubric else None
    criteria = grade(task, reached, found.check.static, opinions) if reached else ()
    rubric = judge_rubric(criteria, task)
    lost = _lost(task, found)
    reasons = (*found.intake.reasons, *found.check.reasons, *told, *lost, *found.mutation, *rubric)
    conduct = judge_conduct(found.check.conduct, judging, refused=bool(reasons))
    stages = Stages(
        manifest=_manifest_stage(found, (*told, *conduct)),
        mutation=_mutation_stage(found),
        rubric=RubricStage(status=stage_status(rubric), criteria=criteria) if criteria else RubricStage(),
    )
    of_text = (*found.intake.notes, *found.check.conduct, *_unchecked(found))
    of_arms = (*_slow(found.evidence), *_flaky_once(found.evidence), *_skipped_cases(found.evidence))
    notes = (*of_text, *disagreements(criteria), *of_arms)
    asked = judge_record(judge, judging, opinions_on_conduct(found.check.conduct, judging))
    record = verdict_record(task, context, (*reasons, *conduct), notes, stages, asked)
    if found.evidence:
        record = record.model_copy(update={"control": found.evidence.control})
    return _judgement(record, found, judging)


def verdict_record(
    task: Task,
    context: ArmContext,
    reasons: Sequence[Reason],
    notes: Sequence[Note] = (),
    stages: Stages = NO_STAGES,
    judge: JudgeRecord | None = None,
    rules: GradingRules = GradingRules.TESTWRIGHT,
    control: ControlRound = ControlRound.NONE,
) -> VerdictRecord:
    """Return the record of the verdict that `reasons` lead to.

    Args:
        task: Named in it, with its digests.
        context: Its image and isolation are named.
        reasons: Without any it is `resolved`.
        notes: Beside the verdict.
        stages: As far as they were reached.
        judge: The judge that was named.
        rules: By which it was graded.
        control: The control round of which nothing is missing: where no tests are judged, the one that was asked for.
    """
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
        control=control,
    )


_HALF = "its probes aren't in this catalog, which has the public half of the task; name the one with the private half"


def _lost(task: Task, found: Examination) -> tuple[Reason, ...]:
    """Return why a submission whose tests never ran isn't resolved."""
    if found.evidence is not None or found.is_refused:
        return ()
    if task.is_public_half:
        return (Reason(code=ReasonCode.PROBE_UNAVAILABLE, stage=Stage.MUTATION, words=_HALF),)
    return (Reason(code=ReasonCode.SANDBOX_LOST, stage=Stage.MUTATION, words="no test was run"),)


def _judgement(record: VerdictRecord, found: Examination, judging: JudgeReport | None) -> Judgement:
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
    judge: JudgeIdentity | None, judging: JudgeReport | None, conduct: Mapping[str, Opinion] = NO_OPINIONS
) -> JudgeRecord | None:
    """Return the verdict's record of its judge; None where none was named."""
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


def _skipped_cases(evidence: Evidence | None) -> Iterator[Note]:
    if evidence is None:
        return
    words = "some of its cases are skipped, or expected to fail, on the code as it is; others pass"
    for test in evidence.tests:
        found = evidence.result(AT_BASELINE, test)
        if found and found.outcome is Outcome.PASSED and found.skipped:
            yield Note(code=NoteCode.SKIPPED_CASES, subject=str(test), words=words)
