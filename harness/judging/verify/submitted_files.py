"""The files of a submission among those of its tree: which of them are new, which stand beside them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import PurePosixPath

from harness.judging.languages.protocol import Language
from harness.judging.verify.arms import Suite
from harness.judging.verify.suite_reader import read_apart
from harness.sandbox.git_tree import Entry, GitTree

_SMALL = 16_000
"""Bytes of small test files in all: they run in seconds."""


@dataclass(frozen=True)
class SubmittedFiles:
    """The files of a submission among those of its tree: `there` are the paths of these."""

    suite: Suite
    language: Language
    there: frozenset[str]

    @property
    def tests_there(self) -> set[str]:
        return set(filter(self.language.discovery.is_test_file, self.there))

    @property
    def reach_others(self) -> bool:
        """Return whether the patch has more than test files, or one whose name another file has."""
        touched, is_test_file = {*self.suite.files, *self.suite.removed}, self.language.discovery.is_test_file
        if not all(map(is_test_file, touched)):
            return True
        new, files = touched - self.there, self.there.difference(self.suite.removed) | self.suite.files.keys()
        return self.language.clash is not None and self.language.clash(new, files)

    @property
    def listed(self) -> set[str]:
        """Return the test files that the manifest lists."""
        return {test.file for test in self.suite.tests}

    @property
    def others(self) -> list[str]:
        """Return the test files that the manifest doesn't list, with the patch."""
        files = (self.there | self.suite.files.keys()).difference(self.suite.removed)
        return sorted(filter(self.language.discovery.is_test_file, files.difference(self.listed)))

    def nearest(self) -> list[str]:
        """Return the test file that is nearest to the listed ones; none where there is none."""
        listed = min(test.file for test in self.suite.tests)
        return sorted(self.tests_there, key=partial(_distance, listed))[:1]

    def held_against(self, file: str) -> list[str]:
        """Return a test file that the patch leaves as it was: of the same folder, else of the one with the most."""
        left = sorted(self.tests_there - {*self.suite.files, *self.suite.removed})
        folders = {path: PurePosixPath(path).parent for path in left}
        sizes, own = Counter(folders.values()), PurePosixPath(file).parent
        return sorted(left, key=lambda path: (folders[path] != own, -sizes[folders[path]]))[:1]

    async def left_out(self, tree: GitTree, entries: Mapping[str, Entry]) -> list[list[str]]:
        """Return lists of files that runs leave out so that listed ones run: all others, and all but some small ones.

        These the patch leaves as they were; they are of the same folder and before the listed ones if there are such
        files, and one of them has tests. Tests may look at what others have left in their process before they check
        anything.
        """
        others, listed = self.others, min(self.listed)
        left = [path for path in others if path in entries and path not in self.suite.files]
        near = [path for path in left if PurePosixPath(path).parent == PurePosixPath(listed).parent] or left
        before = [path for path in near if path < listed] or near
        texts = await tree.read_all({path: entries[path] for path in before})
        sizes = accumulate(sorted((len(text), path) for path, text in texts.items()), _after)
        small = [path for size, path in sizes if size <= _SMALL]
        discover = self.language.discovery.discover
        if not await read_apart(lambda: any(discover(texts[path], path).tests for path in small)):
            return [others]
        return [others, [path for path in others if path not in small]]


def _after(before: tuple[int, str], file: tuple[int, str]) -> tuple[int, str]:
    return before[0] + file[0], file[1]


def _distance(file: str, other: str) -> tuple[bool, str]:
    return PurePosixPath(file).parent != PurePosixPath(other).parent, other
