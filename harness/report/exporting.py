"""Results as files of other programs' formats."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import assert_never

from harness.analysis.run_rows import RunRows
from harness.report.plain import printable
from harness.specs.errors import UserError


class ExportFormat(StrEnum):
    PARQUET = "parquet"
    INSPECT = "inspect"


def export_runs(runs: Sequence[RunRows], directory: Path, form: str, as_json: bool) -> int:
    """Raises UserError for a format that isn't known and for a folder that can't be written."""
    if form not in list(ExportFormat):
        raise UserError(f"--format {printable(form)}: no such format; known: {', '.join(ExportFormat)}")
    match ExportFormat(form):
        case ExportFormat.PARQUET:
            from harness.report.parquet_files import export_rows

            return export_rows(runs, directory, as_json)
        case ExportFormat.INSPECT:
            from harness.report.inspect_logs import export_inspect

            return export_inspect(runs, directory, as_json)
        case unknown:
            assert_never(unknown)
