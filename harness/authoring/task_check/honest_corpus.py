"""Honest work on a task: two suites that are good enough and two that aren't, kept in the checkout's tests/honest."""

import asyncio
from collections.abc import Iterator

from harness.authoring.task_check.judging import judge
from harness.authoring.task_check.subject import Subject
from harness.authoring.task_check.twins import noticed_twins
from harness.runs.cases import Case, read_batch
from harness.runs.submissions import Judged
from harness.specs.errors import first_error
from harness.specs.problem import Problem, Severity
from harness.specs.reasons import Verdict

CORPUS = "tests/honest"
OF_EACH = 2


async def corpus_problems(subject: Subject) -> list[Problem]:
    """Whether the suites are there and say what they must come to. Raises UserError for one that can't be read."""
    where = f"{CORPUS}/{subject.task.id}"
    if not (subject.catalog.directory / CORPUS).is_dir():
        words = "this catalog comes without honest suites, so they aren't judged"
        return [Problem(where=where, message=words, severity=Severity.WARNING)]
    if not (subject.catalog.directory / where).is_dir():
        words = f"is missing: {OF_EACH} suites that are good enough and {OF_EACH} that aren't"
        return [Problem(where=where, message=words)]
    cases = _cases(subject)
    return [
        *_incomplete(subject, cases),
        *(Problem(where=where, message=words) for words in _lacking(subject, cases)),
    ]


def _incomplete(subject: Subject, cases: list[Case]) -> Iterator[Problem]:
    """What is wrong with single suites, by their files."""
    known = {item.id for item in subject.task.rubric.criteria}
    for case in cases:
        folder = f"{CORPUS}/{subject.task.id}/{case.name}"
        if case.submission and not case.submission.manifest.strip():
            yield Problem(where=f"{folder}/manifest.yaml", message="is missing or empty; list the suite's tests")
        if case.expected and case.expected.task != subject.task.id:
            words = f"says 'task: {case.expected.task}', and the suite lies with {subject.task.id}; correct it"
            yield Problem(where=f"{folder}/expect.yaml", message=words)
        for name in case.expected.criteria if case.expected else ():
            if name not in known:
                words = f"names criterion {name}, which the rubric doesn't have; correct 'criteria'"
                yield Problem(where=f"{folder}/expect.yaml", message=words)


def _lacking(subject: Subject, cases: list[Case]) -> Iterator[str]:
    expected = [case.expected for case in cases if case.expected and case.expected.task == subject.task.id]
    verdicts = [item.verdict for item in expected]
    for verdict in (Verdict.RESOLVED, Verdict.FAILED):
        if verdicts.count(verdict) < OF_EACH:
            yield f"{verdicts.count(verdict)} suites that must be {verdict}; there should be {OF_EACH}"
    if any(item.verdict is Verdict.FAILED and not item.criteria for item in expected):
        yield "a suite that isn't good enough must name the criteria that it leaves open"


async def honest_problems(subject: Subject) -> list[Problem]:
    """Every suite judged against what its expect.yaml says. Raises SandboxLost."""
    if not (subject.catalog.directory / CORPUS / subject.task.id).is_dir():
        return []
    # Side by side: the arms of one fill the slots that another leaves free while it compiles or waits.
    with first_error():
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(_judged(subject, case)) for case in _cases(subject)]
    return [problem for task in running for problem in task.result()]


async def _judged(subject: Subject, case: Case) -> list[Problem]:
    if case.submission is None:
        return []
    judged = await judge(subject, case.submission)
    record = judged.record
    difference = Judged(case, record, 0.0).difference
    if not difference:
        return []
    where = f"{CORPUS}/{subject.task.id}/{case.name}"
    words = f"{record.verdict}, which differs from its expect.yaml: {difference}"
    return [
        Problem(where=where, message=words),
        *noticed_twins(subject, judged.evidence, f"the honest suite {case.name}"),
    ]


def _cases(subject: Subject) -> list[Case]:
    return read_batch(subject.catalog, subject.catalog.directory / CORPUS / subject.task.id, None)
