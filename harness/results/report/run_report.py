"""Prints a finished or stored run, as tables, JSON or CSV."""

import json
import shlex
import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from rich.text import Text

from harness.results.filters import Filters, chosen
from harness.results.large_runs import is_large
from harness.results.leaderboard import leaderboard
from harness.results.report.csv_report import CsvRows, csv_text, flat_facts
from harness.results.report.mutants_report import mutants_facts
from harness.results.report.parity_report import parity_facts, parity_lines
from harness.results.report.progress import warn
from harness.results.report.run_summary import show_large_run, summary_parts
from harness.results.report.tables import console, money, printable
from harness.results.report.trajectory_report import Steps, show_trajectory
from harness.results.report.trial_report import show_trial, trial_table
from harness.results.rows import TrialRow, is_below
from harness.results.run_rows import (
    RunRows,
    by_track,
    damage_of,
    each_row,
    load_rows,
    no_such_track,
    row_of_outcome,
    rows_of,
    run_file,
)
from harness.runs.command import FinishedRun
from harness.runs.plan import system_name
from harness.runs.trial_store import UsageFile
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.reasons import Verdict
from harness.specs.usage import NO_USAGE, Usage

_NOP = "nop"
"""The control that hands in nothing (scaffolds/nop)."""
_OF_THE_AGENT = ("steps", "ending_message", "agent_seconds", "waiting_seconds", "failed_requests", "attempts")


def report_run(run: FinishedRun, as_json: bool) -> int:
    """Print the closing tables and the next command to type. Return the command's exit status."""
    if run.finished and not as_json:
        console().print(Text(_finished_words(run)), soft_wrap=True)
    ended = _ended(run)
    rows = ended.trials
    if as_json:
        found = rows_of(run.directory, (trial.place.as_posix() for trial, _ in run.finished))
        trials = [_outcome_facts(row) for row in chain(found, rows)]
        print(json.dumps({"run": str(run.directory), "trials": trials}, indent=2))
    elif run.finished and not (rows or run.left_out):
        console().print(Text(f"next: {_next(run.directory, rows)}"), soft_wrap=True)
    else:
        _show_all(ended, f"; isolation {run.isolation}")
        out = console()
        _remarks(rows)
        if run.left_out:
            words = f"{run.left_out} trials were not begun: --fail-on-error was reached; the same command goes on"
            out.print(Text(words), soft_wrap=True)
        out.print(Text(f"next: {_next(run.directory, rows)}"), soft_wrap=True)
    verdicts = chain((entry.verdict for _, entry in run.finished), (row.verdict for row in rows))
    return 1 if any(verdict == Verdict.UNSCORED for verdict in verdicts) else 0


def damaged(runs: Iterable[Path]) -> int:
    """Warn of each run whose own file can't be read, and return the exit status that this makes."""
    complaints = [complaint for run in runs if (complaint := damage_of(run))]
    for complaint in complaints:
        warn(complaint)
    return 1 if complaints else 0


def _finished_words(run: FinishedRun) -> str:
    counts = Counter(entry.verdict for _, entry in run.finished)
    told = ", ".join(f"{counts[verdict]:,} {verdict}" for verdict in Verdict if counts[verdict])
    return f"{len(run.finished):,} trials were finished and need nothing: {told}"


def show_run(
    directory: Path,
    trial: str | None,
    as_json: bool,
    csv: CsvRows | None = None,
    kind: CsvRows | None = None,
    filters: Filters | None = None,
    trajectory: Steps | None = None,
    catalog: Catalog | None = None,
) -> int:
    """Print all trials of a stored run, or the chosen ones: in words, as JSON or as CSV.

    Args:
        directory: The run's.
        trial: TASK/SCAFFOLD/MODEL/ATTEMPT, or the start of one.
        as_json: Flat rows, those of `kind` or of trials; all of a single `trial` where no kind is asked for.
        csv: The rows to print as CSV.
        kind: The rows to print as JSON.
        filters: Which trials.
        trajectory: The steps of a trial's trajectory to print instead.
        catalog: Has the statements of criteria.

    Returns:
        The exit status.

    Raises:
        UserError: The directory holds no run, no trial is there, or options exclude each other.
    """
    if as_json and csv:
        raise UserError("--json and --csv exclude each other")
    if kind and not as_json:
        raise UserError(f"--rows {kind} says which rows --json prints; add --json, or ask for --csv {kind}")
    wanted = filters or Filters()
    if as_json and trajectory is None and kind in (None, CsvRows.TRIALS):
        return _stream(directory, trial, wanted, whole=kind is None)
    if not (trial or csv or as_json) and wanted == Filters() and is_large(directory):
        show_large_run(directory)
        return 0
    found = _found(directory, trial, wanted)
    if trajectory is not None:
        [row] = _one(directory, found.trials)
        show_trajectory(directory / "trials" / row.trial / "trajectory.jsonl", trajectory)
    elif csv:
        sys.stdout.write(csv_text(found, csv))
    elif as_json:
        print(json.dumps(flat_facts(found, kind or CsvRows.TRIALS), indent=2))
    elif len(found.trials) == 1 and trial:
        [row] = found.trials
        show_trial(directory, row, found.arm_tests, _statements(catalog, row), found.mutants_of(row))
    else:
        _show_all(found, by_outcome=wanted.are_by_outcome)
    return 0


def _stream(directory: Path, trial: str | None, filters: Filters, whole: bool) -> int:
    """Return the chosen trials as one JSON list, each printed before the next is read.

    `whole`: if it is one trial that is named, then with its whole verdict.
    """
    filters.check()
    file = run_file(directory)
    tracks = set(file.tracks.values()) if file else set()

    def taken(row: TrialRow) -> bool:
        tracks.add(row.track)
        return filters.take(row) and (not trial or is_below(row, trial))

    rows = filter(taken, each_row(directory))
    first, second = next(rows, None), next(rows, None)
    if first is None and not any(map(filters.takes_track, tracks or [""])):
        raise no_such_track(filters.track, tracks)
    if trial and first is None:
        raise _no_trial(directory, trial)
    is_alone = whole and trial and second is None
    count = 0
    for count, row in enumerate(filter(None, chain((first, second), rows)), 1):
        rows_of_one = RunRows(directory, (row,))
        whole_facts = {**_stored_facts(row), **mutants_facts(rows_of_one.mutants_of(row))} if is_alone else {}
        facts = whole_facts or flat_facts(rows_of_one, CsvRows.TRIALS)[0]
        text = textwrap.indent(json.dumps(facts, indent=2), "  ")
        print(f"{',' if count > 1 else '['}\n{text}", end="")
    print("\n]" if count else "[]")
    return 0


def _no_trial(directory: Path, trial: str) -> UserError:
    lister = f"testwright show {shlex.quote(str(directory))}"
    return UserError(f"{directory}: no trial {printable(trial)!r}; {lister} lists them")


def _ended(run: FinishedRun) -> RunRows:
    """Return what this start has ended, with what lies in the run's directory of the agents' work.

    Where trials were not begun, they count; what other starts did, or were asked for and didn't do, doesn't.
    """
    rows = tuple(row_of_outcome(item, run.isolation) for item in run.outcomes)
    if run.finished:  # the tables are of the others: a large run's rows don't fit in memory
        stored = rows_of(run.directory, (row.trial for row in rows))
        return RunRows(run.directory, tuple(map(_with_its_agent, rows, stored)))
    try:
        whole = load_rows(run.directory)
    except UserError:
        return RunRows(run.directory, rows)
    known = {row.trial: {name: getattr(row, name) for name in _OF_THE_AGENT} for row in whole.trials}
    rows = tuple(row.model_copy(update=known.get(row.trial, {})) for row in rows)
    begun = Counter((system_name(row.scaffold, row.model), row.task) for row in whole.trials)
    own = Counter((system_name(row.scaffold, row.model), row.task) for row in rows)

    def number(system: str, task: str, asked: int) -> int:
        missing = asked - begun[system, task] if run.left_out else 0
        return own[system, task] + max(0, missing)

    return replace(whole.asking(number), trials=rows)


def _with_its_agent(row: TrialRow, stored: TrialRow) -> TrialRow:
    return row.model_copy(update={name: getattr(stored, name) for name in _OF_THE_AGENT})


def _found(directory: Path, trial: str | None, filters: Filters) -> RunRows:
    found = chosen(load_rows(directory), filters)
    if not trial:
        return found
    below = found.below(trial)
    if not below.trials:
        raise _no_trial(directory, trial)
    return below


def _one(directory: Path, rows: Sequence[TrialRow]) -> Sequence[TrialRow]:
    if len(rows) != 1:
        raise UserError(f"{directory}: {len(rows)} trials are chosen; name the one whose trajectory is shown")
    return rows


def _statements(catalog: Catalog | None, row: TrialRow) -> Mapping[str, str]:
    """Return the task's statements; none where the task isn't in the catalog any more as it was judged."""
    try:
        task = catalog.task(row.task) if catalog else None
    except UserError:
        return {}
    if task is None or row.record is None or task.digest != row.record.task_digest:
        return {}
    return {criterion.id: criterion.statement for criterion in task.rubric.criteria}


def _show_all(found: RunRows, more: str = "", by_outcome: bool = False) -> None:
    """Print the trials of a run; no rates of trials that were chosen by their outcome, which say nothing."""
    out, rows = console(), found.trials
    out.print(trial_table(rows))
    for part in parity_lines([(row.trial, row.record, row.published) for row in rows]):
        out.print(part)
    several = by_track([found])
    for track, [of_track] in ({} if by_outcome else several).items():
        if len(several) > 1:
            out.print(Text(f"\nTrack {track}:"))
        for item in summary_parts(leaderboard([of_track]), of_track.trials):
            out.print(item, soft_wrap=isinstance(item, Text))
    out.print(Text(_totals(rows, _never_begun(found)) + more), soft_wrap=True)


def _never_begun(found: RunRows) -> int:
    """Return how many trials were asked for that have no row."""
    begun = Counter((system_name(row.scaffold, row.model), row.task) for row in found.trials)
    asked = ((system, task, number) for system, tasks in found.asked.items() for task, number in tasks.items())
    return sum(max(0, number - begun[system, task]) for system, task, number in asked)


def _totals(rows: Sequence[TrialRow], never_begun: int) -> str:
    counts = Counter(row.verdict for row in rows)
    parts = [f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict]]
    parts += [f"{counts[None]} without a verdict"] if counts[None] else []
    parts += [f"{never_begun} more asked for and never begun"] if never_begun else []
    retries = sum(not attempt.is_final for row in rows for attempt in row.attempts)
    retried = f"; tries repeated: {retries}" if retries else ""
    return f"{len(rows)} trials: {', '.join(parts) or 'none'}{retried}; {_costs(row.usage for row in rows)}"


def _costs(usages: Iterable[UsageFile | None]) -> str:
    """Return agents' and judge's money apart; attempts that were set aside cost the agents'."""
    known = [usage for usage in usages if usage]
    agents = sum((usage.agent + usage.lost for usage in known), start=NO_USAGE)
    judge = sum((usage.judge for usage in known), start=NO_USAGE)
    judged = f", judge {_cost(judge)}" if judge.calls else ""
    prices = ", ".join((agents + judge).priced_by)
    return f"cost {_cost(agents)}{judged}" + (f" (prices: {prices})" if prices else "")


def _cost(usage: Usage) -> str:
    tokens = f" for {usage.input:,} tokens in and {usage.output:,} out" if usage.calls else ""
    return money(usage) + tokens


def _remarks(rows: Iterable[TrialRow]) -> None:
    for row in rows:
        for remark in row.remarks:
            console().print(Text(f"{row.label}: {printable(remark, 200)}"), soft_wrap=True)


def _next(directory: Path, rows: Sequence[TrialRow]) -> str:
    """Return a command that shows the trial that is most worth a look.

    A control that hands in nothing fails as it should: it is shown where there is nothing else.
    """
    words = ["testwright", "show", str(directory)]
    ordered = sorted(rows, key=lambda row: (row.scaffold == _NOP, row.verdict is Verdict.RESOLVED))
    return shlex.join([*words, ordered[0].trial] if rows else words)


def _outcome_facts(row: TrialRow) -> dict[str, Any]:
    return {
        **_names(row),
        "verdict": row.verdict,
        "reasons": [reason.model_dump(mode="json") for reason in row.reasons],
        **parity_facts(row.record, row.published),
        "ending": row.ending or None,
        "usage": _usage(row.usage),
    }


def _stored_facts(row: TrialRow) -> dict[str, Any]:
    return {
        **_names(row),
        "state": row.state,
        "verdict": row.record.model_dump(mode="json") if row.record else _without_record(row),
        **parity_facts(row.record, row.published),
        "ending": row.ending or None,
        "ending_message": row.ending_message or None,
        "attempts": [attempt.model_dump(mode="json") for attempt in row.attempts],
        "problem": row.problem or None,
        "usage": _usage(row.usage),
        "signals": dict(row.signals),
    }


def _without_record(row: TrialRow) -> dict[str, Any] | None:
    """Return what stands for the verdict of a trial that ended without one."""
    if row.verdict is None:
        return None
    return {"verdict": row.verdict, "reasons": [reason.model_dump(mode="json") for reason in row.reasons]}


def _names(row: TrialRow) -> dict[str, Any]:
    facts = {"trial": row.trial, "task": row.task, "scaffold": row.scaffold}
    return {**facts, "model": row.model_name or None, "attempt": row.attempt}


def _usage(usage: UsageFile | None) -> Any:
    return usage.model_dump(mode="json", exclude={"schema_version"}) if usage else None
