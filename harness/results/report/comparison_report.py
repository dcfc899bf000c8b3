"""Prints a comparison: tables and sentences for people, JSON or CSV.

A comparison as JSON. Rates and differences are fractions, seconds wall or working time as they are called.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.results.comparison.compare import Comparison, SideSummary
from harness.results.comparison.pairs import AxisDifference, Flip, Pair
from harness.results.comparison.sides import PlacedTrial
from harness.results.report.comparison_tables import (
    Letters,
    axis_table,
    difference_table,
    effort_table,
    flip_table,
    letters_of,
    mechanism_warning,
    mechanism_words,
    patch_file,
    patches_beside,
    rate_table,
    versus,
)
from harness.results.report.csv_report import csv_of_facts
from harness.results.report.figures import counted, p_words
from harness.results.report.tables import console, printable
from harness.results.scores import POLICY
from harness.results.signals import pair_figures
from harness.results.statistics.clusters import RESAMPLES, SEED
from harness.results.statistics.estimates import Difference, Estimate
from harness.results.statistics.proportions import Bounds, Rate
from harness.specs.errors import UserError
from harness.specs.model_file import called


def comparison_facts(found: Comparison) -> dict[str, Any]:
    """Return a comparison as plain data for JSON."""
    return {
        "runs": [str(run) for run in found.runs],
        "tasks": list(found.tasks),
        "left_out": {task: list(names) for task, names in found.left_out.items()},
        "policy": POLICY,
        "bootstrap": {"resamples": RESAMPLES, "seed": SEED},
        "sides": [_side(summary) for summary in found.sides],
        "pairs": [_pair(pair) for pair in found.pairs],
        "notes": list(found.notes),
    }


def comparison_rows(found: Comparison) -> dict[str, list[dict[str, Any]]]:
    """Return the lists of the JSON for CSV; axes and flips name their two sides `first` and `second`."""
    told = comparison_facts(found)
    rows: dict[str, list[dict[str, Any]]] = {"sides": told["sides"], "pairs": [], "axes": [], "flips": []}
    for pair in told["pairs"]:
        who = {"first": pair["a"], "second": pair["b"]}
        rows["pairs"].append({name: value for name, value in pair.items() if name not in ("axes", "flips")})
        for name in ("axes", "flips"):
            rows[name] += [{**who, **row} for row in pair[name]]
    return {name: [_with_bounds(row) for row in items] for name, items in rows.items()}


def _with_bounds(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with its intervals as `low` and `high`, which are columns of their own."""
    return {name: _low_and_high(value) if name.startswith("by_") else _inside(value) for name, value in row.items()}


def _inside(value: Any) -> Any:
    return _with_bounds(value) if isinstance(value, Mapping) else value


def _low_and_high(value: list[float] | None) -> dict[str, float | None]:
    low, high = value or (None, None)
    return {"low": low, "high": high}


def _side(summary: SideSummary) -> dict[str, Any]:
    side, rate = summary.side, summary.rate
    return {
        "name": side.called,
        "scaffold": side.scaffold,
        "model": called(side.model) or None,
        "runs": [str(run.directory) for run in side.runs],
        "trials": rate.trials,
        "resolved": rate.resolved,
        "resolve_rate": _estimate(rate.rate),
        "without_faults": _estimate(rate.without_faults),
        "pass_at": {str(k): value for k, value in rate.pass_at.items()},
        "pass_all": {str(k): value for k, value in rate.pass_all.items()},
        "unscored": _rate(rate.unscored),
        "invalid": _rate(rate.invalid),
        "without_verdict": _rate(rate.missing),
        "effort": _effort(summary),
        "mechanism": {**asdict(summary.mechanism), "is_suspicious": summary.mechanism.is_suspicious},
    }


def _effort(summary: SideSummary) -> dict[str, Any]:
    found = summary.effort
    usages = {name: getattr(found, name).model_dump(mode="json") for name in ("agent", "lost", "judge")}
    names = ("trials", "steps", "wall_seconds", "working_seconds", "waiting_seconds", "retries")
    costs = {"cost_per_trial": found.cost_per_trial, "cost_per_resolved": found.cost_per_resolved}
    return {**usages, **{name: getattr(found, name) for name in names}, **costs}


def _pair(pair: Pair) -> dict[str, Any]:
    return {
        "a": pair.first.called,
        "b": pair.second.called,
        "ahead": pair.ahead.called if pair.ahead else None,
        "cannot_tell_because": list(pair.obstacles),
        "difference": _estimate(pair.difference),
        "without_faults": _estimate(pair.without_faults),
        "mcnemar": {
            "a": pair.mcnemar.first,
            "b": pair.mcnemar.second,
            "equal": pair.mcnemar.equal,
            "p": pair.mcnemar.p,
        },
        "holm_p": pair.adjusted_p,
        "signals": _signals(pair),
        "axes": [_axis(item) for item in pair.axes],
        "flips": [_flip(flip) for flip in pair.flips],
    }


def _signals(pair: Pair) -> list[str]:
    sides = ([trial.row for trial in side.trials] for side in (pair.first, pair.second))
    return pair_figures(*sides)


def _axis(item: AxisDifference) -> dict[str, Any]:
    return {
        "axis": item.axis,
        "name": item.name,
        "a": item.first,
        "b": item.second,
        "difference": _estimate(item.difference),
        "trials": {"a": item.trials[0], "b": item.trials[1]},
        "undecided": {"a": item.undecided[0], "b": item.undecided[1]},
    }


def _flip(flip: Flip) -> dict[str, Any]:
    return {
        "task": flip.task,
        "for": "a" if flip.for_first else "b",
        "a": _flipped(flip.first, flip.first_trial),
        "b": _flipped(flip.second, flip.second_trial),
    }


def _flipped(counts: tuple[int, int], trial: PlacedTrial | None) -> dict[str, Any]:
    patch = patch_file(trial)
    return {
        "resolved": counts[0],
        "attempts": counts[1],
        "trial": str(trial.directory) if trial else None,
        "verdict": trial.row.verdict if trial else None,
        "reasons": [reason.code for reason in trial.row.reasons] if trial else [],
        "patch": str(patch) if patch else None,
    }


def _estimate(found: Estimate | None) -> dict[str, Any] | None:
    if found is None:
        return None
    facts: Mapping[str, Any] = {
        "value": found.value,
        "tasks": found.tasks,
        "repositories": found.repositories,
        "by_task": _bounds(found.by_task),
        "by_repository": _bounds(found.by_repository),
        "by_repository_t": _bounds(found.by_repository_t),
    }
    if not isinstance(found, Difference):
        return dict(facts)
    detectable = {"detectable": found.detectable, "detectable_by_repository": found.detectable_by_repository}
    return {**facts, **detectable}


def _bounds(found: Bounds | None) -> list[float] | None:
    return list(found) if found else None


def _rate(found: Rate) -> dict[str, Any]:
    return {"part": found.part, "whole": found.whole, "low": found.low, "high": found.high}


def report_comparison(found: Comparison, as_json: bool, with_patches: bool, csv: str | None = None) -> int:
    """Print a comparison, and return the command's exit status.

    Args:
        found: The comparison.
        as_json: As JSON.
        with_patches: With the patches of flips.
        csv: One of the lists of the JSON, as CSV instead.

    Raises:
        UserError: There is no such list.
    """
    if as_json and with_patches:
        raise UserError("--json and --patches exclude each other; JSON has the paths of the patches")
    if csv is not None:
        if as_json or with_patches:
            raise UserError("--csv excludes --json and --patches")
        rows = comparison_rows(found)
        if csv not in rows:
            raise UserError(f"--csv {printable(csv)}: no such rows; known: {', '.join(rows)}")
        sys.stdout.write(csv_of_facts(rows[csv]))
        return 0
    if as_json:
        print(json.dumps(comparison_facts(found), indent=2))
        return 0
    out, letters = console(), letters_of(found.sides)
    for part in (*_conclusions(found, letters), *_background(found, letters)):
        _print(out, part)
    for part in _patches(found, letters, out.width) if with_patches else ():
        _print(out, part)
    return 0


def _conclusions(found: Comparison, letters: Letters) -> Iterator[Table | str]:
    """Yield how often tasks were resolved, and what that can tell."""
    yield _scope(found)
    yield rate_table(found.sides, letters)
    yield difference_table(found.pairs, letters)
    for pair in found.pairs:
        yield from _conclusion(pair)
        yield from _signals(pair)
    yield from (f"note: {note}" for note in found.notes)
    for summary in found.sides:
        yield from mechanism_warning(summary)
    yield POLICY


def _background(found: Comparison, letters: Letters) -> Iterator[Table | str]:
    """Yield where the sides differ, what they cost, and what ended their trials."""
    yield from (axis_table(pair, letters) for pair in found.pairs if pair.axes)
    yield effort_table(found.sides, [letters[summary.side.name] for summary in found.sides])
    for summary in found.sides:
        yield f"{letters[summary.side.name]}: {mechanism_words(summary.mechanism)}"
    for pair in found.pairs:
        nothing = f"{versus(pair, letters)}: no task is resolved more often by either"
        yield flip_table(pair, letters) if pair.flips else nothing
    yield from (f"left out: {task}, which {', '.join(names)} lacks" for task, names in found.left_out.items())


def _patches(found: Comparison, letters: Letters, width: int) -> Iterator[Table | str]:
    for pair in found.pairs:
        for flip in pair.flips:
            yield from patches_beside(flip, letters[pair.first.name], letters[pair.second.name], width)


def _scope(found: Comparison) -> str:
    repositories = max(summary.rate.rate.repositories for summary in found.sides)
    known = f" of {counted(repositories, 'repository', 'repositories')}" if repositories else ""
    out = f"; {counted(len(found.left_out), 'task')} left out, which not all sides have" if found.left_out else ""
    return f"{counted(len(found.tasks), 'task')}{known}{out}"


def _conclusion(pair: Pair) -> Iterator[str]:
    first, second = pair.first.called, pair.second.called
    if pair.ahead:
        other = second if pair.ahead is pair.first else first
        yield (
            f"{pair.ahead.called} resolves more of these tasks than {other}: no interval of the difference includes "
            f"0, and McNemar's p, adjusted, is {p_words(pair.adjusted_p)}."
        )
        return
    yield f"It can't be told whether {first} or {second} resolves more of such tasks: {'; '.join(pair.obstacles)}."
    if pair.difference.has_too_few_tasks:
        yield (
            f"{counted(pair.difference.tasks, 'task is', 'tasks are')} too few: where tasks differ as much as these, "
            "not even a side that resolves all is told from one that resolves none. That nothing was found doesn't "
            "show that the two are equal."
        )
    elif (smallest := pair.difference.largest_detectable) is not None:
        yield (
            f"Only a true difference of about {100 * smallest:.0f} points is found in 8 of 10 comparisons like this: "
            "that nothing was found doesn't show that the two are equal."
        )


def _print(out: Console, part: Table | str) -> None:
    if isinstance(part, str):
        out.print(Text(printable(part)), soft_wrap=True)
    else:
        out.print(part)
