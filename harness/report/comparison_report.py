"""Prints a comparison: tables and sentences for people, JSON or CSV."""

import json
import sys
from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.analysis.comparison.compare import Comparison
from harness.analysis.comparison.pairs import Pair
from harness.analysis.scores import POLICY
from harness.report.comparison_facts import comparison_facts, comparison_rows
from harness.report.comparison_tables import (
    Letters,
    axis_table,
    difference_table,
    flip_table,
    letters_of,
    rate_table,
    versus,
)
from harness.report.csv_report import csv_of_facts
from harness.report.effort_report import effort_table, mechanism_warning, mechanism_words
from harness.report.figures import counted, p_words
from harness.report.patches_beside import patches_beside
from harness.report.plain import printable
from harness.report.tables import console
from harness.specs.errors import UserError


def report_comparison(found: Comparison, as_json: bool, with_patches: bool, csv: str | None = None) -> int:
    """`csv` names one of the lists of the JSON. Returns the command's exit status. Raises UserError."""
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
    """How often tasks were resolved, and what that can tell."""
    yield _scope(found)
    yield rate_table(found.sides, letters)
    yield difference_table(found.pairs, letters)
    for pair in found.pairs:
        yield from _conclusion(pair)
    yield from (f"note: {note}" for note in found.notes)
    for summary in found.sides:
        yield from mechanism_warning(summary)
    yield POLICY


def _background(found: Comparison, letters: Letters) -> Iterator[Table | str]:
    """Where the sides differ, what they cost, and what ended their trials."""
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
    first, second = pair.first.name, pair.second.name
    if pair.ahead:
        other = second if pair.ahead is pair.first else first
        yield (
            f"{pair.ahead.name} resolves more of these tasks than {other}: no interval of the difference includes 0, "
            f"and McNemar's p, adjusted, is {p_words(pair.adjusted_p)}."
        )
        return
    yield f"It can't be told whether {first} or {second} resolves more of such tasks: {'; '.join(pair.obstacles)}."
    if (smallest := pair.difference.largest_detectable) is not None:
        yield (
            f"Only a true difference of about {100 * smallest:.0f} points is found in 8 of 10 comparisons like this: "
            "that nothing was found doesn't show that the two are equal."
        )


def _print(out: Console, part: Table | str) -> None:
    if isinstance(part, str):
        out.print(Text(printable(part)), soft_wrap=True)
    else:
        out.print(part)
