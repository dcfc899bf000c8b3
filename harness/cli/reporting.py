"""`testwright report`."""

from pathlib import Path
from typing import Annotated

import typer


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run directories")],
    weights: Annotated[
        Path | None, typer.Option(help="YAML with weights of axes and tiers, for a composite beside the plain rate")
    ] = None,
    export: Annotated[
        Path | None, typer.Option("--export", metavar="DIR", help="Write all rows into this folder as parquet files")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> int:
    """Tell how systems rank, where their trials fail and what agents did, over one or several runs."""
    from harness.analysis.failing.tiers import load_weights
    from harness.analysis.run_rows import load_rows
    from harness.report.results_report import report_results

    found = [load_rows(run) for run in runs]
    if export:
        from harness.report.parquet_files import export_rows

        return export_rows(found, export, as_json)
    return report_results(found, load_weights(weights) if weights else None, as_json)
