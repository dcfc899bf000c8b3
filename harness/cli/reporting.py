"""`testwright report` and `testwright view`.

`testwright compare`.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from harness.results.run_rows import RunRows


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
        typer.Option(
            "--format", help="Form of --export: parquet (all rows), inspect (eval logs) or atif (trajectories)"
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
    csv: Annotated[str | None, typer.Option(help="Print CSV: systems, funnel, axes, criteria, probes...")] = None,
    track: Annotated[str, typer.Option(help="Only tasks of this track [default: each track by itself]")] = "",
) -> int:
    """Tell how systems rank, where their trials fail and what agents did, over one or several runs."""
    from harness.results.comparison.compare import mixed_conditions
    from harness.results.failing.funnel import load_weights
    from harness.results.report.progress import warn
    from harness.results.report.results_report import report_results
    from harness.results.report.run_report import damaged
    from harness.results.run_rows import load_all, of_track

    declared = load_weights(weights) if weights else None

    def chosen() -> "list[RunRows]":
        loaded = load_all(runs)
        if len(runs) > 1 and (words := mixed_conditions(loaded)):
            warn(f"rates are over trials that were judged under different conditions: {words}")
        return of_track(loaded, track) if track else loaded

    if site:
        from harness.results.site.build import report_site

        status = report_site(runs, site, context.obj, declared, [export, form, as_json, csv], track)
    elif export or form:
        from harness.results.report.exporting import export_runs

        status = export_runs(chosen(), export, form, as_json, [weights, csv])
    else:
        status = report_results(chosen(), declared, as_json, csv)
    return max(status, damaged(runs))


def view(
    context: typer.Context,
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run directories")],
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 takes a free one", min=0, max=65535)] = 8000,
) -> int:
    """Serve the pages of `report --site` on this machine, live while a run is going. Ctrl-C ends it."""
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
    track: Annotated[str, typer.Option(help="Only tasks of this track; needed where the runs have several")] = "",
) -> int:
    """Compare scaffolds or models on the same tasks, and say only what the trials can tell."""
    from harness.results.comparison.compare import compare as compare_sides
    from harness.results.report.comparison_report import report_comparison

    return report_comparison(compare_sides(runs, a, b, track), as_json, patches, csv)
