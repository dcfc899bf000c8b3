"""Rows of runs as parquet files, a file for each kind of row, with columns whose types no run can change."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.results.activity.vocabulary import Kind
from harness.results.report.csv_report import CsvRows, columns_of, rows_of
from harness.results.report.tables import console
from harness.results.run_rows import RunRows
from harness.results.signals import SIGNALS, column_name
from harness.specs.errors import Extra, UserError, check_extra

if TYPE_CHECKING:
    import pyarrow

WORDS = "_words"
"""Ends the name of the column that has a signal's value where that is no number."""
_TRUTHS = frozenset({"agrees", "has_edited", "judge", "killed", "met"})
_NUMBERS = frozenset(
    {
        *("agent_cost_usd", "agent_seconds", "arm_seconds", "judge_cost_usd"),
        *("seconds", "verify_seconds", "waiting_seconds"),
    }
)
_WHOLE_NUMBERS = frozenset(
    {
        *("actions", "attempt", "axis", "before_edit", "cached_tokens", "call", "calls", "cases", "exit_status"),
        *("explored", "failed", "failed_requests", "format_errors", "input_tokens", "length", "out_of_bounds"),
        *(
            "output_tokens",
            "part",
            "repetition",
            "starts",
            "step",
            "steps",
            "tests_after_edit",
            "tests_run",
            "watchdog",
        ),
        *(kind.value.replace("-", "_") for kind in Kind),
    }
)


def export_rows(runs: Sequence[RunRows], directory: Path, as_json: bool) -> int:
    """Write `trials.parquet`, `criteria.parquet` and so on: the columns of the CSV, and the run before them.

    Raises:
        UserError: The extra `export` isn't installed, or the folder can't be written.
    """
    check_extra(Extra.EXPORT, "--export to parquet")
    written = {kind.value: _write(runs, kind, directory / f"{kind}.parquet") for kind in CsvRows}
    if as_json:
        print(json.dumps({"directory": str(directory), "rows": written}, indent=2))
    else:
        counts = ", ".join(f"{name} {number}" for name, number in written.items())
        console().print(f"{directory}: {counts} rows", markup=False, soft_wrap=True)
    return 0


def schema_of(kind: CsvRows) -> "pyarrow.Schema":
    """Return the columns of one kind of row with their types.

    A signal has two: its number, and its words where it is none.
    """
    import pyarrow as arrow

    types = {
        **dict.fromkeys(_TRUTHS, arrow.bool_()),
        **dict.fromkeys(_NUMBERS, arrow.float64()),
        **dict.fromkeys(_WHOLE_NUMBERS, arrow.int64()),
    }
    signals = _signals(kind)
    fields = [arrow.field("run", arrow.string())]
    fields += [arrow.field(name, types.get(name, arrow.string())) for name in columns_of(kind) if name not in signals]
    for name in signals:
        fields += [arrow.field(name, arrow.float64()), arrow.field(name + WORDS, arrow.string())]
    return arrow.schema(fields)


def _write(runs: Sequence[RunRows], kind: CsvRows, path: Path) -> int:
    import pyarrow as arrow
    from pyarrow import parquet

    schema = schema_of(kind)
    rows = list(_rows(runs, kind))
    table = arrow.table(
        {
            field.name: arrow.array([_cell(row[field.name], field.type) for row in rows], field.type)
            for field in schema
        },
        schema,
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(table, path)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None
    return len(rows)


def _rows(runs: Sequence[RunRows], kind: CsvRows) -> Iterator[Mapping[str, Any]]:
    signals = _signals(kind)
    for run in runs:
        for row in rows_of(run, kind):
            cells = {name: column(row) for name, column in columns_of(kind).items()}
            words = {name + WORDS: cells[name] for name in signals}
            for name in signals:
                if isinstance(cells[name], str):
                    cells[name] = None
                else:
                    words[name + WORDS] = None
            yield {"run": str(run.directory), **cells, **words}


def _signals(kind: CsvRows) -> list[str]:
    return [column_name(name) for name in SIGNALS.names] if kind is CsvRows.TRIALS else []


def _cell(value: Any, wanted: "pyarrow.DataType") -> Any:
    import pyarrow as arrow

    if value is None:
        return None
    if wanted == arrow.string():
        return str(value)
    return float(value) if wanted == arrow.float64() else value
