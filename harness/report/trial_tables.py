"""Tables of trials, verdicts and attempts."""

from collections.abc import Iterable, Mapping

from rich.table import Table
from rich.text import Text

from harness.analysis.rows import TrialRow
from harness.report.tables import money, table, verdict_text
from harness.report.track_columns import column_value, track_columns
from harness.report.why import why
from harness.runs.attempts import AttemptRecord
from harness.specs.model_name import called_apart
from harness.specs.reasons import Note, Reason
from harness.verify.judge.voting import Opinion
from harness.verify.verdict import JudgeRecord, VerdictRecord


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
