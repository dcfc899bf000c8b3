"""Tables for people. In a pipe they are plain text without colours or boxes."""

import sys
from collections.abc import Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.agents.ending import Ending
from harness.analysis.rows import TrialRow
from harness.report.plain import printable
from harness.report.track_columns import column_value, track_columns
from harness.runs.attempts import AttemptRecord
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


def console() -> Console:
    """stdout: the terminal's width there, a fixed one in a pipe so that lines aren't broken."""
    return Console(width=None if sys.stdout.isatty() else PIPE_WIDTH, highlight=False, soft_wrap=False)


def table(columns: Sequence[str], rows: Iterable[Sequence[str | Text]], right: Sequence[str] = ()) -> Table:
    """A table of plain cells; `right` names the columns of numbers."""
    made = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        made.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        made.add_row(*(cell if isinstance(cell, Text) else Text(printable(cell)) for cell in row))
    return made


def trial_table(rows: Iterable[TrialRow]) -> Table:
    """Trials that have ended, one a line; with the columns of their tracks, where these have any."""
    rows = list(rows)
    own = track_columns(row.record for row in rows if row.record)
    cells = [
        (
            row.task,
            row.scaffold,
            row.model or "-",
            str(row.attempt),
            verdict_text(row.verdict) if row.verdict else "-",
            _why(row.reasons) + agent_ending(row.ending),
            money(row.usage.total) if row.usage else "-",
            _seconds(row.usage.agent_seconds + row.usage.verify_seconds) if row.usage else "-",
            *(column_value(title, row.record) for title in own),
        )
        for row in rows
    ]
    columns = ("task", "scaffold", "model", "try", "verdict", "why", "cost", "time", *own)
    return table(columns, cells, right=("try", "cost", "time"))


def verdict_lines(record: VerdictRecord) -> Iterable[Text | Table]:
    """A verdict in words: stages, reasons, notes, and the criteria that a rubric's reader looks for."""
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
        rows = [
            (item.id, item.importance, _met(item.met), item.decided_by or "-", _said(item.judge), item.words)
            for item in stages.rubric.criteria
        ]
        yield table(("criterion", "importance", "met", "decided by", "judge", "in words"), rows)


def verdict_text(verdict: Verdict) -> Text:
    return Text(verdict.value, style=_STYLES[verdict])


def money(usage: Usage) -> str:
    return "unknown" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"


def _why(reasons: Sequence[Reason]) -> str:
    if not reasons:
        return ""
    first = reasons[0]
    more = f" (+{len(reasons) - 1} more)" if len(reasons) > 1 else ""
    subject = f"{first.subject}: " if first.subject else ""
    return printable(f"{first.code}: {subject}{first.words}", 160) + more


def agent_ending(ending: str) -> str:
    """How the agent ended, where that may be why there is so little to judge; else nothing."""
    return f" (ended by {ending.replace('-', ' ')})" if ending and ending != Ending.SUBMITTED else ""


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
