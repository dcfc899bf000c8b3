"""A look at what `task matrix --remember` has run, before suites are judged: what it shows needs no judging.

A matrix runs suites on plain variants. It never shows that a suite is good enough: that is judged.
"""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from harness.authoring.matrix_memory import matrix_memory
from harness.authoring.task_check import controls, honest_corpus
from harness.authoring.task_check.subject import Subject, place
from harness.authoring.task_check.unasked_mutants import plain_variants, read_suite
from harness.runs.submissions import Case
from harness.sandbox.git_tree import GitTree
from harness.specs.errors import UserError
from harness.specs.problem import Problem
from harness.specs.reasons import Verdict
from harness.specs.rubric import GradedBy
from harness.specs.task_facts import SuiteMatrix

_NOT_JUDGED = "; task matrix --remember has run it, so it isn't judged"


async def reference_problems(subject: Subject) -> list[Problem]:
    """Return what is wrong with the reference: by a remembered matrix, else by judging it."""
    path = subject.task.directory / "reference" / "tests.patch"
    async for _, matrix in _remembered(subject, {"reference": path}):
        if unnoticed := matrix.unnoticed():
            return [
                Problem(
                    where=subject.at(f"probes/{criterion}.patch"),
                    message=f"no test of the reference notices it{_NOT_JUDGED}",
                )
                for criterion in unnoticed
            ]
    return await controls.reference_problems(subject)


async def honest_problems(subject: Subject) -> list[Problem]:
    """Return which honest suites come to something else than they say: by a remembered matrix, else by judging."""
    folder = honest_corpus.corpus_of(subject.catalog) / subject.task.id
    cases = {case.name: case for case in honest_corpus.cases_of(subject) if case.submission}
    found: list[Problem] = []
    known: set[str] = set()
    async for name, matrix in _remembered(subject, {name: folder / name / "patch.diff" for name in cases}):
        for words in contradictions(cases[name], matrix):
            found.append(Problem(where=place(subject.catalog, folder / name), message=f"{words}{_NOT_JUDGED}"))
            known.add(name)
    return [*found, *await honest_corpus.honest_problems(subject, frozenset(known))]


def contradictions(case: Case, matrix: SuiteMatrix) -> Iterator[str]:
    """Yield where a matrix shows that a suite can't come to what its expect.yaml says. Pure."""
    if case.expected is None:
        return
    probed = {item.id for item in case.task.rubric.must_haves if GradedBy.PROBE in item.graded_by}
    unnoticed = [criterion for criterion in matrix.unnoticed() if criterion in probed]
    if case.expected.verdict is Verdict.RESOLVED and unnoticed:
        yield f"no test notices {', '.join(unnoticed)}, and its expect.yaml says resolved"
    noticed = [criterion for criterion in case.expected.criteria if criterion in probed - set(unnoticed)]
    if noticed:
        yield f"a test notices {', '.join(noticed)}, and its expect.yaml names {_them(noticed)} as left open"


def _them(items: list[str]) -> str:
    return "it" if len(items) == 1 else "them"


async def _remembered(subject: Subject, patches: dict[str, Path]) -> AsyncIterator[tuple[str, SuiteMatrix]]:
    task, context = subject.task, subject.containers
    tree, memory = GitTree(context.image.tree), matrix_memory(context, task)
    if not memory.directory.is_dir():
        return
    orders = [await plain_variants(task, tree, with_twins) for with_twins in (False, True)]
    for name, path in patches.items():
        try:
            suite = await read_suite(task, tree, path)
        except UserError:  # the judging says it
            continue
        for sources in orders:
            if matrix := memory.recall(suite, sources):
                yield name, matrix
                break
