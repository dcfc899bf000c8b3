"""Tests as the test runner itself collects them, where a file's text may not show them all.

The runner loads the files with the patch and without it, each time in a fresh container, and runs no test. A test
that it collects and that no text shows is one like any other; what only looks like a test is none.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from harness.judging.languages.found import TestFile, TestFunction
from harness.judging.languages.protocol import Collecting, Language
from harness.judging.languages.registry import DelegatingDiscovery, RememberingDiscovery
from harness.judging.testing.arm_job import TestRun, read_job, test_job
from harness.judging.verify.arms import ArmContext
from harness.judging.verify.intake import FileChange, Intake
from harness.judging.verify.manifest_check import check_manifest
from harness.judging.verify.suite_reader import by_grammar, read_apart
from harness.sandbox.protocol import LimitReached
from harness.specs.reasons import ReasonCode
from harness.specs.task import Task
from harness.specs.variants import ArmKey, ArmStatus, Role

WITH, WITHOUT = ArmKey(Role.SEEN, "with-the-patch"), ArmKey(Role.SEEN, "without-the-patch")
"""The containers in which tests are collected."""
MOST_FILES = 20
"""Files of one submission whose tests are collected; those after them have the tests that their texts show."""
OF_NAMES = frozenset(
    {ReasonCode.MANIFEST_UNKNOWN_TEST, ReasonCode.MANIFEST_NOT_A_TEST, ReasonCode.MANIFEST_UNLISTED_TEST}
)
"""Reasons for which a manifest is refused, and which the runner's own word may take away."""


async def by_collection(task: Task, intake: Intake, manifest: bytes, context: ArmContext, /) -> Language:
    """See `SuiteReader`. Tests are collected where a text may hide some, or the manifest has others than it shows."""
    language = await by_grammar(task, intake, manifest, context)
    if language.collecting is None:
        return language
    asked = await read_apart(partial(_to_collect, intake.changes, manifest, language))
    if not asked:
        return language
    old = [change.path for change in asked if change.old is not None]
    runner = _Runner(task, context, language.collecting)
    after = await runner.collected(intake, [change.path for change in asked], WITH)
    before = await runner.collected(Intake(), old, WITHOUT) if old else {}
    changed = frozenset(change.path for change in intake.changes)
    corrected = _Corrected(language, language.collecting.home, changed)
    known = await read_apart(partial(corrected.files, asked, before, after))
    return replace(language, discovery=RememberingDiscovery(CollectedTests(language, known))) if known else language


class CollectedTests(DelegatingDiscovery):
    """See `Discovery`. Of some texts it knows what the runner collects; all others are read as usual."""

    def __init__(self, language: Language, known: Mapping[tuple[str, bytes], TestFile]) -> None:
        super().__init__(language.discovery)
        self._known = known

    def discover(self, source: bytes, path: str) -> TestFile:
        return self._known.get((path, source)) or self._discovery.discover(source, path)


def _to_collect(changes: tuple[FileChange, ...], manifest: bytes, language: Language) -> list[FileChange]:
    """Return the changed test files whose tests their texts may not show, and those that don't fit the manifest."""
    reasons = check_manifest(manifest, changes, language).reasons
    doubtful = {reason.subject.partition("::")[0] for reason in reasons if reason.code in OF_NAMES}
    hides = language.hides_tests or (lambda _: False)
    found = [
        change
        for change in changes
        if change.new is not None
        and language.discovery.is_test_file(change.path)
        and (change.path in doubtful or hides(change.new) or hides(change.old or b""))
    ]
    return found[:MOST_FILES]


class _Runner(NamedTuple):
    """A repository's test runner, which collects and runs nothing."""

    task: Task
    context: ArmContext
    collecting: Collecting

    async def collected(self, intake: Intake, files: Sequence[str], key: ArmKey) -> dict[str, frozenset[str]]:
        """Return the names that are collected of each file; nothing where not all of them can be loaded.

        Raises:
            SandboxLost: The container was lost.
        """
        run = TestRun(
            tests=(),
            files=intake.files,
            executable=frozenset(change.path for change in intake.changes if change.executable),
            removed=intake.deleted,
            prove=(),
            seconds=self.task.file.limits.arm_seconds,
            env=self.collecting.env,
            whole=tuple(files),
        )
        try:
            result = await self.context.run_arm(test_job(self.task.repo, self.context.image, run))
        except LimitReached:
            return {}
        self.context.observer.printed(key, result)
        reading = await read_job(self.task.repo.report, run, (), result)
        if reading.status is not ArmStatus.FINISHED or result.exit_status not in self.collecting.statuses:
            return {}
        return {
            file: frozenset(item.test.name for item in reading.results if item.test.file == file) for file in files
        }


class _Corrected(NamedTuple):
    """The tests of files of which the runner's word is known."""

    language: Language
    home: Callable[[bytes, str, Collection[str]], str]
    changed: frozenset[str]

    def files(
        self,
        changes: Iterable[FileChange],
        before: Mapping[str, frozenset[str]],
        after: Mapping[str, frozenset[str]],
    ) -> dict[tuple[str, bytes], TestFile]:
        """Return the tests of each file, by its path and text, without the patch and with it."""
        known: dict[tuple[str, bytes], TestFile] = {}
        for change in changes:
            path, old, new = change.path, change.old, change.new
            if new is None or path not in after or (old is not None and path not in before):
                continue
            gone, kept = frozenset[str](), before.get(path, frozenset())
            if old is not None:
                shown = self.language.discovery.discover(old, path)
                known[path, old] = as_collected(shown, kept, [_hidden(name, old, is_kept=True) for name in kept])
                # A test whose text is there without the patch alone has been taken away: it is never a new one.
                gone = frozenset(test.name for test in shown.tests)
            made = [self._made(name, new, name in kept) for name in sorted(after[path] - gone)]
            known[path, new] = as_collected(self.language.discovery.discover(new, path), after[path], made)
        return known

    def _made(self, name: str, text: bytes, is_kept: bool) -> TestFunction:
        return _hidden(name, text, is_kept, "" if is_kept else self.home(text, name, self.changed))


def as_collected(shown: TestFile, names: frozenset[str], made: Iterable[TestFunction]) -> TestFile:
    """Return a file's tests by the runner's word. Pure.

    Args:
        shown: What its text shows.
        names: What the runner collects of it.
        made: Tests to take for those that no text shows.

    Returns:
        With the names of both kinds of difference.
    """
    texts = {test.name for test in shown.tests}
    hidden = tuple(test for test in made if test.name not in texts)
    uncollected = frozenset(texts - names)
    return replace(
        shown,
        tests=(*(test for test in shown.tests if test.name in names), *hidden),
        others=(shown.others | uncollected).difference(test.name for test in hidden),
        hidden=frozenset(test.name for test in hidden),
        uncollected=uncollected,
    )


def _hidden(name: str, text: bytes, is_kept: bool, home: str = "") -> TestFunction:
    """Return a test that may be made anywhere in its file. Nothing tells what it checks: it counts as one that does.

    Of one that was there before and that no text showed either, nothing tells whether it has changed: it has no text.
    """
    lines, enclosing = text.count(b"\n") + 1, name.rpartition(".")[0]
    return TestFunction(name, 1, lines, b"" if is_kept else text, enclosing, assertions=1, origin=home)
