"""Prints one trial in full: how its agent ended, its verdict, and what its tests did.

Tables of trials, verdicts and attempts.

Why a trial ended as it did, in a line: what stopped the agent comes before what its submission lacks.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from harness.agents.trajectory import Ending
from harness.judging.verify.judge.replies import Opinion
from harness.judging.verify.mutants.records import MutantsFile
from harness.judging.verify.verdict import JudgeRecord, VerdictRecord
from harness.results.activity.trials import TrialBehaviour, trial_behaviour
from harness.results.report.activity_tables import step_words
from harness.results.report.figures import NOTHING, counted
from harness.results.report.mutants_report import mutant_lines
from harness.results.report.parity_report import parity_lines
from harness.results.report.tables import console, money, printable, table, verdict_text
from harness.results.rows import ArmTestRow, TrialRow
from harness.results.signals import shown_signals, signal_cell
from harness.runs.attempts import AttemptRecord
from harness.runs.trial_store import UsageFile
from harness.specs.model_file import called_apart
from harness.specs.reasons import Note, Reason, ReasonCode, Verdict
from harness.specs.test_results import Outcome
from harness.specs.variants import Role, VariantKind
from harness.tracks.protocol import Column
from harness.tracks.registry import TRACKS

_NOTHING_USABLE = frozenset(
    {ReasonCode.EMPTY_SUBMISSION, ReasonCode.MANIFEST_MISSING, ReasonCode.MANIFEST_UNPARSEABLE}
)
_REASON_CHARS = 160
_MESSAGE_CHARS = 100


def why(row: TrialRow) -> str:
    """Return the reasons of a verdict, or what is wrong with a trial that has none. Empty for a plain success."""
    words = reason_words(row.reasons) or (printable(row.problem, _REASON_CHARS) if row.verdict is None else "")
    causes = "; ".join(agent_causes(row))
    if not causes:
        return words
    if row.reasons and row.reasons[0].code in _NOTHING_USABLE:
        return f"{causes}; {words}"
    ending = ending_words(row)
    return f"{words} ({ending})".strip() if ending else words


def reason_words(reasons: tuple[Reason, ...]) -> str:
    """Return the first in words, and how many others there are."""
    if not reasons:
        return ""
    first = reasons[0]
    more = f" (+{len(reasons) - 1} more)" if len(reasons) > 1 else ""
    subject = f"{first.subject}: " if first.subject else ""
    return printable(f"{first.code}: {subject}{first.words}", _REASON_CHARS) + more


def agent_causes(row: TrialRow) -> Iterator[str]:
    """Yield what kept an agent from its work, as far as that is known."""
    if ending := ending_words(row):
        message = f": {printable(row.ending_message, _MESSAGE_CHARS)}" if row.ending_message else ""
        yield ending + message
    if row.failed_requests:
        yield f"{counted(row.failed_requests, 'request')} to its provider failed"
    if row.model and row.ending and row.usage and not row.usage.agent.calls and row.verdict is not Verdict.RESOLVED:
        yield "its model gave no answer"


def ending_words(row: TrialRow) -> str:
    """Return how the agent ended, where that may be why there is so little to judge; else nothing."""
    return f"ended by {row.ending.replace('-', ' ')}" if row.ending and row.ending != Ending.SUBMITTED else ""


_SECONDS = ("agent s", "judging s")


def trial_table(rows: Iterable[TrialRow]) -> Table:
    """Return trials that have ended, one a line, with the columns of their tracks.

    `#` is the attempt, `agent s` the agent's wall time, as in the table of systems, `judging s` that of the judging.
    """
    rows = list(rows)
    own = track_columns(row.record for row in rows if row.record)
    signals = shown_signals(rows)
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
            *((f"{row.usage.agent_seconds:.1f}", f"{row.usage.verify_seconds:.1f}") if row.usage else "--"),
            *(column_value(title, row.record) for title in own),
            *(printable(signal_cell(row, name)) for name in signals),
        )
        for row in rows
    ]
    columns = ("task", "scaffold", "model", "#", "verdict", "why", "cost", *_SECONDS, *own, *signals.values())
    return table(columns, cells, right=("#", "cost", *_SECONDS))


def verdict_lines(record: VerdictRecord, statements: Mapping[str, str] | None = None) -> Iterable[Text | Table]:
    """Yield a verdict in words: stages, reasons, notes, and the criteria that a rubric's reader looks for.

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
    """Return the tries of a trial, over all starts of its run."""
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
    columns = ("try", "ended (UTC)", "end", "cost", "kept as", "in words")
    return table(columns, rows, right=("try", "cost"))


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


_COMMAND_CHARS = 120


def show_trial(
    directory: Path,
    row: TrialRow,
    arm_tests: Sequence[ArmTestRow],
    statements: Mapping[str, str],
    mutants: MutantsFile | None = None,
) -> None:
    """Print a trial. `statements` are those of the task's criteria, as far as they are known."""
    out, place = console(), directory / "trials" / row.trial
    for part in _parts(place, row, statements):
        out.print(part, soft_wrap=isinstance(part, Text))
    listed = [item for item in arm_tests if item.role is Role.LISTED]
    numbers = {test: number for number, test in enumerate(dict.fromkeys(item.test for item in listed), start=1)}
    if listed:
        out.print(arm_table(listed, numbers))
    if row.record and (kills := _kill_table(row.record, numbers)):
        out.print(kills)
    for line in mutant_lines(mutants):
        out.print(line, soft_wrap=isinstance(line, Text))
    if found := trial_behaviour(directory, row):
        for part in behaviour_parts(found):
            out.print(part, soft_wrap=isinstance(part, Text))
    out.print(Text(f"files: {place}"), soft_wrap=True)


def _parts(place: Path, row: TrialRow, statements: Mapping[str, str]) -> Iterator[Text | Table]:
    if row.problem:
        yield Text(printable(f"{place}: {row.problem}"))
    if row.verdict not in (None, Verdict.RESOLVED):
        for cause in agent_causes(row):
            yield Text(f"agent: {cause}")
    if row.record:
        yield from verdict_lines(row.record, statements)
    if row.record and row.published:
        yield from verdict_lines(row.published, statements)
        yield from parity_lines([(row.task, row.record, row.published)])
    for name, title in shown_signals([row]).items():
        yield Text(printable(f"{title}: {signal_cell(row, name)}"))
    if row.ending:
        more = f": {printable(row.ending_message, 200)}" if row.ending_message else ""
        yield Text(f"agent: ended by {row.ending.replace('-', ' ')} after {row.steps} steps{more}")
    if row.usage:
        yield Text(usage_words(row, row.usage))
    if any(attempt.code for attempt in row.attempts):
        yield attempt_table(row.attempts)


def usage_words(row: TrialRow, usage: UsageFile) -> str:
    """Return tokens, money and seconds of agent, judge and arms in words."""
    agent, judge = usage.agent + usage.lost, usage.judge
    words = f"agent: {agent.input:,} tokens in ({agent.cache_read:,} cached), {agent.output:,} out, {money(agent)}"
    if judge.calls:
        words += f"; judge: {judge.input:,} tokens in, {judge.output:,} out, {money(judge)}"
    working = f" ({row.agent_seconds:.1f} working)" if row.agent_seconds is not None else ""
    return (
        f"{words}\nseconds: agent {usage.agent_seconds:.1f}{working}, verification {usage.verify_seconds:.1f} "
        f"(arms {usage.arm_seconds:.1f}, their tests {usage.test_seconds:.1f})"
    )


def arm_table(rows: Sequence[ArmTestRow], numbers: Mapping[str, int]) -> Table:
    """Return a line for each test, a column for each kind of variant: what the test did in so many of its arms."""
    kinds = [kind for kind in VariantKind if any(item.kind is kind for item in rows)]
    cells = []
    for test, number in numbers.items():
        own = [item for item in rows if item.test == test]
        seconds = max(item.seconds for item in own)
        by_kind = [_outcomes([item for item in own if item.kind is kind]) for kind in kinds]
        cells.append((str(number), test, *by_kind, f"{seconds:.2f}"))
    names = [kind.value for kind in kinds]
    return table(("#", "test", *names, "seconds"), cells, right=("#", "seconds"))


def _outcomes(rows: Sequence[ArmTestRow]) -> str:
    """Return outcomes with their numbers: `passed 5`, `failed 2 (assertion)`, several with a comma."""
    if not rows:
        return NOTHING
    parts = []
    for outcome in Outcome:
        own = [item for item in rows if item.outcome is outcome]
        qualities = sorted({item.quality.value for item in own if item.quality})
        if own:
            parts.append(f"{outcome} {len(own)}" + (f" ({'/'.join(qualities)})" if qualities else ""))
    return ", ".join(parts)


def _kill_table(record: VerdictRecord, numbers: Mapping[str, int]) -> Table | None:
    """Return which tests noticed which probe, by their numbers in the table above."""
    rows = [
        (item.id, probe, str(len(tests)), ", ".join(str(numbers.get(test, test)) for test in tests) or "no test")
        for item in record.stages.rubric.criteria
        for probe, tests in item.killed_by.items()
    ]
    return table(("criterion", "probe", "noticed by", "tests"), rows, right=("noticed by",)) if rows else None


def behaviour_parts(found: TrialBehaviour) -> Iterator[Text | Table]:
    """Yield what the agent did, and what of it looks odd."""
    done = found.profile
    kinds = ", ".join(f"{kind} {count}" for kind, count in done.kinds.items())
    yield Text(f"actions: {done.actions} in {done.calls} calls: {kinds or 'none'}")
    edits = f"{done.explored} reads and searches before its first edit" if done.has_edited else "no edit"
    tests = f"{counted(done.tests_run, 'run')} of tests, {done.tests_after_edit} of them after the last edit"
    yield Text(f"order: {edits}; {tests}")
    if found.sightings:
        rows = [
            (item.kind.value, step_words(item), printable(item.command, _COMMAND_CHARS)) for item in found.sightings
        ]
        yield Text("looks out of bounds (never part of the verdict):")
        yield table(("looks like", "step", "command"), rows, right=("step",))
    for mark in found.marks:
        yield Text(f"{mark.mark} at step {mark.step}: {printable(mark.words, _COMMAND_CHARS)}")


def track_columns(records: Iterable[VerdictRecord]) -> tuple[str, ...]:
    """Return the titles of all columns that the tracks of these verdicts have, each once."""
    titles = [column.title for record in records for column in _columns(record)]
    return tuple(dict.fromkeys(titles))


def column_value(title: str, record: VerdictRecord | None) -> str:
    """Return what a trial's track says in the column of this title; `-` where it has none."""
    columns = _columns(record) if record else ()
    return next((column.value(record) for column in columns if record and column.title == title), "-")


def _columns(record: VerdictRecord) -> tuple[Column, ...]:
    """Return None where the track that graded it isn't installed here."""
    return TRACKS.get(record.track).columns if record.track in TRACKS.names else ()
