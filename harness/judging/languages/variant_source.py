"""One variant of a task before anything is compiled: its texts, their layouts, and what of them is code."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from enum import StrEnum
from random import Random
from typing import Protocol

from harness.specs.variants import VariantKind


class Layout(StrEnum):
    """Layouts of a text. Both groups of arms have texts of each."""

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
        """The texts of the family that differ from this one."""
        return tuple(text for text in self.family if text != self.text)


class Writer(Protocol):
    """A function that writes a text in another way each time; what runs of it does the same.

    It ignores `commented`.
    """

    def __call__(self, item: OnDisk, chance: Random, /) -> bytes: ...


def differing_lines(text: bytes, family: Sequence[bytes]) -> tuple[int, ...]:
    """Return the lines of a text that differ from some text of its family, or behind which one has more lines.

    Returns:
        Line numbers from 1, sorted.
    """
    mine = text.splitlines()
    found: set[int] = set()
    for other in family:
        for first, last, _, _ in _differences(mine, other.splitlines()):
            found.update(range(first + 1, last + 1) if last > first else [max(first, 1)])
    return tuple(sorted(found))


def lines_in_question(family: Sequence[bytes]) -> list[str]:
    """Return the lines that one of the texts has and another hasn't, each once."""
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


@dataclass(frozen=True)
class VariantSource:
    """One variant as text: `disk` lies in the tree, `code` is what the running code is compiled from.

    Both have every path that any variant of the task touches. `family` has, for each path, every text that any
    variant of the task runs. A function is touched where its text isn't the same in all of them; functions are told
    by their qualified name, and one within another belongs to the outermost one that has a name.

    With a `seed` every touched function of `code` is compiled from other text of the same behaviour: 25 to 80 rules
    of the language's catalogue, drawn by the seed, and the bodies of `inert` (for each path the texts whose
    functions
    of the same name lend theirs) kept where they never run, behind marks that are drawn too. All files go through
    one
    printer. The same source and seed give the same code. Without a seed `code` is compiled as it is.

    Where the text on disk is what runs, `layout` and `commented` say how it is written: see `OnDisk`.
    """

    name: str
    kind: VariantKind
    disk: Mapping[str, bytes]
    code: Mapping[str, bytes]
    criterion: str = ""
    family: Mapping[str, tuple[bytes, ...]] = field(default_factory=dict)
    inert: Mapping[str, tuple[bytes, ...]] = field(default_factory=dict)
    seed: int | None = None
    layout: Layout = Layout.PLAIN
    commented: bool = False


_LINE_ENDS = str.maketrans(dict.fromkeys("\r\v\f\x85\u2028\u2029", " "))


@dataclass(frozen=True)
class Code:
    """The code of a language as text, before anything is compiled."""

    is_code: Callable[[str], bool]
    """Whether the file at this path is code: text and what runs of it can differ. Data files have no such split."""
    comment: str
    """The mark of a comment that ends with its line."""
    write: Writer
    """For text that is itself what runs."""

    def commented(self, text: bytes, lines: Sequence[str]) -> bytes:
        """Return the same code, with `lines` as comments behind it."""
        one_line = [line.translate(_LINE_ENDS) for line in lines]
        # The empty comment takes what a backslash at the end of the last one would continue.
        comments = "".join(f"{self.comment} {line}\n" for line in [*one_line, ""])
        return text.rstrip(b"\n") + b"\n" + comments.encode("utf-8", "surrogateescape")
