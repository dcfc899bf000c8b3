"""What is to be written, and the layouts that it may have."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from random import Random
from typing import Protocol


class Layout(StrEnum):
    """How a text is laid out. Both groups of arms have texts of each."""

    PLAIN = "plain"
    SPACED = "spaced"
    """Other spaces and line ends within the functions in question: most of their lines aren't as they were."""
    COMPACT = "compact"
    """The shorter the better: less indentation, fewer spaces and blank lines."""


@dataclass(frozen=True)
class OnDisk:
    """A text that runs as it lies on disk. `family` has the texts of all variants of its file, its own among them.

    A `commented` one has behind its code, as comments, all lines that some variant has and another hasn't.
    """

    path: str
    text: bytes
    family: tuple[bytes, ...]
    layout: Layout = Layout.PLAIN
    commented: bool = False

    @property
    def others(self) -> tuple[bytes, ...]:
        return tuple(text for text in self.family if text != self.text)


class Writer(Protocol):
    """Writes a text in another way each time; what runs of it does the same. Knows nothing of `commented`."""

    def __call__(self, item: OnDisk, chance: Random, /) -> bytes: ...


def differing_lines(text: bytes, family: Sequence[bytes]) -> tuple[int, ...]:
    """Lines of a text, counted from 1, that are others in one of the family, or behind which one has more."""
    mine = text.splitlines()
    found: set[int] = set()
    for other in family:
        for first, last, _, _ in _differences(mine, other.splitlines()):
            found.update(range(first + 1, last + 1) if last > first else [max(first, 1)])
    return tuple(sorted(found))


def lines_in_question(family: Sequence[bytes]) -> list[str]:
    """The lines that one of the texts has and another hasn't, each once."""
    found: dict[bytes, None] = {}
    first, *others = (text.splitlines() for text in family)
    for other in others:
        for begin, end, there, until in _differences(first, other):
            found |= dict.fromkeys([*first[begin:end], *other[there:until]])
    return [line.decode("utf-8", "surrogateescape") for line in found if line.strip()]


def _differences(mine: list[bytes], other: list[bytes]) -> Iterator[tuple[int, int, int, int]]:
    for tag, *places in SequenceMatcher(None, mine, other, autojunk=False).get_opcodes():
        if tag != "equal":
            begin, end, there, until = places
            yield begin, end, there, until
