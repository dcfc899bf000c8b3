"""Tests that classes of changed files inherit from classes of other files of the tree."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial

from harness.languages.delegating import DelegatingDiscovery
from harness.languages.found import TestFile
from harness.languages.protocol import Discovery, Inheritance, Language, TreeFiles
from harness.sandbox.git_tree import GitTree
from harness.verify.intake import FileChange
from harness.verify.reading import read_apart

MOST_READ = 200
"""Files of the tree that are read for bases. Bases in those beyond them aren't found."""
_MOST_ROUNDS = 20


class InheritedTests(DelegatingDiscovery):
    """See `Discovery`. Changed files have the tests that they inherit, before the patch or behind it."""

    def __init__(
        self, discovery: Discovery, inheritance: Inheritance, changes: Iterable[FileChange], tree: TreeFiles
    ) -> None:
        super().__init__(discovery)
        changes = tuple(changes)
        self._inheritance, self._before, self._after = inheritance, tree, _after(tree, changes)
        self._old = {change.path: change.old for change in changes}

    def discover(self, source: bytes, path: str) -> TestFile:
        if path not in self._old:
            return self._discovery.discover(source, path)
        files = self._before if source == self._old[path] else self._after
        return self._inheritance.discover_among(source, path, files)


async def with_inherited(tree: GitTree, changes: tuple[FileChange, ...], language: Language) -> Language:
    """A language whose discovery knows what classes inherit, the patch's own files included. Raises TooMuchToRead."""
    inheritance = language.inheritance
    changed = [change for change in changes if language.discovery.is_test_file(change.path)]
    if inheritance is None or not changed:
        return language
    entries = await tree.entries()
    texts: dict[str, bytes] = {change.path: change.old for change in changes if change.old is not None}
    for _ in range(_MOST_ROUNDS):
        known = TreeFiles(entries.keys(), texts)
        wanted = await read_apart(partial(_missing, inheritance, changes, changed, known))
        chosen = sorted(wanted & entries.keys())[: max(MOST_READ + len(changes) - len(texts), 0)]
        if not chosen:
            break
        texts = {**texts, **await tree.read_all({path: entries[path] for path in chosen})}
    discovery = InheritedTests(language.discovery, inheritance, changes, TreeFiles(entries.keys(), texts))
    return replace(language, discovery=discovery)


def _missing(
    inheritance: Inheritance, changes: Iterable[FileChange], changed: Iterable[FileChange], before: TreeFiles
) -> frozenset[str]:
    after = _after(before, changes)
    texts = [(change.path, change.old, before) for change in changed]
    texts += [(change.path, change.new, after) for change in changed]
    return frozenset[str]().union(
        *(inheritance.missing(text, path, files) for path, text, files in texts if text is not None)
    )


def _after(before: TreeFiles, changes: Iterable[FileChange]) -> TreeFiles:
    """The tree as the patch leaves it."""
    new: Mapping[str, bytes] = {change.path: change.new for change in changes if change.new is not None}
    gone = {change.path for change in changes} - new.keys()
    texts = {path: text for path, text in before.texts.items() if path not in gone}
    return TreeFiles({*before.paths, *new} - gone, {**texts, **new})
