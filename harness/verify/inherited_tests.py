"""Tests that classes of changed files inherit from classes of other files of the tree."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from harness.languages.delegating import DelegatingDiscovery
from harness.languages.found import TestFile, TooMuchToRead
from harness.languages.protocol import Discovery, Language, Relatives, TreeFiles
from harness.languages.remembering import RememberingDiscovery
from harness.sandbox.git_tree import GitTree
from harness.verify.intake import FileChange
from harness.verify.reading import read_apart

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
    """A language whose discovery knows what classes inherit, the patch's own files included. Raises TooMuchToRead."""
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
    """The tree as it was, and as the patch leaves it."""
    new = {change.path: change.new for change in changes if change.new is not None}
    gone = {change.path for change in changes} - new.keys()
    texts = {path: text for path, text in before.texts.items() if path not in gone}
    return before, TreeFiles({*before.paths, *new} - gone, {**texts, **new}, new.keys())
