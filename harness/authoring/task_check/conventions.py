"""Measures on upstream's own tests whether nice-to-haves that code decides are conventions of theirs."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from harness.authoring.task_check.subject import Subject, place
from harness.judging.languages.registry import RememberingDiscovery, language_of
from harness.judging.verify.intake import FileChange
from harness.judging.verify.suite_checks import holds
from harness.sandbox.git_tree import GitTree
from harness.sandbox.images.recipe import read_recipe
from harness.sandbox.images.work_tree import image_place
from harness.specs.problem import Problem
from harness.specs.repo import matches
from harness.specs.rubric import Criterion, Quantifier, StaticCheck, StaticKind
from harness.specs.task import Task
from harness.specs.test_results import TestId

_PLACEMENT = 2
_CONVENTIONS = (_PLACEMENT, 3, 4)
"""Axes. The fifth asks for a technique that the request calls for, whether or not upstream uses it."""


@dataclass(frozen=True)
class Share:
    """How many of some upstream tests, or of their files, meet a check."""

    of: str
    met: int
    count: int

    @property
    def is_half(self) -> bool:
        return self.count > 0 and 2 * self.met >= self.count

    def __str__(self) -> str:
        return f"{self.met} of {self.count} {self.of}"


@dataclass(frozen=True)
class UpstreamTests:
    """Upstream's tests by their files, the withheld ones of them, and the rules that find them."""

    tests: tuple[TestId, ...]
    withheld: frozenset[TestId]
    files: dict[str, FileChange]
    discovery: RememberingDiscovery

    def shares(self, task: Task, check: StaticCheck) -> list[Share]:
        """Return how much of upstream's tests meets a check.

        That is told of all, of the withheld ones, and of those at each place that a criterion of placement names.
        """
        globs = [
            item.static.value
            for item in task.rubric.criteria
            if item.axis == _PLACEMENT and item.static and item.static.check is StaticKind.FILE_MATCHES
        ]
        there = {f"at {glob}": [test for test in self.tests if matches(test.file, [glob])] for glob in globs}
        groups = {"upstream": self.tests, "withheld": self.withheld, **there}
        return [self._share(name, check, tests) for name, tests in groups.items() if tests]

    def _share(self, name: str, check: StaticCheck, tests: Iterable[TestId]) -> Share:
        """Count tests where all of a suite must meet the check, and files where one test must."""
        chosen = sorted(tests)
        if check.of is Quantifier.ALL:
            suites = [[test] for test in chosen]
        else:
            suites = [[test for test in chosen if test.file == file] for file in sorted({x.file for x in chosen})]
        what = "tests" if check.of is Quantifier.ALL else "test files"
        met = sum(holds(check, suite, [self.files[suite[0].file]], self.discovery) for suite in suites)
        return Share(f"{what} ({name})", met, len(suites))


async def upstream_of(task: Task) -> UpstreamTests | None:
    """Return upstream's tests as they are in the repository's image, None where this machine never built it."""
    kept = image_place(read_recipe(task.repo).tag("repo"))
    if kept.record() is None:
        return None
    tree, discovery = GitTree(kept.tree), RememberingDiscovery(language_of(task.repo).discovery)
    entries = await tree.entries()
    chosen = [path for path in entries if discovery.is_test_file(path) and matches(path, task.repo.test_paths)]
    texts = await tree.read_all({path: entries[path] for path in chosen})
    tests = {test for path, text in texts.items() for test in _tests(discovery, path, text)}
    without = await tree.entries(await tree.apply(task.patch("withheld.patch")))
    there = await tree.read_all({path: without[path] for path in chosen if path in without})
    left = {test for path, text in there.items() for test in _tests(discovery, path, text)}
    files = {path: FileChange(path, None, text) for path, text in texts.items()}
    return UpstreamTests(tuple(sorted(tests)), frozenset(tests - left), files, discovery)


def _tests(discovery: RememberingDiscovery, path: str, text: bytes) -> Iterator[TestId]:
    found = discovery.discover(text, path)
    return (TestId(path, test.name) for test in found.tests if test.name not in found.twice)


async def convention_problems(subject: Subject) -> list[Problem]:
    """Return a problem for each criterion that upstream's own tests mostly miss: it is no convention of theirs."""
    upstream = await upstream_of(subject.task)
    if upstream is None or not upstream.tests:
        subject.remarks.append("upstream's tests aren't here, so no convention was measured on them")
        return []
    measured = [
        (item, item.static) for item in subject.task.rubric.criteria if item.axis in _CONVENTIONS and item.static
    ]
    return [
        Problem(
            where=place(subject.catalog, subject.rubric, criterion.statement),
            message=words,
        )
        for criterion, check in measured
        if (words := _words(criterion, upstream.shares(subject.task, check)))
    ]


def _words(criterion: Criterion, shares: Sequence[Share]) -> str:
    """Return what is wrong with a criterion. A place is one where upstream has tests at all."""
    if criterion.axis == _PLACEMENT and any(share.met for share in shares):
        return ""
    if any(share.is_half for share in shares):
        return ""
    told = ", ".join(map(str, shares))
    return f"criterion {criterion.id} is no convention of upstream's tests: {told} meet it; half should"
