"""Prints the results of runs: the leaderboard, where trials fail, what agents did; as tables or JSON."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from harness.results.failing.funnel import WeightsFile
from harness.results.report.activity_tables import behaviour_sections
from harness.results.report.csv_report import csv_of_facts
from harness.results.report.facts import joined_facts, results_facts
from harness.results.report.failing_tables import failing_sections
from harness.results.report.figures import NOTHING, percent, share_words, span
from harness.results.report.run_summary import effort_table, system_names
from harness.results.report.tables import console, printable, table
from harness.results.run_rows import RunRows, by_track
from harness.results.scores import POLICY, Who
from harness.results.signals import system_figures
from harness.results.summary import Results, SystemResults, results
from harness.specs.errors import UserError


def report_results(
    runs: Sequence[RunRows], weights: WeightsFile | None, as_json: bool, csv: str | None = None
) -> int:
    """Print the results of runs. Return 0: a report has no verdict of its own.

    `csv` names one of the lists of the JSON.

    Raises:
        UserError: There is no such list.
    """
    if as_json and csv:
        raise UserError("--json and --csv exclude each other")
    directories = [run.directory for run in runs]
    found = {track: results(chosen, weights) for track, chosen in by_track(runs).items()} or {"": results(runs)}
    if as_json or csv:
        told = joined_facts({track: results_facts(each, directories) for track, each in found.items()})
        sys.stdout.write(_csv(told, csv) if csv else json.dumps(told, indent=2) + "\n")
        return 0
    out = console()
    for part in _all_parts(found, directories):
        out.print(part, soft_wrap=isinstance(part, Text))
    return 0


def _csv(told: Mapping[str, Any], name: str) -> str:
    lists = {key: value for key, value in told.items() if isinstance(value, list) and key != "runs"}
    lists["sizes"] = told["sizes"]["classes"]
    if name not in lists:
        raise UserError(f"--csv {printable(name)}: no such rows; known: {', '.join(lists)}")
    return csv_of_facts(lists[name])


def _all_parts(found: Mapping[str, Results], directories: Sequence[Path]) -> Iterator[Table | Text]:
    """Yield the tables of each track by themselves: no rate is over tasks of two."""
    runs = ", ".join(map(str, directories))
    for track, each in found.items():
        trials = sum(len(item.standing.rows) for item in each.systems)
        yield Text(f"{runs}, track {track}: {trials} trials" if len(found) > 1 else f"{runs}: {trials} trials")
        yield from _parts(each)


def _parts(found: Results) -> Iterator[Table | Text]:
    names = system_names(item.standing.who for item in found.systems)
    yield leaderboard_table(found.systems, names)
    yield Text(POLICY)
    yield Text(
        "Rank: 1 + the systems whose interval by task lies wholly above; equal ranks are ties. Controls have none."
    )
    yield effort_table([item.standing for item in found.systems], names)
    yield from _costs(found.systems, names)
    yield from _composites(found.systems, names)
    yield from _signals(found.systems, names)
    yield from failing_sections(found, names)
    yield from behaviour_sections(found, names)


def leaderboard_table(systems: Sequence[SystemResults], names: dict[Who, str]) -> Table:
    """Return rates with their intervals, and beside them the figures without which they mislead."""
    k = min((max(item.standing.rate.pass_at) for item in systems), default=1)
    repeated = (f"pass@{k}", f"pass^{k}") if k > 1 else ()
    numbers = ("rank", "resolve rate", "95% by task", "by repository (t)", "without faults", *repeated)
    counts = ("trials", "unscored", "invalid", "no verdict")
    rows = []
    for item in systems:
        rate, tied = item.standing.rate, "=" if item.standing.is_tied else ""
        without = rate.without_faults.value if rate.without_faults else None
        rows.append(
            (
                names[item.standing.who],
                f"{item.standing.rank or NOTHING}{tied}",
                percent(rate.rate.value),
                span(rate.rate.by_task),
                span(rate.rate.by_repository_t),
                percent(without),
                *((percent(rate.pass_at[k]), percent(rate.pass_all[k])) if repeated else ()),
                str(rate.trials),
                *map(share_words, (rate.unscored, rate.invalid, rate.missing)),
            )
        )
    return table(("system", *numbers, *counts), rows, right=(*numbers, *counts))


def _costs(systems: Sequence[SystemResults], names: dict[Who, str]) -> Iterator[Text]:
    front = [names[item.standing.who] for item in systems if item.standing.on_front]
    unknown = [
        names[item.standing.who] for item in systems if item.standing.who.model and item.standing.on_front is None
    ]
    words = f"Pareto front of resolve rate and cost per trial: {', '.join(front) or 'none'}"
    yield Text(words + (f" (cost unknown: {', '.join(unknown)})" if unknown else ""))


def _signals(systems: Sequence[SystemResults], names: dict[Who, str]) -> Iterator[Table | Text]:
    rows = {names[item.standing.who]: item.standing.rows for item in systems}
    rates = {names[item.standing.who]: percent(item.standing.rate.rate.value) for item in systems}
    for figures in system_figures(rows):
        cells = [(name, printable(words), rates[name]) for name, words in figures.systems.items()]
        yield table(("system", figures.title, "resolve rate"), cells, right=("resolve rate",))
        yield Text(figures.caution)


def _composites(systems: Sequence[SystemResults], names: dict[Who, str]) -> Iterator[Table]:
    rows = []
    for item in systems:
        found, rate = item.composite, item.standing.rate.rate
        if found is not None:
            tiers = f"{found.lowest} to {found.highest}" if found.lowest != found.highest else f"{found.tier} only"
            rows.append(
                (
                    names[item.standing.who],
                    found.tier,
                    tiers,
                    percent(found.value.value),
                    span(found.value.by_task),
                    percent(rate.value),
                    span(rate.by_task),
                )
            )
    numbers = ("composite", "95% by task", "resolve rate", "95% by task ")
    if rows:
        yield table(("system", "tier", "tiers of the interval", *numbers), rows, right=numbers)
