"""Names of a manifest and the tests that they mean. Pure.

The manifest of a published task names tests as its authors saw them in a log: with or without their class, behind the
path of their file, a folder of which may be missing or too many, with other separators, case or spaces than in the
source.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import NamedTuple

from harness.judging.languages.protocol import IdForm
from harness.judging.languages.title_templates import Template
from harness.judging.submission.manifest import ListedName
from harness.judging.testing.readers import bare, has_titles, is_prose
from harness.specs.first_few import first_few
from harness.specs.test_results import TestId

_SEPARATORS = re.compile(r" \| | > ")
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
        """The tests that the name fits, and how to tell them apart."""
        shown = first_few(self.tests, _SHOWN)
        return f"this name fits {len(self.tests)} tests: {shown}; list each with its class or block"


def meant(
    listed: Iterable[ListedName], candidates: Iterable[Candidate], files: Iterable[str], ids: IdForm
) -> Iterator[TestId | Ambiguous]:
    """Yield the test that each listed name means; for one that means none, an id of that name as it is listed.

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
    names = {each.test: _listed_as(name, each.test, ids) for each in whole}
    for fits in _WAYS:
        found = _written_first(
            [each for each in whole if any(fits(listed, each.test) for listed in names[each.test])]
        )
        if len(found) == 1:
            return found[0]
        if found:
            return Ambiguous(item, tuple(found))
    unknown = name if " " in name else ids.test_of(name)
    return TestId(places[0] if len(places) == 1 else hint or item.file, unknown)


def _listed_as(name: str, test: TestId, ids: IdForm) -> set[str]:
    """Return a listed name with the case of a test and without. A title is prose, and has none."""
    return {name} if has_titles(test.file) else {name, ids.test_of(name)}


def _apart(item: ListedName) -> tuple[str, str]:
    """Return the file that a name speaks of, its own before the one above it, and the rest of the name."""
    head, separator, rest = item.name.partition("::")
    if not separator:
        head, separator, rest = item.name.partition(" | ")
    is_file = bool(separator and rest) and " " not in head and PurePosixPath(head).suffix != ""
    return (head.removeprefix("./"), rest) if is_file else (item.file, item.name)


def _places(hint: str, files: Iterable[str]) -> list[str]:
    """Return the touched files that a path may mean: itself, or without some folders, or with some too many."""
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
    """Return whether the parts of one are the last parts of the other: class and method, block and title."""
    mine, theirs = _parts(name, test.file), _parts(test.name, test.file)
    both = min(len(mine), len(theirs))
    return mine[-both:] == theirs[-both:]


def _as_printed(name: str, test: TestId) -> bool:
    """Return whether a log would show a test's titles so: cases of templates, or without parentheses at the end."""
    return _printed(name, test, lambda title, printed: Template(title).makes(printed))


def _as_printed_but_for_looks(name: str, test: TestId) -> bool:
    return _printed(name, test, lambda title, printed: _looks(title) == _looks(printed))


def _printed(name: str, test: TestId, shows: Callable[[str, str], bool]) -> bool:
    if not has_titles(test.file):
        return False
    printed, titles = _split(name), _split(test.name)
    both = min(len(printed), len(titles))
    pairs = zip(titles[-both:], printed[-both:], strict=True)
    return all(shows(title, part) or shows(bare(title), part) for title, part in pairs)


_WAYS: tuple[Callable[[str, TestId], bool], ...] = (
    _same, _same_but_for_looks, _same_ending, _as_printed, _as_printed_but_for_looks,
)  # fmt: skip
"""Ways in which a name fits a test, the strictest first: the first that a test fits decides."""


def _looks(name: str) -> str:
    """Return a name without case, underscores for spaces, and the kind of its separators."""
    return " ".join(" > ".join(_split(name)).lower().replace("_", " ").split())


def _split(name: str) -> list[str]:
    parts = _SEPARATORS.split(name)
    return [piece for part in parts for piece in ([part] if is_prose(part.partition("::")[0]) else part.split("::"))]


def _parts(name: str, file: str) -> list[str]:
    parts = _split(name)
    if file.endswith(".py"):
        parts = [piece for part in parts for piece in part.split(".")]
    return [_looks(part) for part in parts]
