"""Rows as CSV, for spreadsheets and data frames."""

import csv
import io
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from operator import attrgetter
from typing import Any, assert_never

from pydantic import BaseModel

from harness.analysis.rows import ArmTestRow, CriterionRow
from harness.analysis.run_rows import RunRows
from harness.report.plain import printable
from harness.specs.errors import UserError
from harness.specs.reasons import Note, Reason

Column = Callable[[Any], Any]
"""From a row to its cell."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet may take a cell for that begins with one of these."""


class CsvRows(StrEnum):
    """Which rows are written."""

    TRIALS = "trials"
    CRITERIA = "criteria"
    TESTS = "tests"
    """A test in an arm."""


def csv_rows(name: str | None) -> CsvRows | None:
    """The rows that an option names; None where it isn't given. Raises UserError."""
    if name is None:
        return None
    if name not in list(CsvRows):
        raise UserError(f"--csv {printable(name)}: no such rows; known: {', '.join(CsvRows)}")
    return CsvRows(name)


def csv_text(rows: RunRows, chosen: CsvRows) -> str:
    """A head line and a line for each row. Every text cell is text for a spreadsheet too, never a formula."""
    match chosen:
        case CsvRows.TRIALS:
            return _written(_TRIAL_COLUMNS, rows.trials)
        case CsvRows.CRITERIA:
            return _written(_fields_of(CriterionRow), rows.criteria)
        case CsvRows.TESTS:
            return _written(_fields_of(ArmTestRow), rows.arm_tests)
        case _:
            assert_never(chosen)


def _written(columns: Mapping[str, Column], rows: Iterable[Any]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(column(row)) for column in columns.values()] for row in rows)
    return text.getvalue()


def _fields_of(model: type[BaseModel]) -> Mapping[str, Column]:
    return {name: attrgetter(name) for name in model.model_fields}


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


def _of_usage(column: Column) -> Column:
    return lambda row: column(row.usage) if row.usage else None


_TRIAL_COLUMNS: Mapping[str, Column] = {
    **{name: attrgetter(name) for name in ("trial", "task", "scaffold", "model", "attempt", "isolation")},
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
    "cost_usd": _of_usage(attrgetter("total.cost_usd")),
    "judge_cost_usd": _of_usage(attrgetter("judge.cost_usd")),
    "problem": attrgetter("problem"),
}
