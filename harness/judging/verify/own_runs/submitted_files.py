"""The files of a submission among those of its tree: which of them are new, which stand beside them."""

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import PurePosixPath

from harness.judging.languages.found import TooMuchToRead
from harness.judging.languages.protocol import Language
from harness.judging.verify.arms import Suite
from harness.judging.verify.suite_reader import read_apart
from harness.sandbox.git_tree import Entry, GitTree

_SMALL = 16_000
"""Bytes of small test files in all: few tests, which mostly run in seconds."""
_REGULAR = frozenset({"100644", "100755"})


@dataclass(frozen=True)
class SubmittedFiles:
    """The files of a submission among those of its tree: `there` are the paths of these."""

    suite: Suite
    language: Language
    there: frozenset[str]

    @property
    def tests_there(self) -> set[str]:
        """Return the test files of the tree."""
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
        """Return a file that shows how a run ends without the patch: this one if it was there, or one beside it.

        That one the patch leaves as it was; it is of the same folder, else of the one with the most.
        """
        if file in self.tests_there:
            return [file]
        left = sorted(self.tests_there - {*self.suite.files, *self.suite.removed})
        folders = {path: PurePosixPath(path).parent for path in left}
        sizes, own = Counter(folders.values()), PurePosixPath(file).parent
        return sorted(left, key=lambda path: (folders[path] != own, -sizes[folders[path]]))[:1]

    async def small_ones(self, tree: GitTree, entries: Mapping[str, Entry]) -> list[str]:
        """Return small test files that the patch leaves as they were; none where these have no test.

        They are of the folder of the first listed file and come before it, if there are such files: tests may look at
        what others have left in their process before they check anything.
        """
        listed = min(self.listed)
        left = [path for path in self.others if path not in self.suite.files and entries[path].mode in _REGULAR]
        near = [path for path in left if PurePosixPath(path).parent == PurePosixPath(listed).parent] or left
        before = [path for path in near if path < listed] or near
        texts = await tree.read_all({path: entries[path] for path in before})
        sizes = accumulate(sorted((len(text), path) for path, text in texts.items()), _after)
        small = [path for size, path in sizes if size <= _SMALL]
        discover = self.language.discovery.discover
        with suppress(TooMuchToRead):
            if await read_apart(lambda: any(discover(texts[path], path).tests for path in small)):
                return small
        return []


def _after(before: tuple[int, str], file: tuple[int, str]) -> tuple[int, str]:
    return before[0] + file[0], file[1]


def _distance(file: str, other: str) -> tuple[bool, str]:
    return PurePosixPath(file).parent != PurePosixPath(other).parent, other
