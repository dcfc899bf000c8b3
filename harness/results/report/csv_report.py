"""Rows as CSV and as flat JSON, for spreadsheets and data frames."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from operator import attrgetter
from typing import Any, assert_never

from harness.results.activity.vocabulary import Kind
from harness.results.report.facts import facts
from harness.results.report.tables import printable
from harness.results.rows import ArmTestRow, CriterionRow
from harness.results.run_rows import RunRows
from harness.results.signals import SIGNALS, column_name
from harness.specs.errors import UserError
from harness.specs.reasons import Note, Reason

Column = Callable[[Any], Any]
"""A function from a row to its cell."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""Beginnings of cells that a spreadsheet may take for a formula."""


class CsvRows(StrEnum):
    """Kinds of rows that can be written."""

    TRIALS = "trials"
    REASONS = "reasons"
    """A reason or a note of a verdict."""
    CRITERIA = "criteria"
    TESTS = "tests"
    """A test in an arm."""
    ACTIONS = "actions"
    """An atomic command of an agent, or a call of another tool."""
    BEHAVIOUR = "behaviour"
    """A trial's agent in numbers."""
    OUT_OF_BOUNDS = "out-of-bounds"
    WATCHDOG = "watchdog"


def chosen_rows(option: str, name: str | None) -> CsvRows | None:
    """Return the rows that an option names; None where it isn't given.

    Raises:
        UserError: There are no such rows.
    """
    if name is None:
        return None
    if name not in list(CsvRows):
        raise UserError(f"{option} {printable(name)}: no such rows; known: {', '.join(CsvRows)}")
    return CsvRows(name)


def flat_facts(rows: RunRows, chosen: CsvRows) -> list[dict[str, Any]]:
    """Return the same rows for JSON: by column a text, a number, a truth value or None, and nothing nested."""
    columns = columns_of(chosen)
    return [{name: facts(column(row)) for name, column in columns.items()} for row in rows_of(rows, chosen)]


def csv_text(rows: RunRows, chosen: CsvRows) -> str:
    """Return a head line and a line for each row. Every text cell is text for a spreadsheet too, never a formula."""
    return _written(columns_of(chosen), rows_of(rows, chosen))


def rows_of(rows: RunRows, chosen: CsvRows) -> Iterable[Any]:
    """Return what the columns of `chosen` are read from."""
    match chosen:
        case CsvRows.TRIALS:
            return rows.trials
        case CsvRows.REASONS:
            return [(row, item) for row in rows.trials for item in (*row.reasons, *row.notes)]
        case CsvRows.CRITERIA:
            return rows.criteria
        case CsvRows.TESTS:
            return rows.arm_tests
        case CsvRows.BEHAVIOUR:
            return rows.behaviours
        case CsvRows.ACTIONS:
            return [(found.row, item) for found in rows.behaviours for item in found.actions]
        case CsvRows.OUT_OF_BOUNDS:
            return [(found.row, item) for found in rows.behaviours for item in found.sightings]
        case CsvRows.WATCHDOG:
            return [(found.row, item) for found in rows.behaviours for item in found.marks]
        case _:
            assert_never(chosen)


def columns_of(chosen: CsvRows) -> Mapping[str, Column]:
    """Return the columns of a kind of rows, in their order."""
    match chosen:
        case CsvRows.TRIALS:
            return {**_TRIAL_COLUMNS, **{column_name(name): _of_signal(name) for name in SIGNALS.names}}
        case CsvRows.REASONS:
            return _REASON_COLUMNS
        case CsvRows.CRITERIA:
            return _named(CriterionRow.model_fields)
        case CsvRows.TESTS:
            return _named(ArmTestRow._fields)
        case CsvRows.BEHAVIOUR:
            return _BEHAVIOUR_COLUMNS
        case CsvRows.ACTIONS:
            return _ACTION_COLUMNS
        case CsvRows.OUT_OF_BOUNDS:
            return {**_TRIAL_NAMES, **_items("step", "kind", "command")}
        case CsvRows.WATCHDOG:
            return {**_TRIAL_NAMES, **_items("step", "mark", "length", "words")}
        case _:
            assert_never(chosen)


def _written(columns: Mapping[str, Column], rows: Iterable[Any]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(column(row)) for column in columns.values()] for row in rows)
    return text.getvalue()


def csv_of_facts(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return facts as CSV: nested ones are columns with dotted names, lists of texts and numbers have semicolons.

    Lists of facts are rows of their own, which other files have.
    """
    flat = [dict(_flat(row)) for row in rows]
    names = dict.fromkeys(name for row in flat for name in row)
    return _written({name: _from_key(name) for name in names}, flat)


def _flat(facts: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in facts.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        elif isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
            continue
        elif isinstance(value, list):
            yield prefix + name, "; ".join(map(str, value))
        else:
            yield prefix + name, value


def _from_key(name: str) -> Column:
    return lambda row: row.get(name)


def _named(fields: Iterable[str]) -> Mapping[str, Column]:
    return {name: attrgetter(name) for name in fields}


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    text = printable(str(value))
    return f"'{text}" if text.startswith(_FORMULA) else text


def _codes(items: Iterable[Reason | Note]) -> str:
    return "; ".join(dict.fromkeys(item.code for item in items))


def _of_signal(name: str) -> Column:
    return lambda row: row.signals.get(name)


def _of_usage(column: Column) -> Column:
    return lambda row: column(row.usage) if row.usage else None


def _of_names(prefix: str) -> Mapping[str, Column]:
    """Return the columns that every row of a trial begins with."""
    fields = {"trial": "trial", "task": "task", "scaffold": "scaffold", "model": "model_name", "attempt": "attempt"}
    return {name: attrgetter(f"{prefix}{field}") for name, field in fields.items()}


_TRIAL_COLUMNS: Mapping[str, Column] = {
    **_of_names(""),
    "isolation": attrgetter("isolation"),
    **{name: attrgetter(name) for name in ("state", "verdict")},
    "reasons": lambda row: _codes(row.reasons),
    "notes": lambda row: _codes(row.notes),
    "manifest": lambda row: row.stages.get("manifest"),
    "mutation": lambda row: row.stages.get("mutation"),
    "rubric": lambda row: row.stages.get("rubric"),
    "published_verdict": lambda row: row.published.verdict if row.published else None,
    **{name: attrgetter(name) for name in ("ending", "steps", "agent_seconds")},
    "verify_seconds": _of_usage(attrgetter("verify_seconds")),
    "input_tokens": _of_usage(attrgetter("total.input")),
    "output_tokens": _of_usage(attrgetter("total.output")),
    "agent_cost_usd": _of_usage(lambda usage: (usage.agent + usage.lost).cost_usd),
    "judge_cost_usd": _of_usage(attrgetter("judge.cost_usd")),
    "problem": attrgetter("problem"),
    **{name: attrgetter(name) for name in ("repository", "ending_message")},
    **{name: attrgetter(name) for name in ("waiting_seconds", "failed_requests", "format_errors")},
    "starts": lambda row: len(row.attempts),
    "arm_seconds": _of_usage(attrgetter("arm_seconds")),
    "cached_tokens": _of_usage(attrgetter("total.cache_read")),
}


def _count_of(kind: Kind) -> Column:
    return lambda found: found.profile.kinds.get(kind, 0)


def _items(*names: str) -> Mapping[str, Column]:
    """Return the fields of the second of a pair: a trial's row and something that its agent did."""
    return {name: _of_item(attrgetter(name)) for name in names}


def _of_item(column: Column) -> Column:
    return lambda pair: column(pair[1])


def _of_trial(column: Column) -> Column:
    return lambda pair: column(pair[0])


_TRIAL_NAMES: Mapping[str, Column] = {name: _of_trial(column) for name, column in _of_names("").items()}
_REASON_COLUMNS: Mapping[str, Column] = {
    **_TRIAL_NAMES,
    "kind": lambda pair: "reason" if isinstance(pair[1], Reason) else "note",
    "code": _of_item(attrgetter("code")),
    "stage": lambda pair: getattr(pair[1], "stage", None),
    **_items("subject", "words"),
}
_ACTION_COLUMNS: Mapping[str, Column] = {
    **_TRIAL_NAMES,
    "call": _of_item(attrgetter("call.position")),
    "step": _of_item(attrgetter("call.step")),
    "tool": _of_item(attrgetter("call.tool")),
    "kind": _of_item(attrgetter("kind")),
    "group": _of_item(attrgetter("kind.group")),
    "program": _of_item(attrgetter("command.program")),
    "command": _of_item(attrgetter("command.text")),
    "exit_status": _of_item(attrgetter("call.exit_status")),
    "seconds": _of_item(attrgetter("call.seconds")),
}
_BEHAVIOUR_COLUMNS: Mapping[str, Column] = {
    **_of_names("row."),
    "verdict": attrgetter("row.verdict"),
    **{
        name: attrgetter(f"profile.{name}")
        for name in (
            "calls",
            "actions",
            "has_edited",
            "before_edit",
            "explored",
            "tests_run",
            "tests_after_edit",
            "failed",
        )
    },
    **{kind.value.replace("-", "_"): _count_of(kind) for kind in Kind},
    "out_of_bounds": lambda found: len(found.sightings),
    "watchdog": lambda found: len(found.marks),
}
