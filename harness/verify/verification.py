"""One submission's judging, from bytes to verdict. Read top to bottom: intake, manifest, mutation, rubric."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness import PROTOCOL_VERSION
from harness.sandbox.git_tree import GitTree
from harness.specs.errors import SandboxLost
from harness.specs.reasons import Note, NoteCode, Reason, ReasonCode, Stage, Verdict
from harness.specs.task import Task
from harness.submission.discovery.choice import discovery_of
from harness.submission.extraction import Submission
from harness.verify.arms import Bench, Suite
from harness.verify.evidence import Evidence
from harness.verify.gathering import gather_evidence
from harness.verify.intake import Intake, take_in
from harness.verify.manifest_check import ManifestCheck, check_manifest, leaning_tests
from harness.verify.mutation import judge_mutation
from harness.verify.rubric_check import grade, judge_rubric
from harness.verify.toolchains.choice import toolchain_of
from harness.verify.toolchains.protocol import Site
from harness.verify.variants import plan_variants
from harness.verify.verdict import (
    ManifestStage,
    MutationStage,
    RubricStage,
    Stages,
    StageStatus,
    TestRecord,
    VerdictRecord,
    decide,
    outcome_words,
)

SLOW_SECONDS = 30.0
"""Of the listed tests together at baseline; beyond it they are noted as slow."""


@dataclass(frozen=True)
class Judgement:
    """The verdict, and beside it what may differ from one judging to the next: seconds of all arms' tests."""

    record: VerdictRecord
    patch: bytes
    arm_seconds: float = 0.0
    test_seconds: float = 0.0


async def verify(task: Task, submission: Submission, bench: Bench) -> Judgement:
    """Judge a submission in all stages. Never raises for what a submission holds.

    Raises UserError where the task itself is wrong. A lost sandbox makes the verdict `unscored`.
    """
    tree = GitTree(bench.image.tree)
    intake = await take_in(tree, task.repo, submission.patch)
    if submission.refusal:
        refusal = Reason(code=ReasonCode.PATCH_TOO_LARGE, stage=Stage.INTAKE, words=submission.refusal)
        intake = Intake(reasons=(refusal,))
    if intake.reasons:
        return _judgement(task, bench, intake, intake.reasons, Stages())

    discovery = discovery_of(task.repo.language)
    check = check_manifest(submission.manifest, intake.changes, discovery)
    if check.reasons:
        return _judgement(task, bench, intake, check.reasons, Stages(manifest=_manifest_stage(check)))

    leaning = await leaning_tests(tree, intake.changes, discovery)
    check = replace(check, existing=(*check.existing, *leaning))
    try:
        decoy = int.from_bytes(hashlib.sha256(intake.patch).digest())
        toolchain = toolchain_of(task.repo.language)
        sources = await plan_variants(task, tree, toolchain, decoy)
        variants = await toolchain.compile(Site(bench.engine, bench.image, bench.labels), sources)
        evidence = await gather_evidence(bench, task, variants, _suite(intake, check), check)
    except SandboxLost:
        words = "a container was lost while the tests ran; judge this submission again"
        lost = Reason(code=ReasonCode.SANDBOX_LOST, stage=Stage.MUTATION, words=words)
        return _judgement(task, bench, intake, [lost], Stages(manifest=_manifest_stage(check)))
    return _weigh(task, bench, intake, check, evidence)


def _weigh(task: Task, bench: Bench, intake: Intake, check: ManifestCheck, evidence: Evidence) -> Judgement:
    mutation = judge_mutation(evidence)
    if mutation and (not evidence.probed or decide(mutation) is Verdict.UNSCORED):
        stages = Stages(manifest=_manifest_stage(check), mutation=_mutation_stage(mutation, evidence))
        return _with_seconds(_judgement(task, bench, intake, mutation, stages), evidence)
    criteria = grade(task, evidence, intake.changes)
    rubric = judge_rubric(criteria, task)
    stages = Stages(
        manifest=_manifest_stage(check),
        mutation=_mutation_stage(mutation, evidence),
        rubric=RubricStage(status=_status(rubric), criteria=criteria),
    )
    judgement = _judgement(task, bench, intake, [*mutation, *rubric], stages, _slow(evidence))
    return _with_seconds(judgement, evidence)


def _with_seconds(judgement: Judgement, evidence: Evidence) -> Judgement:
    arms = evidence.all_arms()
    return replace(
        judgement,
        arm_seconds=sum(arm.seconds for arm in arms),
        test_seconds=sum(arm.test_seconds for arm in arms),
    )


def _mutation_stage(reasons: Sequence[Reason], evidence: Evidence) -> MutationStage:
    return MutationStage(status=_status(reasons), tests=_records(evidence))


def _suite(intake: Intake, check: ManifestCheck) -> Suite:
    executable = frozenset(change.path for change in intake.changes if change.executable)
    return Suite(check.tests, intake.files, executable, intake.deleted)


def _manifest_stage(check: ManifestCheck) -> ManifestStage:
    return ManifestStage(status=_status(check.reasons), tests=tuple(map(str, check.tests)))


def _status(reasons: Sequence[Reason]) -> StageStatus:
    return StageStatus.FAILED if reasons else StageStatus.PASSED


def _records(evidence: Evidence) -> tuple[TestRecord, ...]:
    records = []
    for test in evidence.tests:
        results = {name: evidence.result(name, test) for name in sorted(evidence.arms)}
        words = {name: outcome_words(item.outcome, item.quality) for name, item in results.items() if item}
        records.append(TestRecord(test=str(test), arms=words))
    return tuple(records)


def _slow(evidence: Evidence) -> tuple[Note, ...]:
    seconds = max((arm.test_seconds for name, arm in evidence.arms.items() if name.startswith("baseline")), default=0)
    if seconds <= SLOW_SECONDS:
        return ()
    words = f"the listed tests take more than {SLOW_SECONDS:.0f} seconds together"
    return (Note(code=NoteCode.SLOW_TESTS, words=words),)


def _judgement(
    task: Task,
    bench: Bench,
    intake: Intake,
    reasons: Sequence[Reason],
    stages: Stages,
    notes: tuple[Note, ...] = (),
) -> Judgement:
    record = VerdictRecord(
        task=task.id,
        task_digest=task.digest,
        image_digest=bench.image.digest,
        protocol_version=PROTOCOL_VERSION,
        isolation=bench.engine.isolation,
        verdict=decide(reasons),
        reasons=tuple(reasons),
        notes=(*intake.notes, *notes),
        stages=stages,
    )
    return Judgement(record, intake.patch)
