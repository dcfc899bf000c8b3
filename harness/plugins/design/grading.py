"""A design's judging: its file, its manifest, both correct implementations, the mutants, the rules."""

from dataclasses import dataclass
from pathlib import PurePosixPath

from harness.judging.languages.found import TooMuchToRead
from harness.judging.languages.protocol import IdForm
from harness.judging.submission.extraction import Submission
from harness.judging.submission.manifest import ManifestError, parse_manifest
from harness.judging.verify.arms import ArmRunner
from harness.judging.verify.evidence import AT_BASELINE, Evidence, UnkeptArms, listed_arm, new_draw
from harness.judging.verify.intake import Intake, ingest
from harness.judging.verify.judgement import Judgement, judge_record, records_of, verdict_record
from harness.judging.verify.rubric_check import CriterionResult, grade, judge_rubric
from harness.judging.verify.suite_reader import read_apart
from harness.judging.verify.verdict import (
    ManifestStage,
    MutationStage,
    RubricStage,
    Stages,
    VerdictRecord,
    stage_status,
)
from harness.judging.verify.verification import Judging
from harness.plugins.design.arms import OTHER, Bench, suite
from harness.plugins.design.played import Case, read_design
from harness.plugins.design.reading import TooMany, Unreadable
from harness.plugins.design.reasons import CASE_UNREADABLE, CASE_WRONG, OVER_SPECIFIED, TOO_MANY_CASES
from harness.plugins.design.task import CASES, FEATURE, DesignTask, test_ids
from harness.sandbox.git_tree import GitTree
from harness.specs.errors import SandboxLost, UserError
from harness.specs.reasons import Reason, ReasonCode, Stage
from harness.specs.task import Task
from harness.specs.test_results import Outcome, TestId
from harness.specs.variants import ArmStatus

IDS = IdForm(words="the ids of the cases", examples=("TC-01", "TC-02"), test_of=lambda name: name)
AT_OTHER = listed_arm(OTHER)
CORRECT = (AT_BASELINE, AT_BASELINE.again, AT_OTHER)
_MOST_FAULTS = 10


@dataclass(frozen=True)
class Found:
    """A submission's cases as its text has them. With `reasons` nothing of it is played."""

    intake: Intake
    file: str = CASES
    cases: tuple[Case, ...] = ()
    reasons: tuple[Reason, ...] = ()

    @property
    def tests(self) -> tuple[TestId, ...]:
        return test_ids(self.file, self.cases)


def design_task(task: Task) -> DesignTask:
    """Return a task of this track as such.

    Raises:
        UserError: The task is of another track.
    """
    if isinstance(task, DesignTask):
        return task
    raise UserError(f"task {task.id}: it is not of the track 'design'")


async def grade_design(judging: Judging, submission: Submission, /) -> Judgement:
    """See `Grader`. A judge is never asked: all must-haves are decided by what was played."""
    task = design_task(judging.task)
    found = await read_cases_of(task, GitTree(judging.context.image.tree), submission)
    evidence = None if found.reasons else await _evidence(task, judging, found)
    record = _record(task, judging, found, evidence)
    arms = evidence.arms.values() if evidence else ()
    seconds = sum(arm.seconds for arm in arms)
    return Judgement(record, found.intake.patch, seconds, sum(arm.test_seconds for arm in arms), evidence=evidence)


async def read_cases_of(task: DesignTask, tree: GitTree, submission: Submission) -> Found:
    """Return what a submission holds, or why it is refused. Nothing that it holds raises an error."""
    intake = await ingest(tree, task.repo, submission.patch)
    if submission.refusal:
        reason = Reason(code=ReasonCode.PATCH_TOO_LARGE, stage=Stage.INTAKE, words=submission.refusal)
        return Found(Intake(reasons=(reason,)), reasons=(reason,))
    if intake.reasons:
        return Found(intake, reasons=intake.reasons)
    files = {path: data for path, data in intake.files.items() if PurePosixPath(path).name != ".gitkeep"}
    if len(files) != 1 or not files.keys() <= {CASES, FEATURE}:
        words = (
            f"expected one file, {CASES} or {FEATURE}; there are: {', '.join(map(_shown, sorted(files))) or 'none'}"
        )
        return Found(intake, reasons=(_refused(CASE_UNREADABLE, words),))
    [(file, data)] = files.items()
    try:
        cases, faults = await read_apart(lambda: read_design(data, file, task.vocabulary))
    except TooMuchToRead as error:
        return Found(intake, file, reasons=(_refused(CASE_UNREADABLE, str(error)),))
    reasons = tuple(_unreadable(file, fault) for fault in faults[:_MOST_FAULTS])
    return Found(intake, file, cases, reasons or check_listed(file, cases, submission.manifest))


def check_listed(file: str, cases: tuple[Case, ...], manifest: bytes) -> tuple[Reason, ...]:
    """Return how the manifest and the file's cases differ."""
    if not manifest.strip():
        return (_refused(ReasonCode.MANIFEST_MISSING, "there is no manifest"),)
    try:
        told = parse_manifest(manifest, IDS).tests
    except ManifestError as error:
        return (_refused(error.code, str(error)),)
    known = test_ids(file, cases)
    unknown = [test for test in told if test not in known]
    unlisted = [test for test in known if test not in told]
    return (
        *(_refused(ReasonCode.MANIFEST_UNKNOWN_TEST, "the file has no case of this id", test) for test in unknown),
        *(
            _refused(ReasonCode.MANIFEST_UNLISTED_TEST, "the manifest does not list this case", test)
            for test in unlisted
        ),
    )


async def _evidence(task: DesignTask, judging: Judging, found: Found) -> Evidence:
    """Return what the arms show: known from earlier, or run now."""
    required = (*CORRECT, *(listed_arm(probe.variant) for probe in task.probes))
    cache = judging.cache
    known = cache.read() if cache else None
    if known and known.tests == found.tests and set(required) <= known.arms.keys():
        return known
    draw = (cache.draw() if cache else None) or new_draw(task.digest)
    log = cache.begin(found.tests, draw) if cache else UnkeptArms()
    bench = await Bench.of(task, judging.context)
    compiled = await bench.compile(task, task.design.mutants)
    todo = [(key, compiled[key.variant]) for key in required if key not in log.known]
    bench.context.observer.planned(len(todo))
    runner = ArmRunner(bench.context, task)
    played = suite(found.file, found.cases)
    shown = {**log.known}
    for first in range(0, len(todo), _AT_ONCE):
        ended = await runner.run_suite(played, todo[first : first + _AT_ONCE])
        for key, arm in ended.items():
            log.add(key, arm, bench.context.limit.used)
        shown |= ended
    evidence = Evidence(found.tests, shown, required=required, draw=draw)
    _check_whole(evidence)
    if cache:
        cache.keep(evidence)
    return evidence


_AT_ONCE = 8
"""Arms after which those that have ended are kept."""


def _check_whole(evidence: Evidence) -> None:
    """Raise SandboxLost where an arm shows nothing: cases are played by our own code, so it is nobody's work."""
    for key in evidence.required:
        arm = evidence.arms.get(key)
        if arm is None or arm.status in (ArmStatus.WRONG_VARIANT, ArmStatus.DISAGREES, ArmStatus.OVER_LIMIT):
            raise SandboxLost(f"{key}: the cases weren't played ({arm.status if arm else 'no arm'})")
    for key in CORRECT:
        if gone := [test for test in evidence.tests if evidence.outcome(key, test) is Outcome.MISSING]:
            raise SandboxLost(f"{key}: {gone[0]} wasn't played")
    for test in evidence.tests:
        if evidence.outcome(AT_BASELINE, test) is not evidence.outcome(AT_BASELINE.again, test):
            raise SandboxLost(f"{test}: it was played twice on the same code, with two outcomes")


def judge_cases(evidence: Evidence) -> tuple[Reason, ...]:
    """Return a reason for each case that some correct implementation fails."""
    reasons = []
    for test in evidence.tests:
        passed = [evidence.outcome(key, test) is Outcome.PASSED for key in (AT_BASELINE, AT_OTHER)]
        if not any(passed):
            words = "it expects what the requirement doesn't: no correct implementation does that"
            reasons.append(_of_case(CASE_WRONG, test, words))
        elif not all(passed):
            words = "the requirement doesn't say this: one correct implementation does it, another doesn't"
            reasons.append(_of_case(OVER_SPECIFIED, test, words))
    return tuple(reasons)


def sound(evidence: Evidence) -> Evidence:
    """Return the evidence of the cases that every correct implementation passes: others kill nothing."""
    tests = [
        test
        for test in evidence.tests
        if all(evidence.outcome(key, test) is Outcome.PASSED for key in (AT_BASELINE, AT_OTHER))
    ]
    return Evidence(tuple(tests), evidence.arms, required=evidence.required)


def _record(task: DesignTask, judging: Judging, found: Found, evidence: Evidence | None) -> VerdictRecord:
    wrong = judge_cases(evidence) if evidence else ()
    criteria: tuple[CriterionResult, ...] = grade(task, sound(evidence), {}) if evidence else ()
    rubric = judge_rubric(criteria, task)
    at_intake = bool(found.intake.reasons)
    stages = Stages(
        manifest=ManifestStage()
        if at_intake
        else ManifestStage(status=stage_status(found.reasons), tests=tuple(map(str, found.tests))),
        mutation=MutationStage(status=stage_status(wrong), tests=records_of(evidence))
        if evidence
        else MutationStage(),
        rubric=RubricStage(status=stage_status(rubric), criteria=criteria) if criteria else RubricStage(),
    )
    reasons = (*found.reasons, *wrong, *rubric)
    judge, notes = judge_record(judging.named, None), found.intake.notes
    return verdict_record(task, judging.context, reasons, notes, stages, judge, control=judging.control)


def _unreadable(file: str, fault: Unreadable) -> Reason:
    code = TOO_MANY_CASES if isinstance(fault, TooMany) else CASE_UNREADABLE
    return _refused(code, f"{file}:{fault.line or 1}: {fault.words}")


def _refused(code: ReasonCode, words: str, test: TestId | str = "") -> Reason:
    return Reason(code=code, stage=Stage.MANIFEST, subject=str(test), words=words)


def _of_case(code: ReasonCode, test: TestId, words: str) -> Reason:
    return Reason(code=code, stage=Stage.MUTATION, subject=str(test), words=words)


def _shown(path: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in path)[:100]
