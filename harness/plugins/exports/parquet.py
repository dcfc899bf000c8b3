"""Rows of runs as parquet files, a file for each kind of row."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.results.report.csv_report import CsvRows, columns_of, rows_of
from harness.results.report.tables import console
from harness.results.run_rows import RunRows
from harness.specs.errors import Extra, UserError, check_extra


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


def _write(runs: Sequence[RunRows], kind: CsvRows, path: Path) -> int:
    import pyarrow as arrow
    from pyarrow import parquet

    rows = list(_rows(runs, kind))
    names = ("run", *columns_of(kind))
    columns = {name: _column([row.get(name) for row in rows]) for name in names}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(arrow.table(columns), path)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None
    return len(rows)


def _rows(runs: Sequence[RunRows], kind: CsvRows) -> Iterator[Mapping[str, Any]]:
    for run in runs:
        for row in rows_of(run, kind):
            yield {"run": str(run.directory), **{name: column(row) for name, column in columns_of(kind).items()}}


def _column(values: list[Any]) -> Any:
    """Return a column: truth values and numbers as such, all else as text; texts where nothing is known."""
    import pyarrow as arrow

    known = [value for value in values if value is not None]
    if known and all(isinstance(value, bool) for value in known):
        return arrow.array(values, arrow.bool_())
    if known and all(isinstance(value, int) and not isinstance(value, bool) for value in known):
        return arrow.array(values, arrow.int64())
    if known and all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
        return arrow.array([None if value is None else float(value) for value in values], arrow.float64())
    return arrow.array([None if value is None else str(value) for value in values], arrow.string())
