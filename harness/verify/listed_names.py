"""What the names of a published task's manifest mean, among the tests of the files that a patch touches. Pure.

Such a manifest names tests as its authors saw them in a log: with or without their class, behind the path of their
file, a folder of which may be missing or too many, with other separators, case or spaces than in the source.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import NamedTuple

from harness.languages.protocol import IdForm
from harness.specs.ids import TestId
from harness.submission.line_manifest import ListedName

_SEPARATORS = re.compile(r"::| \| | > ")
_SHOWN = 4


class Candidate(NamedTuple):
    """A test of a touched file. `is_written` is whether the patch adds or changes it."""

    test: TestId
    is_written: bool


class Ambiguous(NamedTuple):
    """A listed name that may mean any of several tests."""

    listed: ListedName
    tests: tuple[TestId, ...]

    @property
    def words(self) -> str:
        shown = ", ".join(map(str, self.tests[:_SHOWN]))
        more = f" and {len(self.tests) - _SHOWN} more" if len(self.tests) > _SHOWN else ""
        return f"this name fits {len(self.tests)} tests: {shown}{more}; list each with its class or block"


def meant(
    listed: Iterable[ListedName], candidates: Iterable[Candidate], files: Iterable[str], ids: IdForm
) -> Iterator[TestId | Ambiguous]:
    """For each listed name the test that it means; for one that means none an id of that name, as it is listed.

    `files` are the files that the patch touches. Of several tests that a name fits equally well, one that the patch
    writes is meant before those that it leaves as they are.
    """
    by_file: dict[str, list[Candidate]] = {path: [] for path in files}
    for candidate in candidates:
        by_file.setdefault(candidate.test.file, []).append(candidate)
    for item in listed:
        yield _meant(item, by_file, ids)


def _meant(item: ListedName, by_file: Mapping[str, list[Candidate]], ids: IdForm) -> TestId | Ambiguous:
    hint, name = _apart(item)
    places = _places(hint, by_file)
    whole = [candidate for place in places for candidate in by_file[place]]
    for fits in _WAYS:
        found = _written_first([candidate for candidate in whole if fits(ids.test_of(name), candidate.test)])
        if len(found) == 1:
            return found[0]
        if found:
            return Ambiguous(item, tuple(found))
    return TestId(places[0] if len(places) == 1 else hint or item.file, ids.test_of(name))


def _apart(item: ListedName) -> tuple[str, str]:
    """The file that a name speaks of, its own before the one above it, and the rest of the name."""
    head, separator, rest = item.name.partition("::")
    if not separator:
        head, separator, rest = item.name.partition(" | ")
    is_file = bool(separator and rest) and " " not in head and PurePosixPath(head).suffix != ""
    return (head.removeprefix("./"), rest) if is_file else (item.file, item.name)


def _places(hint: str, files: Iterable[str]) -> list[str]:
    """The touched files that a path speaks of: itself, or those that it is without some of its first folders, or of
    which it has some too many.
    """
    known = list(files)
    if not hint:
        return known
    if hint in known:
        return [hint]
    shorter = [path for path in known if path.endswith(f"/{hint}")]
    return shorter or [path for path in known if hint.endswith(f"/{path}")]


def _written_first(found: list[Candidate]) -> list[TestId]:
    written = [candidate.test for candidate in found if candidate.is_written]
    return list(dict.fromkeys(written or [candidate.test for candidate in found]))


def _same(name: str, test: TestId) -> bool:
    return name == test.name


def _same_but_for_looks(name: str, test: TestId) -> bool:
    return _looks(name) == _looks(test.name)


def _same_ending(name: str, test: TestId) -> bool:
    """Whether the parts of one are the last parts of the other: class and method, block and title."""
    mine, theirs = _parts(name, test.file), _parts(test.name, test.file)
    both = min(len(mine), len(theirs))
    return mine[-both:] == theirs[-both:]


_WAYS: tuple[Callable[[str, TestId], bool], ...] = (_same, _same_but_for_looks, _same_ending)
"""From the strictest on: the first that a test fits decides."""


def _looks(name: str) -> str:
    """Case, underscores for spaces and the width of spaces apart."""
    return " ".join(_SEPARATORS.sub(" > ", name).lower().replace("_", " ").split())


def _parts(name: str, file: str) -> list[str]:
    parts = _SEPARATORS.split(name)
    if file.endswith(".py"):
        parts = [piece for part in parts for piece in part.split(".")]
    return [_looks(part) for part in parts]
