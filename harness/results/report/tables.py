"""Tables for people. In a pipe they are plain text without colours or boxes.

Rates, differences and intervals in words.

Text that came from an agent or a container, made safe to print.

The columns that tracks add to tables of trials.
"""

import os
import sys
import textwrap
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from harness.specs.reasons import Verdict
from harness.specs.usage import Usage

_KEPT = "\n\t"


def printable(text: str, limit: int = 0) -> str:
    """Return `text` without control, escape and bidi characters; cut to `limit` characters where that is given."""
    shown = "".join(char if char in _KEPT or unicodedata.category(char)[0] != "C" else "�" for char in text)
    return f"{shown[: limit - 1]}…" if limit and len(shown) > limit else shown


PIPE_WIDTH = 160
_STYLES = {
    Verdict.RESOLVED: "green",
    Verdict.FAILED: "red",
    Verdict.INVALID: "bold red",
    Verdict.UNSCORED: "yellow",
}


class _Console(Console):
    """Lines that hold an id which doesn't fit run on; the terminal breaks them, and copying one gives the whole."""

    def print(self, *objects: Any, **options: Any) -> None:
        super().print(*objects, **{"crop": False, **options})


def console() -> Console:
    """Return stdout: as wide as the terminal, in a pipe as COLUMNS says or else so that few lines are broken."""
    return _Console(width=_width(), highlight=False, soft_wrap=False)


def table(columns: Sequence[str], rows: Iterable[Sequence[str | Text]], right: Sequence[str] = ()) -> Table:
    """Return a table of plain cells; `right` names the columns of numbers.

    Only columns of prose are folded. Where there is little room gaps are narrow, then titles go, then columns
    without a value. Where that isn't enough each row is a short paragraph: ids, numbers and codes stay whole.
    """
    cells = [tuple(cell if isinstance(cell, Text) else Text(printable(cell)) for cell in row) for row in rows]
    heads = list(columns)
    widths = _widths(heads, cells)
    if _least(columns, widths, range(len(columns))) > _width():
        heads = [head.replace(" ", "\n") for head in heads]
        widths = _widths(heads, cells)
    kept = _kept(columns, widths, cells)
    least = _least(columns, widths, kept)
    if least > _width():
        return _Paragraphs(columns, cells, frozenset(right), _width())
    is_narrow = least + len(kept) * (_GAP - _NARROW_GAP) > _width()
    made = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0) if is_narrow else (0, 1))
    for place in kept:
        name = columns[place]
        made.add_column(
            heads[place],
            justify="right" if name in right else "left",
            overflow="fold",
            no_wrap=name not in _PROSE,
            min_width=None if name in _PROSE else widths[place],
        )
    for row in cells:
        made.add_row(*(row[place] for place in kept))
    return made


_FIRST_TO_GO = ("title", "kind", "judging s", "agent s", "probes", "language")
"""Columns that are left out, in this order, until the others have room."""
_PROSE = frozenset({
    "title", "why", "in words", "statement", "problem", "reasons", "message", "tests", "found", "differs", "expected",
    "command", "licence", "lost by", "why not the other", "remarks", "value",
})  # fmt: skip
"""Columns whose text may be broken into lines."""
_LEAST_PROSE = 24
_GAP, _NARROW_GAP = 3, 2
_WITHOUT_VALUE = ("", "-")


class _Paragraphs(Table):
    """Rows that no table of the terminal's width has room for: each its ids in a line, and below them the rest.

    A value stands behind its column's name, but for prose and for words that a row begins with.
    """

    def __init__(
        self, columns: Sequence[str], cells: Sequence[Sequence[Text]], right: frozenset[str], width: int
    ) -> None:
        super().__init__(*columns, width=width)
        self._columns, self._cells, self._right, self._wide = columns, cells, right, width

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for row in self._cells:
            named = list(zip(self._columns, row, strict=True))
            first = [cell for name, cell in named if not (name in self._right or name in _PROSE)]
            yield Text("  ").join(cell for cell in first if cell.plain.strip() not in _WITHOUT_VALUE)
            rest = [(name, cell.plain) for name, cell in named if name in self._right or name in _PROSE]
            told = [(name, value) for name, value in rest if value.strip() not in _WITHOUT_VALUE]
            numbers = ", ".join(f"{' '.join(name.split())} {value}" for name, value in told if name in self._right)
            prose = [value for name, value in told if name not in self._right]
            for text in filter(None, [*prose, numbers]):
                yield Text(_folded(text, self._wide))
        yield Text()


def _folded(text: str, width: int) -> str:
    indent = " " * 4
    lines = [textwrap.fill(line, width, initial_indent=indent, subsequent_indent=indent, break_long_words=False,
                           break_on_hyphens=False) for line in text.split("\n")]  # fmt: skip
    return "\n".join(lines)


def _kept(columns: Sequence[str], widths: Sequence[int], cells: Sequence[Sequence[Text]]) -> list[int]:
    """Return the places of the columns that are shown."""
    kept = list(range(len(columns)))
    for name in _FIRST_TO_GO:
        if _least(columns, widths, kept) > _width():
            kept = [place for place in kept if columns[place] != name]
    if _least(columns, widths, kept) > _width():
        kept = [at for at in kept if any(row[at].plain.strip() not in _WITHOUT_VALUE for row in cells)]
    return kept


def _least(columns: Sequence[str], widths: Sequence[int], kept: Sequence[int]) -> int:
    cells = [min(widths[place], _LEAST_PROSE) if columns[place] in _PROSE else widths[place] for place in kept]
    return sum(cells) + _NARROW_GAP * len(cells)


def _widths(heads: Sequence[str], cells: Sequence[Sequence[Text]]) -> list[int]:
    """Return the width of each column when nothing in it is folded."""
    return [max(map(_longest_line, [head, *(row[at].plain for row in cells)])) for at, head in enumerate(heads)]


def _longest_line(text: str) -> int:
    return max(map(cell_len, text.split("\n")))


def _width() -> int:
    if sys.stdout.isatty():
        return Console().width
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() and int(columns) > 0 else PIPE_WIDTH


def verdict_text(verdict: Verdict) -> Text:
    """Return a verdict in its colour."""
    return Text(verdict.value, style=_STYLES[verdict])


def money(usage: Usage) -> str:
    """Return what was spent, in USD; a dash where it isn't known."""
    return "unknown" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"
