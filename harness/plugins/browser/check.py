"""The parts of the check of a task on a stage."""

import asyncio
from collections.abc import Mapping

from harness.authoring.task_check.context import Part, TrackChecks
from harness.authoring.task_check.kept_evidence import forget_evidence, kept_evidence
from harness.authoring.task_check.prompt_lint import length_problems
from harness.authoring.task_check.subject import Subject, place
from harness.judging.submission.extraction import Submission
from harness.judging.verify.evidence import renew_code_seeds
from harness.judging.verify.mutation import judge_mutation
from harness.judging.verify.verdict import VerdictRecord
from harness.judging.verify.verification import Judging, read_submission
from harness.plugins.browser import task_files
from harness.plugins.browser.beside import beside_reasons
from harness.plugins.browser.grading import SHOWN, grade_staged, staged, technique_of
from harness.plugins.browser.same_pages import page_problems
from harness.plugins.browser.stage import plan_same
from harness.plugins.browser.task import staged_task, suites_of
from harness.runs.submissions import Judged, read_batch
from harness.specs.errors import first_error
from harness.specs.problem import Problem
from harness.specs.reasons import Reason, Verdict
from harness.specs.task_facts import Level, StepId

REFERENCE_TIMES = 5
_REFERENCE, _SUITE = "reference", "honest-suites"
"""The names under which judgings are kept."""


async def _reference(subject: Subject, times: int) -> list[Problem]:
    task = staged_task(subject.task)
    submission = Submission(task.patch("reference/tests.patch"), task.patch("reference/manifest.yaml"))
    record = await _judge(subject, submission, f"{_REFERENCE}/1")
    words = [] if (record.verdict, technique_of(record)) == (Verdict.RESOLVED, SHOWN) else [_told(record)]
    for number in range(2, times + 1) if not words else ():
        again = await _reasons_of_same(subject, submission, f"{_REFERENCE}/{number}")
        words += [
            f"judged again, in the arms of the same behaviour: {item.code} {item.subject}: {item.words}"
            for item in again
        ]
    if words:
        forget_evidence(subject, _REFERENCE)
    return [Problem(where=subject.at("reference"), message=message) for message in words]


async def _reasons_of_same(subject: Subject, submission: Submission, name: str) -> list[Reason]:
    """Return what the arms of the same behaviour alone, drawn anew, show against a submission."""
    renew_code_seeds()
    task, context = staged_task(subject.task), subject.containers
    found = await read_submission(task, submission, context)
    judging = Judging(task, context, cache=kept_evidence(subject, name, submission))
    evidence = await staged(judging, plan_same).evidence(found)
    return [*judge_mutation(evidence), *beside_reasons(evidence, task.arms)]


async def reference_problems(subject: Subject) -> list[Problem]:
    """Return what keeps the reference from being resolved, and from being green five times over.

    It must be red in some test in each arm of another behaviour; those of the same behaviour run five times.
    """
    return await _reference(subject, REFERENCE_TIMES)


async def reference_once(subject: Subject) -> list[Problem]:
    """Return the same of one judging."""
    return await _reference(subject, 1)


async def nop_problems(subject: Subject) -> list[Problem]:
    """Return a problem where an empty submission isn't failed."""
    record = await _judge(subject, Submission(b"", b""), "nop")
    if record.verdict is Verdict.FAILED:
        return []
    return [Problem(where=subject.at(subject.description), message=f"handing in nothing is {record.verdict}")]


async def suite_problems(subject: Subject) -> list[Problem]:
    """Return honest, hasty and cheating suites that don't come to what their files say."""
    folder = suites_of(subject.task)
    if not folder.is_dir():
        return []
    cases = read_batch(subject.catalog, folder, subject.task.address)
    # Side by side: the arms of one fill the slots that another leaves free while its last ones wait for a page.
    with first_error():
        async with asyncio.TaskGroup() as group:
            running = [
                (case, group.create_task(_judge(subject, case.submission, f"{_SUITE}/{case.name}")))
                for case in cases
                if case.submission
            ]
    problems: list[Problem] = []
    for case, judging in running:
        record = judging.result()
        subject.remarks.append(f"{case.name}: {record.verdict}, technique {technique_of(record)}")
        if difference := Judged(case, record, 0.0).difference:
            forget_evidence(subject, f"{_SUITE}/{case.name}")
            words = f"{difference}: {_told(record)}"
            problems.append(Problem(where=place(subject.catalog, folder / case.name), message=words))
    return problems


async def _judge(subject: Subject, submission: Submission, name: str) -> VerdictRecord:
    cache = kept_evidence(subject, name, submission)
    return (await grade_staged(Judging(subject.task, subject.containers, cache=cache), submission)).record


def _told(record: VerdictRecord) -> str:
    why = "; ".join(f"{reason.code} {reason.subject}: {reason.words}" for reason in record.reasons)
    return f"it is {record.verdict}, technique {technique_of(record)}" + (f": {why}" if why else "")


STATIC: Mapping[StepId, Part] = {
    StepId.FILES: task_files.file_problems,
    StepId.RUBRIC: task_files.rubric_problems,
    StepId.PROMPT: length_problems,
    StepId.PATCHES: task_files.arm_problems,
    StepId.REFERENCE_FILES: task_files.reference_problems,
    StepId.HONEST_SUITES_PRESENT: task_files.suites_problems,
}
_BRIEF: Mapping[StepId, Part] = {StepId.REFERENCE_ONCE: reference_once, StepId.NOP: nop_problems}
_GATE: Mapping[StepId, Part] = {
    StepId.TWINS: page_problems,
    StepId.REFERENCE: reference_problems,
    StepId.NOP: nop_problems,
    StepId.HONEST_SUITES: suite_problems,
}
DYNAMIC: Mapping[Level, Mapping[StepId, Part]] = {
    Level.QUICK: {},
    Level.BRIEF: _BRIEF,
    Level.GATE: _GATE,
    Level.FULL: _GATE,
}
CHECKS = TrackChecks(STATIC, DYNAMIC, suites_of, needs_tree=True)
