"""Prints one trial in full: how its agent ended, its verdict, and what its tests did."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from harness.analysis.behaviour.trials import TrialBehaviour, trial_behaviour
from harness.analysis.rows import ArmTestRow, TrialRow
from harness.report.behaviour_tables import step_words
from harness.report.figures import NOTHING, counted
from harness.report.mutants_report import mutant_lines
from harness.report.parity_report import parity_lines
from harness.report.plain import printable
from harness.report.tables import console, money, table
from harness.report.trial_tables import attempt_table, verdict_lines
from harness.report.why import agent_causes
from harness.runs.trial_store import UsageFile
from harness.specs.reasons import Verdict
from harness.specs.results import Outcome
from harness.specs.variants import Role, VariantKind
from harness.verify.mutants.records import MutantsFile
from harness.verify.verdict import VerdictRecord

_COMMAND_CHARS = 120


def show_trial(
    directory: Path,
    row: TrialRow,
    arm_tests: Sequence[ArmTestRow],
    statements: Mapping[str, str],
    mutants: MutantsFile | None = None,
) -> None:
    """`statements` are those of the task's criteria, as far as they are known."""
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
    if row.ending:
        more = f": {printable(row.ending_message, 200)}" if row.ending_message else ""
        yield Text(f"agent: ended by {row.ending.replace('-', ' ')} after {row.steps} steps{more}")
    if row.usage:
        yield Text(usage_words(row, row.usage))
    if any(attempt.code for attempt in row.attempts):
        yield attempt_table(row.attempts)


def usage_words(row: TrialRow, usage: UsageFile) -> str:
    """Tokens, money and seconds of agent, judge and arms."""
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
    """A line for each test, a column for each kind of variant: what the test did in so many of its arms."""
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
    """`passed 5`, `failed 2 (assertion)`, several with a comma."""
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
    """Which tests noticed which probe, by their numbers in the table above."""
    rows = [
        (item.id, probe, str(len(tests)), ", ".join(str(numbers.get(test, test)) for test in tests) or "no test")
        for item in record.stages.rubric.criteria
        for probe, tests in item.killed_by.items()
    ]
    return table(("criterion", "probe", "noticed by", "tests"), rows, right=("noticed by",)) if rows else None


def behaviour_parts(found: TrialBehaviour) -> Iterator[Text | Table]:
    """What the agent did, and what of it looks odd."""
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
