"""The parts of the check of a brief: its references, applications broken in one way, and one that is nothing."""

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from harness.authoring.task_check.context import Part, TrackChecks
from harness.authoring.task_check.subject import Subject
from harness.judging.submission.extraction import Submission
from harness.judging.verify.intake import ingest
from harness.judging.verify.verdict import VerdictRecord
from harness.judging.verify.verification import Judging
from harness.plugins.build.grading import grade_build, plan_of, side_by_side
from harness.plugins.build.steps import CHAINS, Steps
from harness.plugins.build.task import (
    BROKEN,
    MANIFEST,
    NULL,
    OWN_TESTS,
    REFERENCES,
    BuildTask,
    build_task,
    patch_of,
)
from harness.plugins.build.task_files import (
    broken_patches,
    broken_problems,
    file_problems,
    first_reference,
    lost_by,
    rubric_problems,
)
from harness.plugins.points.run_scores import facts_of
from harness.plugins.points.score import Sources, compute
from harness.plugins.points.scoring_file import load_scoring, track_path
from harness.sandbox.git_tree import GitTree
from harness.specs.problem import Problem
from harness.specs.reasons import Verdict
from harness.specs.task import Task
from harness.specs.task_facts import Level, StepId
from harness.specs.test_results import Outcome

LEAST_OF_A_REFERENCE, MOST_OF_NULL = 95, 20
ACCEPTANCE_TIMES = 10


async def broken_application(task: BuildTask, patch: Path) -> Submission:
    """Return the first reference with a patch, as it is handed in, without a manifest. Raises PatchError."""
    with tempfile.TemporaryDirectory(prefix="testwright-") as scratch:
        tree = await first_reference(task, Path(scratch))
        await tree.check_out(Path(scratch) / "app", await tree.apply(patch.read_bytes()))
        return Submission(patch_of(Path(scratch) / "app"), b"")


async def reference_problems(subject: Subject) -> list[Problem]:
    """Return what keeps a reference from being resolved with nearly all points."""
    problems = []
    for name in build_task(subject.task).references:
        problems += await _reference(subject, name)
    return problems


async def first_reference_problems(subject: Subject) -> list[Problem]:
    """Return the same of the first reference alone."""
    return await _reference(subject, build_task(subject.task).references[0])


async def _reference(subject: Subject, name: str) -> list[Problem]:
    task = build_task(subject.task)
    submission = application(subject, f"{REFERENCES}/{name}")
    record = (await grade_build(Judging(task, subject.containers), submission)).record
    points = points_of(record)
    subject.remarks.append(f"{name}: {record.verdict}, {points:g} points")
    if record.verdict is Verdict.RESOLVED and points >= LEAST_OF_A_REFERENCE:
        return []
    why = "; ".join([*(f"{item.code} {item.subject}" for item in record.reasons), *_unmet_words(record)])
    return [Problem(where=subject.at(f"{REFERENCES}/{name}"), message=f"{record.verdict}, {points:g} points: {why}")]


def _unmet_words(record: VerdictRecord) -> list[str]:
    return [f"{item.id} {item.words}" for item in record.stages.rubric.criteria if not item.met]


def application(subject: Subject, folder: str) -> Submission:
    """Return an application that lies as files, as it is handed in."""
    directory = subject.task.directory / folder
    return Submission(patch_of(directory), (directory / MANIFEST).read_bytes())


def points_of(record: VerdictRecord) -> float:
    """Return the points of a verdict."""
    scoring = load_scoring(track_path(record.track))
    return compute(scoring, facts_of(record, None), Sources(record.task, "", "")).score or 0.0


async def broken_application_problems(subject: Subject) -> list[Problem]:
    """Return applications that are broken in one way and lose more than that, or less. Their own tests don't run."""
    found: list[Problem] = []

    async def judge(path: Path) -> None:
        task = build_task(subject.task)
        submission = await broken_application(task, path)
        record = (await grade_build(Judging(task, subject.containers), submission)).record
        lost = {item.id for item in record.stages.rubric.criteria if not item.met} - set(OWN_TESTS)
        if lost != set(lost_by(path)):
            words = f"it loses {', '.join(sorted(lost)) or 'nothing'}; expected: {', '.join(lost_by(path))}"
            found.append(Problem(where=subject.at(f"{BROKEN}/{path.name}"), message=words))

    await side_by_side(map(judge, broken_patches(build_task(subject.task))))
    return sorted(found, key=lambda problem: problem.where)


async def acceptance_problems(subject: Subject) -> list[Problem]:
    """Return the references on which a hidden test of acceptance fails in one of ten runs."""
    return [problem for name in build_task(subject.task).references for problem in await _accepted(subject, name)]


async def _accepted(subject: Subject, name: str) -> list[Problem]:
    task, where = build_task(subject.task), subject.at(f"{REFERENCES}/{name}")
    submission = application(subject, f"{REFERENCES}/{name}")
    intake = await ingest(GitTree(subject.containers.image.tree), task.repo, submission.patch)
    files = (await plan_of(task, intake, b"", with_own_tests=False)).files
    steps = Steps(subject.containers, task, files, seed=0)
    await steps.install()
    problems: list[Problem] = []
    [acceptance] = CHAINS[0]

    async def once(number: int) -> None:
        arm = await replace(steps, seed=number).hidden(acceptance)
        red = [item.test.name for item in arm.results if item.outcome is not Outcome.PASSED]
        problems.extend(Problem(where=where, message=f"run {number}: {test} fails") for test in red)

    await side_by_side(once(number) for number in range(1, ACCEPTANCE_TIMES + 1))
    return sorted(problems, key=lambda problem: problem.message)


async def null_problems(subject: Subject) -> list[Problem]:
    """Return a problem where nothing handed in, or an application that is only healthy, comes to more than it may."""
    task = build_task(subject.task)
    nothing = (await grade_build(Judging(task, subject.containers), Submission(b"", b""))).record
    healthy = (await grade_build(Judging(task, subject.containers), application(subject, NULL))).record
    found = [("handing in nothing", nothing, 0), (NULL, healthy, MOST_OF_NULL)]
    subject.remarks.extend(f"{name}: {record.verdict}, {points_of(record):g} points" for name, record, _ in found)
    return [
        Problem(
            where=subject.at(subject.description), message=f"{name} is {record.verdict}, {points_of(record):g} points"
        )
        for name, record, most in found
        if record.verdict is not Verdict.FAILED or points_of(record) > most
    ]


STATIC: Mapping[StepId, Part] = {
    StepId.FILES: file_problems,
    StepId.RUBRIC: rubric_problems,
    StepId.PATCHES: broken_problems,
}
_BRIEF: Mapping[StepId, Part] = {StepId.REFERENCE_ONCE: first_reference_problems, StepId.NOP: null_problems}
_GATE: Mapping[StepId, Part] = {
    StepId.REFERENCE: reference_problems,
    StepId.NOP: null_problems,
    StepId.WORTHLESS_SUBMISSIONS: broken_application_problems,
}
_FULL: Mapping[StepId, Part] = {**_GATE, StepId.ACCEPTANCE: acceptance_problems}
DYNAMIC: Mapping[Level, Mapping[StepId, Part]] = {
    Level.QUICK: {},
    Level.BRIEF: _BRIEF,
    Level.GATE: _GATE,
    Level.FULL: _FULL,
}


def _references_of(task: Task) -> Path:
    return task.directory / REFERENCES


CHECKS = TrackChecks(STATIC, DYNAMIC, suites=_references_of)
