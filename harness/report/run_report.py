"""Prints a finished or stored run, as tables, JSON or CSV."""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.text import Text

from harness.analysis.resolve_rates import resolve_rates
from harness.analysis.rows import TrialRow
from harness.analysis.run_rows import load_rows, row_of_outcome
from harness.report.csv_report import CsvRows, csv_text
from harness.report.figures import rate_words
from harness.report.parity_report import parity_facts, parity_lines
from harness.report.plain import printable
from harness.report.tables import (
    agent_ending,
    attempt_table,
    console,
    money,
    table,
    trial_table,
    verdict_lines,
    verdict_text,
)
from harness.runs.command import FinishedRun
from harness.runs.trial_store import UsageFile
from harness.specs.errors import UserError
from harness.specs.reasons import Verdict
from harness.specs.usage import NO_USAGE, Usage


def report_run(run: FinishedRun, as_json: bool) -> int:
    """The closing table and the next command to type. Returns the command's exit status."""
    rows = [row_of_outcome(item, run.isolation) for item in run.outcomes]
    if as_json:
        print(json.dumps({"run": str(run.directory), "trials": [_outcome_facts(row) for row in rows]}, indent=2))
    else:
        out = console()
        out.print(trial_table(rows))
        for part in parity_lines([(row.trial, row.record, row.published) for row in rows]):
            out.print(part)
        for line in (*_rates(rows), _totals(rows, run.isolation)):
            out.print(Text(line), soft_wrap=True)
        _remarks(rows)
        if run.left_out:
            words = f"{run.left_out} trials were not begun: --fail-on-error was reached; the same command goes on"
            out.print(Text(words), soft_wrap=True)
        out.print(Text(f"next: testwright show {run.directory}{_worth_a_look(rows)}"), soft_wrap=True)
    return 1 if any(row.verdict is Verdict.UNSCORED for row in rows) else 0


def show_run(directory: Path, chosen: str | None, as_json: bool, csv: CsvRows | None = None) -> int:
    """All trials of a stored run, or the one that `chosen` begins: in words, as JSON or as CSV. Raises UserError."""
    if as_json and csv:
        raise UserError("--json and --csv exclude each other")
    found = load_rows(directory)
    if chosen:
        found = found.below(chosen)
        if not found.trials:
            raise UserError(f"{directory}: no trial {printable(chosen)!r}; testwright show {directory} lists them")
    if csv:
        sys.stdout.write(csv_text(found, csv))
    elif as_json:
        print(json.dumps([_stored_facts(row) for row in found.trials], indent=2))
    elif len(found.trials) == 1 and chosen:
        _show_trial(directory, found.trials[0])
    else:
        _show_trials(found.trials)
    return 0


def _show_trials(rows: Sequence[TrialRow]) -> None:
    out = console()
    out.print(table(("trial", "verdict", "why", "cost"), map(_cells, rows)))
    for part in parity_lines([(row.trial, row.record, row.published) for row in rows]):
        out.print(part)
    for line in (*_rates(rows), _costs(row.usage for row in rows)):
        out.print(Text(line), soft_wrap=True)


def _show_trial(directory: Path, row: TrialRow) -> None:
    out, place = console(), directory / "trials" / row.trial
    if row.problem:
        out.print(Text(printable(f"{place}: {row.problem}")), soft_wrap=True)
    if row.record:
        for part in verdict_lines(row.record):
            out.print(part)
        if row.published:
            for part in (*verdict_lines(row.published), *parity_lines([(row.task, row.record, row.published)])):
                out.print(part)
    if row.ending:
        more = f": {printable(row.ending_message, 200)}" if row.ending_message else ""
        out.print(
            Text(f"agent: ended by {row.ending.replace('-', ' ')} after {row.steps} steps{more}"), soft_wrap=True
        )
    if any(attempt.code for attempt in row.attempts):
        out.print(attempt_table(row.attempts))
    out.print(Text(f"files: {place}"), soft_wrap=True)


def _rates(rows: Iterable[TrialRow]) -> Iterator[str]:
    """A line for each scaffold and model that had more than one trial."""
    for who, found in resolve_rates(rows).items():
        if found.trials > 1:
            yield f"{' '.join(who).strip()}: {rate_words(found)}"


def _totals(rows: Sequence[TrialRow], isolation: str) -> str:
    counts = Counter(row.verdict for row in rows)
    words = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    return f"{len(rows)} trials: {words}; {_costs(row.usage for row in rows)}; isolation {isolation}"


def _costs(usages: Iterable[UsageFile | None]) -> str:
    """Agents' and judge's money apart; what attempts cost that were set aside belongs to the agents'."""
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


def _worth_a_look(rows: Sequence[TrialRow]) -> str:
    odd = [row for row in rows if row.verdict is not Verdict.RESOLVED]
    return f" {(odd or list(rows))[0].trial}" if rows else ""


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
    }


def _without_record(row: TrialRow) -> dict[str, Any] | None:
    """In the place of a verdict for a trial that ended without one."""
    if row.verdict is None:
        return None
    return {"verdict": row.verdict, "reasons": [reason.model_dump(mode="json") for reason in row.reasons]}


def _names(row: TrialRow) -> dict[str, Any]:
    facts = {"trial": row.trial, "task": row.task, "scaffold": row.scaffold}
    return {**facts, "model": row.model or None, "attempt": row.attempt}


def _cells(row: TrialRow) -> tuple[str | Text, ...]:
    why = "; ".join(dict.fromkeys(reason.code for reason in row.reasons)) or row.problem
    cost = money(row.usage.total) if row.usage else "-"
    return row.trial, verdict_text(row.verdict) if row.verdict else "-", why + agent_ending(row.ending), cost


def _usage(usage: UsageFile | None) -> Any:
    return usage.model_dump(mode="json", exclude={"schema_version"}) if usage else None
