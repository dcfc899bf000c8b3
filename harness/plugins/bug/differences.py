"""Where two texts differ, line by line, in a limited number of steps. Pure."""

from collections import Counter
from collections.abc import Sequence
from difflib import Match, SequenceMatcher
from itertools import accumulate, takewhile
from typing import NamedTuple

MOST_STEPS = 30_000_000
"""Pairs of equal lines that are looked at, some seconds of work. A file of 7,500 lines, most of them the same ones,
takes half of that with three changes; other files of that length take a twentieth."""


class Difference(NamedTuple):
    """Lines of a text from `first` up to `end`, in whose place another one has those from `there` up to `until`."""

    first: int
    end: int
    there: int
    until: int


class _TooManySteps(Exception):
    pass


class _Matcher(SequenceMatcher[bytes]):
    """A matcher that gives up where it would look at too much: its time may grow with the cube of the lines."""

    def __init__(self, ours: Sequence[bytes], theirs: Sequence[bytes], most: int) -> None:
        super().__init__(None, ours, theirs, autojunk=False)
        self._left = most
        same = Counter(theirs)
        self._before = [0, *accumulate(same[line] + 1 for line in ours)]

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Match:
        self._left -= self._before[-1 if ahi is None else ahi] - self._before[alo]
        if self._left < 0:
            raise _TooManySteps
        return super().find_longest_match(alo, ahi, blo, bhi)


def differences(ours: Sequence[bytes], theirs: Sequence[bytes], most: int = MOST_STEPS) -> list[Difference]:
    """Return where lines differ, in their order.

    Where finding that takes more than `most` steps, all from the first line that differs up to the last is one.
    """
    if ours == theirs:
        return []
    try:
        found = _Matcher(ours, theirs, most).get_opcodes()
    except _TooManySteps:
        head = _same(ours, theirs)
        tail = _same(ours[: head - 1 if head else None : -1], theirs[: head - 1 if head else None : -1])
        return [Difference(head, len(ours) - tail, head, len(theirs) - tail)]
    return [Difference(*lines) for tag, *lines in found if tag != "equal"]


def _same(ours: Sequence[bytes], theirs: Sequence[bytes]) -> int:
    """Return how many lines are the same at the beginning."""
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(ours, theirs, strict=False))
    return sum(1 for _ in pairs)
