"""The reference: its patch, its manifest, and which criteria its tests cover."""

from collections.abc import Iterator

from harness.authoring.task_check.subject import Subject
from harness.judging.languages.registry import language_of
from harness.judging.submission.manifest import ManifestError, parse_manifest
from harness.judging.verify.intake import FileChange, ingest
from harness.judging.verify.manifest_check import check_manifest
from harness.specs.problem import Problem
from harness.specs.rubric import GradedBy
from harness.specs.test_results import TestId

MANIFEST, COVERS, TESTS = "reference/manifest.yaml", "reference/covers.yaml", "reference/tests.patch"


async def reference_problems(subject: Subject) -> list[Problem]:
    """Return the problems of the reference's files.

    Raises:
        UserError: One of them can't be read.
    """
    return [*await _patch_and_manifest(subject), *_covers(subject)]


async def _patch_and_manifest(subject: Subject) -> list[Problem]:
    """Return the problems that intake and the manifest stage see."""
    if subject.tree is None:
        words = "lists no test of the reference, or can't be read"
        return [] if _listed(subject) else [Problem(where=subject.at(MANIFEST), message=words, fixable=True)]
    intake = await ingest(subject.tree, subject.task.repo, subject.task.patch(TESTS))
    where = subject.at(TESTS)
    found = [Problem(where=where, message=f"{reason.code}: {reason.words}") for reason in intake.reasons]
    found += [Problem(where=where, message=f"{note.subject} {note.words}") for note in intake.notes]
    if not intake.reasons:
        found += manifest_problems(subject, intake.changes)
    return found


def manifest_problems(subject: Subject, changes: tuple[FileChange, ...]) -> Iterator[Problem]:
    """Yield what is wrong with the reference's manifest, beside what the reference changes."""
    for reason in check_manifest(subject.task.patch(MANIFEST), changes, language_of(subject.task.repo)).reasons:
        words = f"{reason.code}: {reason.subject + ': ' if reason.subject else ''}{reason.words}"
        yield Problem(where=subject.at(MANIFEST), message=words, fixable=subject.takes_fixes)


def _covers(subject: Subject) -> Iterator[Problem]:
    task, where = subject.task, subject.at(COVERS)
    known = {criterion.id: criterion for criterion in task.rubric.criteria}
    listed = _listed(subject)
    for test in listed - task.covers.keys():
        yield Problem(where=where, message=f"{test} is not there; say which criteria it is for, [] for none")
    for test in sorted(task.covers.keys() - listed):
        words = f"{test} is no test of the reference's manifest"
        # A file with comments is its author's to change.
        by_hand = "#" in subject.task.patch(COVERS).decode(errors="replace")
        words += "; take it out (by hand, as the file has comments)" if by_hand else ""
        yield Problem(where=subject.at(COVERS, test.name), message=words, fixable=not by_hand)
    for test, criteria in task.covers.items():
        for name in criteria:
            if name not in known:
                yield Problem(where=subject.at(COVERS, test.name), message=f"no criterion {name!r} in the rubric")
    covered = {name for criteria in task.covers.values() for name in criteria}
    for criterion in task.rubric.must_haves:
        if criterion.id not in covered and GradedBy.PROBE in criterion.graded_by:
            yield Problem(where=where, message=f"no test of the reference is there for criterion {criterion.id}")
    for name in sorted(task.overlaps.keys() - known.keys()):
        yield Problem(where=subject.at(COVERS, "overlaps"), message=f"overlaps: no criterion {name!r} in the rubric")


def _listed(subject: Subject) -> set[TestId]:
    """Return the listed tests; none where the manifest can't be read, which is told elsewhere."""
    try:
        return set(parse_manifest(subject.task.patch(MANIFEST), language_of(subject.task.repo).ids).tests)
    except ManifestError:
        return set()
