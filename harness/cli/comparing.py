"""`testwright compare`."""

from pathlib import Path
from typing import Annotated

import typer

_SIDE = "SCAFFOLD[/MODEL], or RUN:SCAFFOLD[/MODEL] to take its trials of one run only"


def compare(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run directories")],
    a: Annotated[str, typer.Option("--a", metavar="SIDE", help=_SIDE)],
    b: Annotated[list[str], typer.Option("--b", metavar="SIDE", help="The other side; it may be given again")],
    patches: Annotated[
        bool, typer.Option("--patches", help="Print both patches of each task that flips, side by side")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
    csv: Annotated[str | None, typer.Option(help="Print CSV: sides, pairs, axes or flips")] = None,
) -> int:
    """Compare scaffolds or models on the same tasks, and say only what the trials can tell."""
    from harness.analysis.comparison.compare import compare as compare_sides
    from harness.report.comparison_report import report_comparison

    return report_comparison(compare_sides(runs, a, b), as_json, patches, csv)
