"""Spans of lines in which a fault lies: as they are handed in, how wide they are, and what is put in their place.

All of it is pure. Lines are counted from 1, in the tree that the agent was given.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from harness.plugins.bug.differences import differences
from harness.specs.yaml_files import YamlFault, compose, plain

FAULT_FILE = "fault.yaml"
"""The file, at the root of the tree, in which a submission names the place of the fault."""
MAX_SPANS = 3
MAX_BYTES = 64_000
FEWEST_LINES = 10
TIMES_GOLD = 3
"""All spans together may have so many lines, or so many times as many as the fault, whichever is more."""
_FORM = "write a list of at most three of {file: src/x.py, lines: [94, 103]}"
_MAX_DEPTH = 6
Texts = Mapping[str, bytes]


class SpanError(Exception):
    """A `fault.yaml` that can't be used. The message is one line, with the line where there is one."""


class Span(NamedTuple):
    """The lines `first` to `last` of a file, both included."""

    file: str
    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.file}:{self.first}-{self.last}"


class Edit(NamedTuple):
    """A change of lines `first` to `last` of a text to `new`. With `last` < `first` it is put before `first`."""

    first: int
    last: int
    new: tuple[bytes, ...]

    @property
    def size(self) -> int:
        """Return how many lines it takes to name it: one where there is only a gap."""
        return max(1, self.last - self.first + 1)

    def touches(self, span: Span) -> bool:
        """Return whether a span has one of its lines, or one of the two lines around the gap."""
        if self.last < self.first:
            return span.first <= self.first and span.last >= self.last
        return span.first <= self.last and span.last >= self.first


def parse_spans(data: bytes) -> tuple[Span, ...]:
    """Read `fault.yaml`.

    Raises:
        SpanError: It is absent or wrong.
    """
    if len(data) > MAX_BYTES:
        raise SpanError(f"larger than {MAX_BYTES} bytes")
    try:
        rows = plain(compose(data.decode("utf-8"), _MAX_DEPTH))
    except UnicodeDecodeError:
        raise SpanError("not UTF-8") from None
    except YamlFault as fault:
        raise SpanError(f"line {fault.line}: {fault}" if fault.line else str(fault)) from None
    if not isinstance(rows, list) or not rows:
        raise SpanError(f"not a list; {_FORM}")
    if len(rows) > MAX_SPANS:
        raise SpanError(f"{len(rows)} spans; {_FORM}")
    return tuple(_span(row) for row in rows)


def _span(row: Any) -> Span:
    match row:
        case {"file": str(file), "lines": [str(first), str(last)], **rest} if not rest:
            pass
        case _:
            raise SpanError(f"not a span; {_FORM}")
    if not (first.isdecimal() and last.isdecimal() and len(first + last) < 16):
        raise SpanError(f"{file[:100]!r}: lines must be two numbers; {_FORM}")
    span = Span(file, int(first), int(last))
    if not 1 <= span.first <= span.last:
        raise SpanError(f"{file[:100]!r}: lines count from 1, the first one not behind the last")
    return span


def check_spans(spans: Iterable[Span], sizes: Mapping[str, int]) -> None:
    """Raise SpanError for a span outside of the files that may have faults; `sizes` are their numbers of lines."""
    for span in spans:
        if span.file not in sizes:
            raise SpanError(f"{span.file[:100]!r} is no file of the code that you were given")
        if span.last > sizes[span.file]:
            raise SpanError(f"{span.file[:100]!r} has {sizes[span.file]} lines, not {span.last}")


def width(spans: Iterable[Span]) -> int:
    """Return how many lines spans name; one that two of them name counts once."""
    by_file: dict[str, list[tuple[int, int]]] = {}
    for span in spans:
        by_file.setdefault(span.file, []).append((span.first, span.last))
    return sum(_covered(sorted(ranges)) for ranges in by_file.values())


def _covered(ranges: Sequence[tuple[int, int]]) -> int:
    total, end = 0, 0
    for first, last in ranges:
        total += max(0, last - max(first, end + 1) + 1)
        end = max(end, last)
    return total


def widest(buggy: Texts, fixed: Texts) -> int:
    """Return how many lines spans may name for the fault between two trees."""
    gold = sum(edit.size for path in fixed for edit in edits(buggy.get(path, b""), fixed[path]))
    return max(FEWEST_LINES, TIMES_GOLD * gold)


def edits(old: bytes, new: bytes) -> Iterator[Edit]:
    """Yield what turns one text into another, in the order of its lines."""
    ours, theirs = old.splitlines(keepends=True), new.splitlines(keepends=True)
    for first, end, there, until in differences(ours, theirs):
        yield Edit(first + 1, end, tuple(theirs[there:until]))


def transplanted(buggy: Texts, fixed: Texts, spans: Sequence[Span]) -> dict[str, bytes]:
    """Return the buggy texts with each difference that a span touches as the fixed tree has it."""
    found = dict(buggy)
    for path, text in fixed.items():
        mine = [span for span in spans if span.file == path]
        chosen = [edit for edit in edits(buggy[path], text) if any(map(edit.touches, mine))]
        found[path] = applied(buggy[path], chosen)
    return found


def applied(text: bytes, chosen: Iterable[Edit]) -> bytes:
    """Return a text with some of its edits made."""
    lines = text.splitlines(keepends=True)
    for edit in sorted(chosen, reverse=True):
        lines[edit.first - 1 : edit.last] = edit.new
    return b"".join(lines)


def contain(spans: Sequence[Span], buggy: Texts, changed: Mapping[str, bytes | None]) -> bool:
    """Return whether all that is changed lies within spans; a file that is new or gone never does."""
    for path, text in changed.items():
        if text is None or path not in buggy:
            return False
        mine = [span for span in spans if span.file == path]
        if not all(_within(edit, mine) for edit in edits(buggy[path], text)):
            return False
    return bool(changed)


def _within(edit: Edit, spans: Sequence[Span]) -> bool:
    if edit.last < edit.first:
        return any(map(edit.touches, spans))
    return all(any(span.first <= line <= span.last for span in spans) for line in range(edit.first, edit.last + 1))


def gold_spans(buggy: Texts, fixed: Texts) -> tuple[Span, ...]:
    """Return the narrowest spans that have every difference: as many as may be named, those near together as one."""
    found = [
        Span(path, max(1, min(edit.first, edit.last)), max(1, edit.last))
        for path in sorted(fixed)
        for edit in edits(buggy[path], fixed[path])
    ]
    while len(found) > MAX_SPANS:
        gaps = [
            (after.first - before.last, number)
            for number, (before, after) in enumerate(pairwise(found))
            if before.file == after.file
        ]
        if not gaps:
            raise SpanError(f"the fault lies in more than {MAX_SPANS} files")
        _, number = min(gaps)
        found[number : number + 2] = [Span(found[number].file, found[number].first, found[number + 1].last)]
    return tuple(found)
