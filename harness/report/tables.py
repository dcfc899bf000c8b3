"""Tables for people. In a pipe they are plain text without colours or boxes."""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.analysis.rows import TrialRow
from harness.report.plain import printable
from harness.report.track_columns import column_value, track_columns
from harness.report.why import why
from harness.runs.attempts import AttemptRecord
from harness.specs.model_name import called_apart
from harness.specs.reasons import Note, Reason, Verdict
from harness.specs.usage import Usage
from harness.verify.judge.voting import Opinion
from harness.verify.verdict import JudgeRecord, VerdictRecord

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
    """A table of plain cells; `right` names the columns of numbers.

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


_FIRST_TO_GO = ("title", "kind", "time")
"""Columns that are left out, in this order, until the others have room."""
_PROSE = frozenset({
    "title", "why", "in words", "statement", "problem", "reasons", "message", "tests", "found", "differs", "expected",
    "command", "licence", "lost by", "why not the other", "remarks", "value",
})  # fmt: skip
"""Columns whose text may be broken into lines."""
_LEAST_PROSE = 24
_GAP = 3


def _kept(columns: Sequence[str], widths: Sequence[int]) -> list[int]:
    """The places of the columns that are shown."""
    kept = list(range(len(columns)))
    for name in _FIRST_TO_GO:
        if _least(columns, widths, kept) > _width():
            kept = [place for place in kept if columns[place] != name]
    return kept


def _forced(columns: Sequence[str], widths: Sequence[int], kept: Sequence[int]) -> int | None:
    """The table's width where it is more than there is room for."""
    least = _least(columns, widths, kept)
    return least if least > _width() else None


def _least(columns: Sequence[str], widths: Sequence[int], kept: Sequence[int]) -> int:
    cells = [min(widths[place], _LEAST_PROSE) if columns[place] in _PROSE else widths[place] for place in kept]
    return sum(cells) + _GAP * len(cells)


def _widths(heads: Sequence[str], cells: Sequence[Sequence[Text]]) -> list[int]:
    """Of each column when nothing in it is folded."""
    return [max(map(_longest_line, [head, *(row[at].plain for row in cells)])) for at, head in enumerate(heads)]


def _longest_line(text: str) -> int:
    return max(map(cell_len, text.split("\n")))


def _width() -> int:
    if sys.stdout.isatty():
        return Console().width
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() and int(columns) > 0 else PIPE_WIDTH


def trial_table(rows: Iterable[TrialRow]) -> Table:
    """Trials that have ended, one a line; with the columns of their tracks, where these have any."""
    rows = list(rows)
    own = track_columns(row.record for row in rows if row.record)
    names = called_apart(dict.fromkeys(row.model for row in rows))
    cells = [
        (
            row.task,
            row.scaffold,
            names[row.model] or "-",
            str(row.attempt),
            verdict_text(row.verdict) if row.verdict else "-",
            why(row),
            money(row.usage.total) if row.usage else "-",
            _seconds(row.usage.agent_seconds + row.usage.verify_seconds) if row.usage else "-",
            *(column_value(title, row.record) for title in own),
        )
        for row in rows
    ]
    columns = ("task", "scaffold", "model", "try", "verdict", "why", "cost", "time", *own)
    return table(columns, cells, right=("try", "cost", "time"))


def verdict_lines(record: VerdictRecord, statements: Mapping[str, str] | None = None) -> Iterable[Text | Table]:
    """A verdict in words: stages, reasons, notes, and the criteria that a rubric's reader looks for.

    `statements` are those of the criteria by their ids, where they are known.
    """
    by = "" if record.protocol.is_ours else " by the published rules"
    yield Text.assemble(f"{record.task}: ", verdict_text(record.verdict), by)
    stages = record.stages
    yield table(
        ("stage", "status"),
        [
            ("manifest", stages.manifest.status.replace("-", " ")),
            ("mutation", stages.mutation.status.replace("-", " ")),
            ("rubric", stages.rubric.status.replace("-", " ")),
        ],
    )
    if record.judge:
        yield Text(_judge_words(record.judge))
    if record.reasons:
        yield table(("reason", "about", "in words"), [_reason_row(reason) for reason in record.reasons])
    if record.notes:
        yield table(("note", "about", "in words"), [_note_row(note) for note in record.notes])
    if stages.rubric.criteria:
        known = statements or {}
        rows = [
            (item.id, item.importance, _met(item.met), item.decided_by or "-", _said(item.judge), item.words)
            + ((known.get(item.id, "-"),) if known else ())
            for item in stages.rubric.criteria
        ]
        columns = ("criterion", "importance", "met", "decided by", "judge", "in words")
        yield table((*columns, "statement") if known else columns, rows)


def verdict_text(verdict: Verdict) -> Text:
    return Text(verdict.value, style=_STYLES[verdict])


def money(usage: Usage) -> str:
    return "unknown" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"


def attempt_table(attempts: Iterable[AttemptRecord]) -> Table:
    """A trial's attempts, over all starts of its run."""
    rows = [
        (
            str(item.number),
            f"{item.ended:%Y-%m-%d %H:%M:%S}",
            item.code or item.end,
            money(item.usage),
            item.kept or "-",
            item.message,
        )
        for item in attempts
    ]
    columns = ("attempt", "ended (UTC)", "end", "cost", "kept as", "in words")
    return table(columns, rows, right=("attempt", "cost"))


def _reason_row(reason: Reason) -> tuple[str, str, str]:
    return reason.code, reason.subject or "-", reason.words


def _note_row(note: Note) -> tuple[str, str, str]:
    return note.code, note.subject or "-", note.words


def _judge_words(judge: JudgeRecord) -> str:
    words = [f"judge: {judge.identity.model}"]
    if not judge.asked:
        words.append("not asked, since what came before decided")
    if judge.removed_characters:
        words.append(f"{judge.removed_characters} invisible characters were kept from it")
    return "; ".join([*words, judge.void] if judge.void else words)


def _said(opinion: Opinion | None) -> str:
    return (opinion.answer or "no answer") if opinion else "-"


def _met(met: bool | None) -> str:
    return {True: "met", False: "unmet", None: "-"}[met]


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s"
