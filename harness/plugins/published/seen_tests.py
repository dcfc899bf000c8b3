"""Tests that no grammar shows: those that a task's own run script and parser report for a file.

A file is run with the patch and without it. What is reported with it alone, or has another text, the patch has
written. Both runs see the code as it is, each in a fresh container.
"""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from harness.judging.languages.found import TestFile, TestFunction
from harness.judging.languages.protocol import Discovery, Language
from harness.judging.languages.registry import DelegatingDiscovery, language_of
from harness.judging.languages.toolchain import JobLimit
from harness.judging.submission.manifest import ManifestError, listed_tests
from harness.judging.testing.readers import is_prose
from harness.judging.verify.arms import ArmContext
from harness.judging.verify.intake import FileChange, Intake
from harness.judging.verify.suite_reader import read_apart, with_inherited
from harness.plugins.published.arms import AgentsTree, run_log
from harness.plugins.published.campaigns import SUFFIX as CAMPAIGN
from harness.plugins.published.campaigns import campaign_tests
from harness.plugins.published.parsed_log import ParsedTest, file_of, is_of
from harness.plugins.published.rule import is_test_path
from harness.plugins.published.task import PublishedTask, published_task
from harness.sandbox.git_tree import GitTree
from harness.specs.repo import LANGUAGE_FACTS
from harness.specs.task import Task
from harness.specs.variants import ArmKey, Role

WITH, WITHOUT = ArmKey(Role.SEEN, "with-the-patch"), ArmKey(Role.SEEN, "without-the-patch")
"""The arms in which a file is run to see its tests; the number of the file is the arm's part."""
_BELOW = re.compile(r".*(?: \| | > )", re.DOTALL)
_MARK = re.compile(r"[^\w\s\"']+ ?")
_PARAGRAPH = re.compile(rb"\n[ \t]*\n+[^\n]+(?:\n[^\n]+)*")
"""Behind a blank line, without one in it."""
_DOTTED = re.compile(r"\w+(?:\.\w+)+")
MOST_COMPARED = 20_000_000
"""Names times lines of one file: 2,000 tests in 10,000 lines."""
MOST_FILES = 20
"""The most files of one submission that are run to see their tests, and none once these runs have taken more time of
their own than an arm may; those after them have no tests."""


class SeenTests(DelegatingDiscovery):
    """See `Discovery`. Of some texts it knows the tests that were reported; all others are read as usual."""

    def __init__(self, discovery: Discovery, seen: Mapping[tuple[str, bytes], TestFile]) -> None:
        super().__init__(discovery)
        self._seen = seen
        self._paths = {path for path, _ in seen}

    @property
    def FILE_RULE(self) -> str:
        return f"{self._discovery.FILE_RULE}, or the run script must report tests for it"

    def is_test_file(self, path: str) -> bool:
        return path in self._paths or self._discovery.is_test_file(path)

    def discover(self, source: bytes, path: str) -> TestFile:
        if path in self._paths:
            return self._seen.get((path, source), TestFile(()))
        return self._discovery.discover(source, path)

    def reaches_folder(self, path: str, source: bytes) -> bool:
        return path not in self._paths and self._discovery.reaches_folder(path, source)


async def by_grammar_or_run(task: Task, intake: Intake, manifest: bytes, context: ArmContext, /) -> Language:
    """See `SuiteReader`. Files that no grammar reads are run."""
    task = published_task(task)
    language = await with_inherited(GitTree(context.image.tree), intake.changes, language_of(task.repo))
    listed = _listed_files(manifest, language)
    unknown = await read_apart(lambda: _without_known_tests(intake.changes, language.discovery, listed))
    seen: dict[tuple[str, bytes], TestFile] = {}
    context = replace(context, limit=JobLimit())
    for number, change in enumerate(unknown[:MOST_FILES], start=1):
        if context.limit.used > task.file.limits.arm_seconds:
            break
        path = change.path
        runs = ((change.new, intake, WITH), (change.old, Intake(), WITHOUT))
        found = {
            text: await _tests_of(path, text, await _reported(task, before, context, path, key.alone(number)))
            for text, before, key in runs
            if text is not None
        }
        if any(file.tests for file in found.values()):
            seen |= {(change.path, text): file for text, file in unheaded(found, change).items()}
    return replace(language, discovery=SeenTests(language.discovery, seen)) if seen else language


def unheaded(found: dict[bytes, TestFile], change: FileChange) -> dict[bytes, TestFile]:
    """Return the same, tests left as they were that only get or lose the heading of a new test below them."""
    if change.path.endswith(CAMPAIGN):
        return found
    if change.old is None or change.new is None or not {change.old, change.new} <= found.keys():
        return found
    old, new = found[change.old], found[change.new].tests
    kept = [
        replace(test, text=before.text)
        if (before := old.find(test.name)) and not old.find(below.name) and _differ_by_heading(before, test, below)
        else test
        for test, below in pairwise(new)
    ]
    return {**found, change.new: TestFile((*kept, *new[-1:]))}


def _differ_by_heading(before: TestFunction, after: TestFunction, below: TestFunction) -> bool:
    """Tell whether two texts of a test differ by one paragraph at the end: its last, or that of the test below."""
    old, new = before.text.rstrip(), after.text.rstrip()
    if old == new:
        return True
    if new.startswith(old):
        return _PARAGRAPH.fullmatch(new[len(old) :]) is not None
    rest = old[len(new) :]
    return old.startswith(new) and _PARAGRAPH.fullmatch(rest) is not None and below.text.rstrip().endswith(rest)


async def _tests_of(path: str, text: bytes, names: list[str]) -> TestFile:
    """Return the tests of a file that was run: by its grammar where it has one, else by what was reported."""
    if path.endswith(CAMPAIGN) and names:
        return await read_apart(lambda: campaign_tests(text))
    return await read_apart(lambda: reported_tests(text, names))


def reported_tests(text: bytes, names: Iterable[str]) -> TestFile:
    """Return tests by the names that were reported of a file, in the order of their lines. Pure.

    The text of each goes from the first line with its name to the next with another's. A name that no line has is of
    some other file: a run script may run more than it was asked for. Nothing tells what tests check: each counts as
    one that does. Nothing is found where there are too many names and lines to compare.
    """
    names = set(names)
    lines = text.decode(errors="replace").splitlines(keepends=True)
    if len(names) * len(lines) > MOST_COMPARED:
        return TestFile(())
    plain = [" ".join(line.split()) for line in lines]
    starts: dict[int, str] = {}
    for name in sorted(names, key=lambda name: (-len(name), name)):  # a name may be part of another
        at = _line_of(name, plain, starts)
        if at is not None:
            starts[at] = name
    placed = sorted(starts)
    ends = [*placed[1:], len(lines)][: len(placed)]
    return TestFile(tuple(_test(starts[at], lines, at, end) for at, end in zip(placed, ends, strict=True)))


def _line_of(name: str, lines: Sequence[str], taken: Container[int]) -> int | None:
    """Return the line of a name: one of it alone behind a mark (`= NAME`), else the first that has it whole.

    Where no line has it, the first with the last part of it, if it has several.
    """
    found = [at for at, line in enumerate(lines) if at not in taken and _has(line, name)]
    alone = [at for at in found if lines[at].endswith(name) and _MARK.fullmatch(lines[at][: -len(name)])]
    if not found:
        last = _last_part(name)
        found = [at for at, line in enumerate(lines) if at not in taken and _has(line, last)]
    return next(iter([*alone, *found]), None)


def _has(line: str, name: str) -> bool:
    """Return whether a line has a name, whole."""
    return bool(name) and name in line and _whole(name).search(line) is not None


def _last_part(name: str) -> str:
    """Return a test's own name below its class or blocks; empty where nothing stands above it.

    `address (1::1)` has no parts.
    """
    if _DOTTED.fullmatch(name):
        return name.rpartition(".")[2]
    head, separator, rest = name.partition("::")
    if separator and not is_prose(head):
        return _last_part(rest) or rest
    return _BELOW.sub("", name) if _BELOW.match(name) else ""


@lru_cache(maxsize=4096)
def _whole(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")


def _test(name: str, lines: Sequence[str], first: int, end: int) -> TestFunction:
    return TestFunction(name, first + 1, end, "".join(lines[first:end]).encode(), assertions=1)


def _listed_files(manifest: bytes, language: Language) -> tuple[str, ...]:
    try:
        return listed_tests(manifest, language.ids).files
    except ManifestError:
        return ()


def _without_known_tests(
    changes: Iterable[FileChange], discovery: Discovery, listed: Sequence[str]
) -> list[FileChange]:
    """Return changed files among the published rule's test files in which no grammar finds a test, before or after.

    One that has a language of its own is left out unless the manifest lists it: it is a helper of the others.
    """
    suffixes = tuple(suffix for name in LANGUAGE_FACTS.names for suffix in LANGUAGE_FACTS.get(name).suffixes)
    return [
        change
        for change in changes
        if change.new is not None
        and is_test_path(change.path)
        and (not change.path.endswith(suffixes) or any(change.path.endswith(file) for file in listed))
        and not any(_known(text, change.path, discovery) for text in (change.old, change.new) if text is not None)
    ]


def _known(text: bytes, path: str, discovery: Discovery) -> bool:
    return discovery.is_test_file(path) and bool(discovery.discover(text, path).tests)


async def _reported(task: PublishedTask, intake: Intake, context: ArmContext, file: str, key: ArmKey) -> list[str]:
    """Return the names that belong to a file, without it, in a run of this file alone."""
    tree = AgentsTree(
        intake.files, intake.deleted, frozenset(item.path for item in intake.changes if item.executable)
    )
    parsed = await run_log(context, task, tree, {}, [file], key)
    return [_short(test) for test in parsed if is_of(test.name, file)]


def _short(test: ParsedTest) -> str:
    name = " ".join(test.name.split())
    place = file_of(name)
    return name[len(place) :].removeprefix("::").strip() if place else name
