"""Results as files of other programs' formats."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import assert_never

from harness.analysis.run_rows import RunRows
from harness.report.plain import printable
from harness.specs.errors import UserError


class ExportFormat(StrEnum):
    PARQUET = "parquet"
    INSPECT = "inspect"
    ATIF = "atif"


def export_runs(
    runs: Sequence[RunRows], directory: Path | None, form: str | None, as_json: bool, others: Iterable[object] = ()
) -> int:
    """Raises UserError for an unknown format, a folder that can't be written and runs whose folders are called alike.

    Files of a run are told by the name of its folder. `others` are the values of options that an export has no use
    for: none may be given.
    """
    if directory is None:
        raise UserError(f"--format {printable(form or '')} says what --export writes; add --export DIR")
    if any(others):
        raise UserError("--export excludes --weights and --csv; ask for these in another command")
    form = form or ExportFormat.PARQUET
    if form not in list(ExportFormat):
        raise UserError(f"--format {printable(form)}: no such format; known: {', '.join(ExportFormat)}")
    names = [run.directory.resolve().name for run in runs]
    if len(set(names)) < len(names):
        raise UserError(f"two runs are called {max(names, key=names.count)!r}; export each into a folder of its own")
    match ExportFormat(form):
        case ExportFormat.PARQUET:
            from harness.report.parquet_files import export_rows

            return export_rows(runs, directory, as_json)
        case ExportFormat.INSPECT:
            from harness.report.inspect_logs import export_inspect

            return export_inspect(runs, directory, as_json)
        case ExportFormat.ATIF:
            from harness.report.atif_files import export_atif

            return export_atif(runs, directory, as_json)
        case unknown:
            assert_never(unknown)
