"""Tests as the test runner itself collects them, where a file's text may not show them all.

The runner loads the files with the patch and without it, each time in a fresh container, and runs no test. A test
that it collects and that no text shows is one like any other; what only looks like a test is none.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from harness.judging.languages.found import MAX_NAME, FileQuota, Start, TestFile, TestFunction, TooMuchToRead
from harness.judging.languages.nfkc import is_dotted_name
from harness.judging.languages.protocol import Collecting, Discovery, Language, as_reported
from harness.judging.languages.registry import DelegatingDiscovery, RememberingDiscovery
from harness.judging.testing.arm_job import TestRun, collected, test_job
from harness.judging.testing.readers import has_titles
from harness.judging.verify.arms import ArmContext
from harness.judging.verify.intake import FileChange, Intake
from harness.judging.verify.manifest_check import check_manifest
from harness.judging.verify.suite_reader import by_grammar, read_apart
from harness.sandbox.protocol import LimitReached
from harness.specs.reasons import ReasonCode
from harness.specs.task import Task
from harness.specs.test_results import TestId
from harness.specs.variants import ArmKey, Role

WITH, WITHOUT = ArmKey(Role.SEEN, "with-the-patch"), ArmKey(Role.SEEN, "without-the-patch")
"""The containers in which tests are collected."""
MOST_FILES = 20
"""Files of one submission whose tests are collected; those after them have the tests that their texts show."""
OF_NAMES = frozenset(
    {ReasonCode.MANIFEST_UNKNOWN_TEST, ReasonCode.MANIFEST_NOT_A_TEST, ReasonCode.MANIFEST_UNLISTED_TEST}
)
"""Reasons for which a manifest is refused, and which the runner's own word may take away."""
Collected = Mapping[str, frozenset[Start]]
"""The tests of each file that could be loaded, by its path."""


async def by_collection(task: Task, intake: Intake, manifest: bytes, context: ArmContext, /) -> Language:
    """See `SuiteReader`. Tests are collected where a text may hide some, or the manifest has others than it shows."""
    language = await by_grammar(task, intake, manifest, context)
    if language.collecting is None:
        return language
    asked, listed = await read_apart(partial(_to_collect, intake.changes, manifest, language))
    if not asked:
        return language
    runner = _Runner(task, context, language.collecting)
    after = await runner.collected(intake, [change.path for change in asked], WITH)
    old = [change.path for change in asked if change.old is not None]
    before = await runner.collected(Intake(), old, WITHOUT) if old else {}
    made = await read_apart(partial(made_tests, asked, intake.changes, before, after, language, listed))
    return replace(language, discovery=RememberingDiscovery(CollectedTests(language.discovery, made)))


class MadeTests(NamedTuple):
    """The tests of a file that no text shows, without the patch and with it.

    `uncollected` are names of tests that the text with the patch alone shows, and that the runner doesn't collect.
    """

    old: bytes | None
    before: tuple[TestFunction, ...]
    after: tuple[TestFunction, ...]
    uncollected: frozenset[str]


class CollectedTests(DelegatingDiscovery):
    """See `Discovery`. Files of which the runner's word is known have the tests that it collects."""

    def __init__(self, discovery: Discovery, made: Mapping[str, MadeTests]) -> None:
        super().__init__(discovery)
        self._made = made

    def discover(self, source: bytes, path: str) -> TestFile:
        shown, made = self._discovery.discover(source, path), self._made.get(path)
        if made is None:
            return shown
        if source == (made.old or b""):
            return as_collected(shown, made.before)
        return as_collected(shown, made.after, made.uncollected)


def as_collected(
    shown: TestFile, made: Iterable[TestFunction], uncollected: Collection[str] = frozenset()
) -> TestFile:
    """Return a file's tests by the runner's word. Pure.

    Args:
        shown: What its text shows.
        made: Tests that the runner collects. Those that the text shows are left as they are.
        uncollected: Names of tests that it doesn't collect.

    Returns:
        With the names of both kinds of difference.
    """
    names = {test.name for test in shown.tests}
    hidden = tuple(test for test in made if test.name not in names)
    missing = names.intersection(uncollected)
    return replace(
        shown,
        tests=(*(test for test in shown.tests if test.name not in missing), *hidden),
        others=(shown.others | missing).difference(test.name for test in hidden),
        hidden=frozenset(test.name for test in hidden),
        uncollected=frozenset(missing),
        is_collected=True,
    )


def _to_collect(
    changes: tuple[FileChange, ...], manifest: bytes, language: Language
) -> tuple[list[FileChange], tuple[TestId, ...]]:
    """Return the changed test files whose texts may not show all tests or don't fit the manifest, and its tests."""
    check = check_manifest(manifest, changes, language)
    if not check.tests:  # refused, whatever is collected
        return [], ()
    doubtful = {reason.subject.partition("::")[0] for reason in check.reasons if reason.code in OF_NAMES}
    hides = language.hides_tests or (lambda _: False)
    found = [
        change
        for change in changes
        if change.new is not None
        and language.discovery.is_test_file(change.path)
        and (change.path in doubtful or hides(change.new) or hides(change.old or b""))
    ]
    return found[:MOST_FILES], check.tests


class _Runner(NamedTuple):
    """A repository's test runner, which collects and runs nothing."""

    task: Task
    context: ArmContext
    collecting: Collecting

    async def collected(self, intake: Intake, files: Sequence[str], key: ArmKey) -> Collected:
        """Return the tests that are collected of each file.

        Raises:
            SandboxLost: The container was lost.
        """
        asked = self.collecting.asked
        run = TestRun(
            tests=tuple(TestId(file, asked) for file in files) if asked else (),
            files=intake.files,
            executable=frozenset(change.path for change in intake.changes if change.executable),
            removed=intake.deleted,
            prove=(),
            seconds=self.task.file.limits.arm_seconds,
            env=self.collecting.env,
            whole=() if asked else tuple(files),
        )
        job = test_job(self.task.repo, self.context.image, run)
        try:
            result = await self.context.run_arm(job)
            if result.was_terminated:  # perhaps by somebody on the engine's machine; a second time it counts
                result = await self.context.run_arm(job)
        except LimitReached:
            return {}
        self.context.observer.printed(key, result)
        return await collected(self.task.repo.report, run, result)


def made_tests(
    asked: Sequence[FileChange],
    changes: Iterable[FileChange],
    before: Collected,
    after: Collected,
    language: Language,
    listed: Collection[TestId] = (),
) -> dict[str, MadeTests]:
    """Return what is known of each file that could be loaded with the patch, and without it where it was there.

    Raises:
        TooMuchToRead: There are more tests than anybody would write.
    """
    discovery = language.discovery
    owned = language.collecting.owned if language.collecting else as_reported
    found = dict[str, _Difference]()
    for change in asked:
        path, old, new = change.path, change.old, change.new
        if new is not None and path in after and (old is None or path in before):
            were = discovery.discover(old or b"", path)
            shown = discovery.discover(new, path)
            mine = [test for test in listed if test.file == path]
            names = {start.test.name for start in before.get(path, ())}
            # What was reported before is never another test, whatever the manifest calls it.
            there = [start for start in after[path] if start.test.name in names]
            added = [start for start in after[path] if start.test.name not in names]
            found[path] = _Difference.of(
                change,
                were,
                shown,
                owned(were, before.get(path, ()), ()),
                [*owned(shown, there, ()), *owned(shown, added, mine)],
            )
    starts = [start for each in found.values() for start in each.starts]
    finder = _Finder(changes, starts, language)
    return {path: each.tests(finder) for path, each in found.items()}


class _Difference(NamedTuple):
    """The tests that the runner collects of a file, against its text.

    `kept` are names that no text showed without the patch either, `still_there` those of them that are still there.
    """

    change: FileChange
    kept: frozenset[str]
    starts: list[Start]
    uncollected: frozenset[str]
    still_there: frozenset[str]

    @classmethod
    def of(
        cls, change: FileChange, were: TestFile, shown: TestFile, before: Iterable[Start], after: Iterable[Start]
    ) -> "_Difference":
        kept = frozenset(start.test.name for start in before if not were.find(start.test.name))
        # A test whose text is there without the patch alone has been taken away: it is never a new one.
        new = {start.test.name: start for start in sorted(after) if not were.find(start.test.name)}
        texts = {test.name for test in shown.tests if not were.find(test.name)}
        starts = [start for name, start in new.items() if name not in kept and name not in texts]
        return cls(change, kept, starts, frozenset(texts - new.keys()), kept & new.keys())

    def tests(self, finder: "_Finder") -> MadeTests:
        new = (finder.test(start) for start in self.starts if can_be_listed(start.test))
        kept, left = (tuple(map(finder.kept, sorted(names))) for names in (self.kept, self.still_there))
        return MadeTests(self.change.old, kept, (*left, *new), self.uncollected)


def can_be_listed(test: TestId) -> bool:
    """Return whether a manifest can have this name."""
    return has_titles(test.file) or is_dotted_name(test.name)


class _Finder:
    """The functions of which a patch's files make tests, by the lines that the runner reports."""

    def __init__(self, changes: Iterable[FileChange], starts: Iterable[Start], language: Language) -> None:
        self._quota = FileQuota("the tests that no text shows", b"")
        texts = {change.path: change.new for change in changes if change.new is not None}
        lines: dict[str, set[int]] = {}
        for start in starts:
            lines.setdefault(start.file or start.test.file, set()).add(start.line)
        discovery, collecting = language.discovery, language.collecting
        self._separator = collecting.separator if collecting else "."
        self._shown = {
            path: frozenset(test.first_line for test in discovery.discover(texts[path], path).tests)
            for path in lines.keys() & texts.keys()
            if discovery.is_test_file(path)
        }
        self._functions = {
            path: collecting.functions_at(texts[path], path, lines[path])
            for path in sorted(lines.keys() & texts.keys())
            if collecting
        }

    def kept(self, name: str) -> TestFunction:
        """Return a test that was there before, and that no text showed either: nothing tells whether it changed."""
        return TestFunction(name, 1, 1, b"", self._enclosing(name))

    def test(self, start: Start) -> TestFunction:
        """Return the test that was collected. Nothing tells what one checks whose function isn't in the patch.

        Raises:
            TooMuchToRead: There are more than anybody would write.
        """
        name, home = start.test.name, start.file or start.test.file
        if len(name.encode()) > MAX_NAME:
            raise TooMuchToRead(f"{start.test.file}: a test's name is longer than {MAX_NAME} bytes")
        line, is_own = max(start.line, 1), home == start.test.file
        function = self._functions.get(home, {}).get(line) or TestFunction("", line, line, b"")
        self._quota.take(name, function.text)
        return replace(
            function,
            name=name,
            enclosing=self._enclosing(name),
            origin="" if is_own else home,
            is_shared=not is_own and line in self._shown.get(home, ()),
        )

    def _enclosing(self, name: str) -> str:
        return name.rpartition(self._separator)[0]
