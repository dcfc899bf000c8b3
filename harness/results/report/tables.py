"""Tables for people. In a pipe they are plain text without colours or boxes.

Rates, differences and intervals in words.

Text that came from an agent or a container, made safe to print.

The columns that tracks add to tables of trials.
"""

import os
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
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
    """stdout: as wide as the terminal, in a pipe as COLUMNS says or else so that few lines are broken."""
    return _Console(width=_width(), highlight=False, soft_wrap=False)


def table(columns: Sequence[str], rows: Iterable[Sequence[str | Text]], right: Sequence[str] = ()) -> Table:
    """Return a table of plain cells; `right` names the columns of numbers.

    Only columns of prose are folded. Where there is little room titles go first, and then the table is wider than
    the terminal: ids, numbers and codes stay whole.
    """
    cells = [tuple(cell if isinstance(cell, Text) else Text(printable(cell)) for cell in row) for row in rows]
    heads = list(columns)
    widths = _widths(heads, cells)
    if _least(columns, widths, range(len(columns))) > _width():
        heads = [head.replace(" ", "\n") for head in heads]
        widths = _widths(heads, cells)
    kept = _kept(columns, widths)
    made = Table(box=SIMPLE_HEAD, pad_edge=False, width=_forced(columns, widths, kept))
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


_FIRST_TO_GO = ("title", "kind", "time", "probes", "language")
"""Columns that are left out, in this order, until the others have room."""
_PROSE = frozenset({
    "title", "why", "in words", "statement", "problem", "reasons", "message", "tests", "found", "differs", "expected",
    "command", "licence", "lost by", "why not the other", "remarks", "value",
})  # fmt: skip
"""Columns whose text may be broken into lines."""
_LEAST_PROSE = 24
_GAP = 3


def _kept(columns: Sequence[str], widths: Sequence[int]) -> list[int]:
    """Return the places of the columns that are shown."""
    kept = list(range(len(columns)))
    for name in _FIRST_TO_GO:
        if _least(columns, widths, kept) > _width():
            kept = [place for place in kept if columns[place] != name]
    return kept


def _forced(columns: Sequence[str], widths: Sequence[int], kept: Sequence[int]) -> int | None:
    """Return the table's width where it is more than there is room for."""
    least = _least(columns, widths, kept)
    return least if least > _width() else None


def _least(columns: Sequence[str], widths: Sequence[int], kept: Sequence[int]) -> int:
    cells = [min(widths[place], _LEAST_PROSE) if columns[place] in _PROSE else widths[place] for place in kept]
    return sum(cells) + _GAP * len(cells)


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
