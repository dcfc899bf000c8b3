"""The functions that fixes change, and whether a repair is made where one of the known fixes is. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from harness.judging.languages.registry import language_at
from harness.judging.languages.stubbing import StubKind, Stubs
from harness.plugins.bug.differences import differences
from harness.plugins.bug.spans import Edit, applied, edits

NEAR = 6
"""The most lines between two changes of one place, where that is no function."""
MOST_FUNCTIONS = 20
"""The most functions of one file that a change is looked for in: each takes some readings of both texts."""


def changed_functions(path: str, old: bytes, new: bytes) -> tuple[str, ...]:
    """Return the fewest functions that hold all of a change that lies in functions, the last one first.

    Of a change that lies in more than MOST_FUNCTIONS these are the last ones.
    """
    language = language_at(path)
    if language is None or language.stubs is None or old == new:
        return ()
    difference = _Difference(language.stubs, path, old, new)
    found: list[str] = []
    while len(found) < MOST_FUNCTIONS and difference.without(found) > difference.outside:
        fewest, most = 1, len(difference.names)
        while fewest < most:
            middle = (fewest + most) // 2
            if difference.without([*difference.names[:middle], *found]) > difference.outside:
                fewest = middle + 1
            else:
                most = middle
        found.append(difference.names[fewest - 1])
    return tuple(found)


_remembered = lru_cache(maxsize=32)(changed_functions)


def refusing(fixed: Mapping[str, bytes], buggy: Mapping[str, bytes]) -> dict[str, bytes] | None:
    """Return the fixed code with the functions that the fix changes refusing; None where it changes no function."""
    found = dict(fixed)
    for path, text in fixed.items():
        language, names = language_at(path), _remembered(path, buggy[path], text)
        if names and language and language.stubs:
            found[path] = language.stubs.stub(text, path, names, StubKind.REFUSES).text
    return found if found != fixed else None


class _Difference:
    """The lines by which two texts of a file differ, with the bodies of some functions left out of both."""

    def __init__(self, stubs: Stubs, path: str, old: bytes, new: bytes) -> None:
        self._stubs, self._path, self._texts = stubs, path, (old, new)
        known, others = (stubs.symbols(text, path) for text in self._texts)
        self.names = [name for name, refusal in known.items() if not refusal and others.get(name) == ""]
        self.outside = self.without(self.names)

    def without(self, names: Sequence[str]) -> int:
        """Return how many lines differ, these functions aside."""
        old, new = (self._stubbed(text, names) if names else text for text in self._texts)
        return _differing(old.splitlines(), new.splitlines())

    def _stubbed(self, text: bytes, names: Sequence[str]) -> bytes:
        return self._stubs.stub(text, self._path, names, StubKind.REFUSES).text


def _differing(ours: list[bytes], theirs: list[bytes]) -> int:
    while ours and theirs and ours[-1] == theirs[-1]:
        ours.pop()
        theirs.pop()
    same = next((at for at, pair in enumerate(zip(ours, theirs, strict=False)) if len(set(pair)) > 1), None)
    first = min(len(ours), len(theirs)) if same is None else same
    found = differences(ours[first:], theirs[first:])
    return sum(max(end - begin, until - there) for begin, end, there, until in found)


def is_in_a_known_place(
    buggy: Mapping[str, bytes], fixes: Iterable[Mapping[str, bytes]], repair: Mapping[str, bytes | None]
) -> bool:
    """Return whether some of a repair stands where a fix does: in a function that it changes, or close to its lines.

    Args:
        buggy: Texts as the submission got them, by their paths.
        fixes: Texts of right fixes. All have the same paths.
        repair: Texts of the repair; None where a file is gone.
    """
    return any(
        _meet(path, buggy[path], text, mine)
        for fixed in fixes
        for path, text in fixed.items()
        if (mine := repair.get(path)) is not None and text != buggy[path]
    )


def without_known_places(
    buggy: Mapping[str, bytes], fixes: Sequence[Mapping[str, bytes]], repair: Mapping[str, bytes]
) -> dict[str, bytes]:
    """Return the texts of a repair without those of its edits that stand where a known fix does.

    Args:
        buggy: Texts as the submission got them, by their paths; all those of the repair, and perhaps others.
        fixes: Texts of right fixes. All have the same paths.
        repair: Texts of the repair.
    """
    found = {}
    for path, text in repair.items():
        old = buggy[path]
        known = [fixed[path] for fixed in fixes if fixed.get(path, old) != old]
        own = [
            each for each in edits(old, text) if not any(_meet(path, old, fix, applied(old, [each])) for fix in known)
        ]
        found[path] = applied(old, own)
    return found


def _meet(path: str, buggy: bytes, fixed: bytes, repaired: bytes) -> bool:
    lines = buggy.splitlines()
    theirs, mine = list(edits(buggy, fixed)), list(edits(buggy, repaired))
    if any(_is_near(own, other) for own in mine for other in theirs):
        return True
    if functions := _remembered(path, buggy, fixed):
        return not set(functions).isdisjoint(changed_functions(path, buggy, repaired))
    return not {_top(lines, each) for each in theirs}.isdisjoint(_top(lines, each) for each in mine)


def _is_near(own: Edit, other: Edit) -> bool:
    return own.first - NEAR <= other.last and other.first - NEAR <= own.last


_HEAD = re.compile(rb"[\w$]")


def _top(lines: Sequence[bytes], edit: Edit) -> int:
    """Return the line at the left edge that an edit stands under, where the grammar finds no function around it."""
    return next((at for at in range(min(edit.first, len(lines)) - 1, -1, -1) if _HEAD.match(lines[at])), 0)
