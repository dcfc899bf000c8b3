"""Honest work on a task: two suites that are good enough and two that aren't, kept in the checkout's tests/honest."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.authoring.task_check.subject import Subject, judge, place
from harness.authoring.task_check.twins import noticed_twins
from harness.judging.verify.verdict import VerdictRecord
from harness.runs.submissions import Case, Judged, read_batch
from harness.specs.catalog import Catalog
from harness.specs.errors import first_error
from harness.specs.first_few import first_few
from harness.specs.problem import Problem, Severity
from harness.specs.reasons import ReasonCode, Verdict

CORPUS = "tests/honest"
OF_EACH = 2
_NAMED = 5
_PLACES = ("honest", CORPUS)
"""Folders of honest suites: a catalog's own, else that of a checkout of testwright."""


def corpus_of(catalog: Catalog) -> Path:
    """Return the folder of a catalog's honest suites: `honest/` beside its tasks, else `tests/honest/`."""
    places = [catalog.directory / place for place in _PLACES]
    return next((place for place in places if place.is_dir()), places[0])


def _folder(subject: Subject, *below: str) -> str:
    return place(subject.catalog, _suites(subject).joinpath(*below))


def _suites(subject: Subject) -> Path:
    return corpus_of(subject.catalog) / subject.task.id


async def corpus_problems(subject: Subject) -> list[Problem]:
    """Return the problems of the honest suites: absent, or without the verdict that they must come to.

    Raises:
        UserError: One can't be read.
    """
    corpus, where = corpus_of(subject.catalog), _folder(subject)
    if not corpus.is_dir():
        words = "this catalog comes without honest suites, so they aren't judged; their place is honest/"
        return [Problem(where=where, message=words, severity=Severity.WARNING)]
    if not _suites(subject).is_dir():
        words = f"is missing: {OF_EACH} suites that are good enough and {OF_EACH} that aren't"
        return [Problem(where=where, message=words)]
    cases = cases_of(subject)
    return [
        *_unwritten(subject),
        *incomplete(subject, cases, _suites(subject)),
        *(Problem(where=where, message=words) for words in _lacking(subject, cases)),
    ]


def _unwritten(subject: Subject) -> Iterator[Problem]:
    """Yield the suites that are laid out and that nobody has written."""
    for path in sorted(_suites(subject).glob("*/expect.yaml")):
        if not any((path.parent / name).exists() for name in ("patch.diff", "script.yaml")):
            words = f"is missing: testwright task edit {subject.task.id} honest/{path.parent.name}"
            yield Problem(where=f"{_folder(subject, path.parent.name)}/patch.diff", message=words)
        if "TODO" in path.read_text(errors="replace"):
            words = "is still a skeleton: say what its author set out to do and what it leaves out"
            yield Problem(where=place(subject.catalog, path, "TODO"), message=words)


def incomplete(subject: Subject, cases: Sequence[Case], suites: Path) -> Iterator[Problem]:
    """Yield what is wrong with single suites, by their files, which lie in the folder `suites`."""
    known = {item.id for item in subject.task.rubric.criteria}
    for case in cases:
        folder = place(subject.catalog, suites / case.name)
        if case.submission and not case.submission.manifest.strip():
            yield Problem(where=f"{folder}/manifest.yaml", message="is missing or empty; list the suite's tests")
        if case.expected is None or case.expected.verdict is None:
            words = "is missing, or has no 'verdict'; say what the suite must come to"
            yield Problem(where=f"{folder}/expect.yaml", message=words)
        if case.expected and case.task.id != subject.task.id:
            words = f"says 'task: {case.expected.task}', and the suite lies with {subject.task.id}; correct it"
            yield Problem(where=f"{folder}/expect.yaml", message=words)
        for name in case.expected.criteria if case.expected else ():
            if name not in known:
                words = f"names criterion {name}, which the rubric doesn't have; correct 'criteria'"
                yield Problem(where=f"{folder}/expect.yaml", message=words)


def _lacking(subject: Subject, cases: list[Case]) -> Iterator[str]:
    yield from too_few(subject, cases, OF_EACH)
    expected = [case.expected for case in cases if case.expected and case.task.id == subject.task.id]
    if any(item.verdict is Verdict.FAILED and not item.criteria for item in expected):
        yield "a suite that isn't good enough must name the criteria that it leaves open"


def too_few(subject: Subject, cases: Sequence[Case], least: int) -> Iterator[str]:
    """Yield the verdicts to which fewer than `least` of a task's suites must come."""
    verdicts = [case.expected.verdict for case in cases if case.expected and case.task.id == subject.task.id]
    for verdict in (Verdict.RESOLVED, Verdict.FAILED):
        if verdicts.count(verdict) < least:
            yield f"{verdicts.count(verdict)} suites that must be {verdict}; there should be {least}"


async def honest_problems(subject: Subject, without: frozenset[str] = frozenset()) -> list[Problem]:
    """Judge every suite but those `without`; return a problem for each with another end than its expect.yaml says.

    Raises:
        SandboxLost: A container was lost.
    """
    cases = [case for case in cases_of(subject) if case.name not in without]
    # Side by side: the arms of one fill the slots that another leaves free while it compiles or waits.
    with first_error():
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(_judged(subject, case)) for case in cases]
    return [problem for task in running for problem in task.result()]


async def _judged(subject: Subject, case: Case) -> list[Problem]:
    if case.submission is None:
        return []
    judged = await judge(subject, case.submission)
    record = judged.record
    difference = Judged(case, record, 0.0).difference
    if not difference:
        return []
    where = _folder(subject, case.name)
    words = f"{record.verdict}, which differs from its expect.yaml: {difference}{_why(record)}"
    return [
        Problem(where=where, message=words),
        *noticed_twins(subject, judged.evidence, f"the honest suite {case.name}"),
    ]


def _why(record: VerdictRecord) -> str:
    """Return the verdict's own reasons, with their tests and criteria, and what the author may look at."""
    told = [f"{reason.code} {reason.subject}".strip() for reason in record.reasons]
    survived = any(reason.code is ReasonCode.SURVIVED_REMOVAL for reason in record.reasons)
    hint = "; is what garbage.patch gives too close to what is right?" if survived else ""
    return f" ({first_few(told, _NAMED)}{hint})" if told else ""


def cases_of(subject: Subject) -> list[Case]:
    """Return a task's honest suites, by name; none where it has none.

    Raises:
        UserError: One can't be read.
    """
    folder = _suites(subject)
    written = any(next(folder.rglob(name), None) for name in ("patch.diff", "script.yaml"))
    return read_batch(subject.catalog, folder, None) if written else []
