"""Readers that find the tests of a submission in its files: the seam between a track and the reading of suites.

Tests that classes of changed files inherit from classes of other files of the tree.

Reads a submission's files: off the event loop, and with a time limit that no honest file reaches.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath
from typing import Protocol, TypeVar

from harness.judging.languages.found import TestFile, TooMuchToRead
from harness.judging.languages.protocol import Discovery, Language, Relatives, TreeFiles
from harness.judging.languages.registry import DelegatingDiscovery, RememberingDiscovery, language_of
from harness.judging.testing.threads import CpuLimit, TooSlow, in_thread
from harness.judging.verify.arms import ArmContext
from harness.judging.verify.intake import FileChange, Intake
from harness.sandbox.git_tree import GitTree
from harness.specs.repo import matches
from harness.specs.task import Task

T = TypeVar("T")
READING = CpuLimit(cpu_seconds=60, wall_seconds=1800)
"""For all files of a submission together. A megabyte of tests takes a few seconds, since reading is linear.

Nothing is refused by the clock: where that runs out, the submission has no verdict.
"""
AGAIN = CpuLimit(cpu_seconds=600, wall_seconds=7200)
"""For what was read within READING before: nothing of it is refused any more."""


async def read_apart(call: Callable[[], T], limit: CpuLimit = READING) -> T:
    """Return what a call returns or raises, run in a thread of its own.

    Raises:
        TooMuchToRead: The call takes more processor time than `limit`.
        Starved: It doesn't end by the clock's limit; that shows nothing of what it reads.
    """
    try:
        return await in_thread(call, limit)
    except TooSlow:
        words = f"reading the changed files took more than {limit.cpu_seconds:g} s of processor time"
        raise TooMuchToRead(words) from None


MOST_READ = 200
"""Files of the tree that are read for bases."""
_MOST_ROUNDS = 8
"""Files of files of files: each round reads those that the files of the round before name."""


class InheritedTests(DelegatingDiscovery):
    """See `Discovery`. Changed files have the tests that they inherit, before the patch or behind it."""

    def __init__(
        self, discovery: Discovery, old: dict[str, bytes | None], before: Relatives, after: Relatives
    ) -> None:
        super().__init__(discovery)
        self._old, self._before, self._after = old, before, after

    def discover(self, source: bytes, path: str) -> TestFile:
        if path not in self._old:
            return self._discovery.discover(source, path)
        relatives = self._before if source == self._old[path] else self._after
        return relatives.discover(source, path)


async def with_inherited(tree: GitTree, changes: tuple[FileChange, ...], language: Language) -> Language:
    """Return a language whose discovery knows what classes inherit, the patch's own files included.

    Raises:
        TooMuchToRead: Finding it would take more than any honest file needs.
    """
    relatives = language.relatives
    changed = [change for change in changes if language.discovery.is_test_file(change.path)]
    if relatives is None or not changed:
        return language
    entries = await tree.entries()
    texts = {change.path: change.old for change in changes if change.old is not None}
    most = len(texts) + MOST_READ
    for _ in range(_MOST_ROUNDS):
        trees = _trees(TreeFiles(entries.keys(), texts), changes)
        before, after = (relatives(files) for files in trees)
        wanted = entries.keys() & await read_apart(partial(_missing, changed, before, after))
        if not wanted:
            old = {change.path: change.old for change in changes}
            # What was read once is never refused later: reading takes steps of a limited number.
            inherited = InheritedTests(language.discovery, old, before, after)
            return replace(language, discovery=RememberingDiscovery(inherited))
        if len(texts) + len(wanted) > most:
            break
        texts = {**texts, **await tree.read_all({path: entries[path] for path in sorted(wanted)})}
    words = "the classes that its classes inherit from are in too many files"
    raise TooMuchToRead(f"{changed[0].path}: {words}")


def _missing(changed: Iterable[FileChange], before: Relatives, after: Relatives) -> frozenset[str]:
    texts = [(change.path, change.old, before) for change in changed]
    texts += [(change.path, change.new, after) for change in changed]
    return frozenset[str]().union(
        *(relatives.missing(text, path) for path, text, relatives in texts if text is not None)
    )


def _trees(before: TreeFiles, changes: Iterable[FileChange]) -> tuple[TreeFiles, TreeFiles]:
    """Return the tree as it was, and as the patch leaves it."""
    new = {change.path: change.new for change in changes if change.new is not None}
    gone = {change.path for change in changes} - new.keys()
    texts = {path: text for path, text in before.texts.items() if path not in gone}
    return before, TreeFiles({*before.paths, *new} - gone, {**texts, **new}, new.keys())


class SuiteReader(Protocol):
    """A function that gives the language in which a submission's tests are read."""

    async def __call__(self, task: Task, intake: Intake, manifest: bytes, context: ArmContext, /) -> Language:
        """Return the language with a discovery that finds the submission's tests. It may run them.

        Raises:
            TooMuchToRead: A file is larger than anybody would write.
            SandboxLost: A container was lost.
            UserError: The task is wrong.
        """
        ...


MOST_AROUND = 200
"""Files that are read for helpers."""


async def files_around(tree: GitTree, task: Task, intake: Intake, language: Language) -> dict[str, bytes]:
    """Return unchanged test files in the folders of the changed ones and above: they may have helpers."""
    changed = {change.path for change in intake.changes}
    folders = {folder for path in changed for folder in PurePosixPath(path).parents}
    near = {
        path: entry
        for path, entry in sorted((await tree.entries()).items())
        if path.endswith(language.suffixes)
        and path not in changed
        and PurePosixPath(path).parent in folders
        and matches(path, task.repo.test_paths)
    }
    return await tree.read_all(dict(list(near.items())[:MOST_AROUND]))


async def by_grammar(task: Task, intake: Intake, _manifest: bytes, context: ArmContext, /) -> Language:
    """Read a suite by the grammar of the repository's language, with the tests that classes inherit."""
    return await with_inherited(GitTree(context.image.tree), intake.changes, language_of(task.repo))
