"""Tests as the test runner itself collects them, where a file's text may not show them all.

The runner loads the files with the patch and without it, each time in a fresh container, and runs no test. A test
that it collects and that no text shows is one like any other; what only looks like a test is none.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from textwrap import dedent
from typing import NamedTuple

from harness.judging.languages.found import MAX_NAME, FileQuota, TestFile, TestFunction, TooMuchToRead
from harness.judging.languages.protocol import Discovery, Language
from harness.judging.languages.registry import DelegatingDiscovery, RememberingDiscovery
from harness.judging.testing.arm_job import TestRun, collected, test_job
from harness.judging.testing.readers import Start
from harness.judging.verify.arms import ArmContext
from harness.judging.verify.intake import FileChange, Intake
from harness.judging.verify.manifest_check import check_manifest
from harness.judging.verify.suite_reader import by_grammar, read_apart
from harness.sandbox.protocol import LimitReached
from harness.specs.reasons import ReasonCode
from harness.specs.task import Task
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
    if language.env_collecting is None:
        return language
    asked = await read_apart(partial(_to_collect, intake.changes, manifest, language))
    if not asked:
        return language
    runner = _Runner(task, context, language.env_collecting)
    after = await runner.collected(intake, [change.path for change in asked], WITH)
    old = [change.path for change in asked if change.old is not None]
    before = await runner.collected(Intake(), old, WITHOUT) if old else {}
    made = await read_apart(partial(made_tests, asked, intake.changes, before, after, language))
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
    )


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
    env: Mapping[str, str]

    async def collected(self, intake: Intake, files: Sequence[str], key: ArmKey) -> Collected:
        """Return the tests that are collected of each file.

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
            env=self.env,
            whole=tuple(files),
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
    changes: Sequence[FileChange],
    before: Collected,
    after: Collected,
    language: Language,
) -> dict[str, MadeTests]:
    """Return what is known of each file that could be loaded with the patch, and without it where it was there."""
    discovery = language.discovery
    made: dict[str, MadeTests] = {}
    for change in asked:
        path, old, new = change.path, change.old, change.new
        if new is None or path not in after or (old is not None and path not in before):
            continue
        were = discovery.discover(old, path) if old is not None else TestFile(())
        kept = {start.test.name for start in before.get(path, ()) if not were.find(start.test.name)}
        # A test whose text is there without the patch alone has been taken away: it is never a new one.
        starts = sorted(start for start in after[path] if not were.find(start.test.name))
        found = {start.test.name for start in starts}
        shown = {test.name for test in discovery.discover(new, path).tests if not were.find(test.name)}
        new_ones = _Finder(path, changes, discovery).tests(each for each in starts if each.test.name not in kept)
        made[path] = MadeTests(
            old=old,
            before=tuple(map(_kept, sorted(kept))),
            after=(*map(_kept, sorted(kept & found)), *new_ones),
            uncollected=frozenset(shown - found),
        )
    return made


def _kept(name: str) -> TestFunction:
    """Return a test that was there before and that no text showed either: nothing tells whether it has changed."""
    return TestFunction(name, 1, 1, b"", name.rpartition(".")[0])


MOST_OF_A_TEST = 100_000
"""Bytes of the text that is taken for a test's."""


class _Finder:
    """A search for what made tests are in a patch: the text that begins on the line that the runner reports."""

    def __init__(self, path: str, changes: Iterable[FileChange], discovery: Discovery) -> None:
        self._path, self._discovery = path, discovery
        self._texts = {change.path: change.new for change in changes if change.new is not None}
        self._lines = cache(lambda path: self._texts[path].decode("utf-8", "replace").splitlines(keepends=True))
        self._shown = cache(self._lines_of_tests)
        self._text = cache(self._text_from)
        self._assertions = cache(self._assertions_of)

    def tests(self, starts: Iterable[Start]) -> Iterator[TestFunction]:
        """Yield each test once.

        Left out are those whose text is a test of another changed file, where they are listed.

        Raises:
            TooMuchToRead: There are more than anybody would write.
        """
        quota = FileQuota(self._path, self._texts[self._path])
        for name, start in {start.test.name: start for start in starts}.items():
            if len(name.encode()) > MAX_NAME:
                raise TooMuchToRead(f"{self._path}: a test's name is longer than {MAX_NAME} bytes")
            home, line = start.file or self._path, max(start.line, 1)
            if home != self._path and line in self._shown(home):
                continue
            text = self._text(home, line)
            quota.take(name, text)
            yield TestFunction(
                name,
                line,
                line + max(text.count(b"\n") - 1, 0),
                text,
                name.rpartition(".")[0],
                self._assertions(text),
                "" if home == self._path else home,
            )

    def _lines_of_tests(self, path: str) -> frozenset[int]:
        """Return the first lines of the tests that the text of another changed file shows."""
        if path not in self._texts or not self._discovery.is_test_file(path):
            return frozenset()
        return frozenset(test.first_line for test in self._discovery.discover(self._texts[path], path).tests)

    def _text_from(self, path: str, first: int) -> bytes:
        """Return the statement that begins on a line, with its decorators; nothing of a file that isn't changed."""
        lines = self._lines(path) if path in self._texts else []
        taken, size, indent, is_begun = list[str](), 0, 0, False
        for number in range(first - 1, len(lines)):
            line, bare = lines[number], lines[number].strip()
            indent = indent if taken else _indent(line)
            is_level = bool(bare) and _indent(line) <= indent
            size += len(line)
            if (is_begun and is_level) or size > MOST_OF_A_TEST:
                break
            is_begun = is_begun or (is_level and not bare.startswith(("@", ")")))
            taken.append(line)
        return "".join(taken).encode()

    def _assertions_of(self, text: bytes) -> int:
        """Return the assertions of a test by its text alone; none where that is no function."""
        found = self._discovery.discover(dedent(text.decode()).encode(), self._path)
        return max([0, *(test.assertions for test in found.tests), *(each.assertions for each in found.helpers)])


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
