"""`testwright report` and `testwright view`.

`testwright compare`.
"""

from pathlib import Path
from typing import Annotated

import typer


def report(
    context: typer.Context,
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run directories")],
    site: Annotated[
        Path | None, typer.Option("--site", metavar="DIR", help="Write static pages into this folder, nothing else")
    ] = None,
    weights: Annotated[
        Path | None, typer.Option(help="YAML with weights of axes and tiers, for a composite beside the plain rate")
    ] = None,
    export: Annotated[
        Path | None, typer.Option("--export", metavar="DIR", help="Write files into this folder: rows, or logs")
    ] = None,
    form: Annotated[
        str | None,
        typer.Option("--format", help="Of --export: parquet (all rows), inspect (eval logs) or atif (trajectories)"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
    csv: Annotated[str | None, typer.Option(help="Print CSV: systems, funnel, axes, criteria, probes...")] = None,
) -> int:
    """Tell how systems rank, where their trials fail and what agents did, over one or several runs."""
    from harness.results.failing.funnel import load_weights
    from harness.results.report.results_report import report_results
    from harness.results.report.run_report import damaged
    from harness.results.run_rows import load_rows

    declared = load_weights(weights) if weights else None
    if site:
        from harness.results.site.build import report_site

        status = report_site(runs, site, context.obj, declared, [export, form, as_json, csv])
    elif export or form:
        from harness.results.report.exporting import export_runs

        status = export_runs(list(map(load_rows, runs)), export, form, as_json, [weights, csv])
    else:
        status = report_results(list(map(load_rows, runs)), declared, as_json, csv)
    return max(status, damaged(runs))


def view(
    context: typer.Context,
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run directories")],
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 takes a free one", min=0, max=65535)] = 8000,
) -> int:
    """Serve the pages of `report --site` on this machine, anew while a run is going. Ctrl-C ends it."""
    from harness.results.site.serving import view as serve_pages

    return serve_pages(runs, port, context.obj)


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
    from harness.results.comparison.compare import compare as compare_sides
    from harness.results.report.comparison_report import report_comparison

    return report_comparison(compare_sides(runs, a, b), as_json, patches, csv)
