"""`testwright run` and `testwright show`."""

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer


def run(
    context: typer.Context,
    task: Annotated[list[str] | None, typer.Option("-t", "--task", help="Task id, glob or tag:NAME")] = None,
    exclude: Annotated[list[str] | None, typer.Option("-x", "--exclude", help="Tasks to leave out")] = None,
    scaffold: Annotated[list[str] | None, typer.Option("-s", "--scaffold", help="Scaffold")] = None,
    model: Annotated[
        list[str] | None, typer.Option("-m", "--model", help="PROVIDER/MODEL, replay:FILE or scripted:FILE")
    ] = None,
    attempts: Annotated[int | None, typer.Option("-k", "--attempts", help="Attempts of each trial")] = None,
    jobs: Annotated[int | None, typer.Option("-j", "--jobs", help="Trials at once")] = None,
    config: Annotated[Path | None, typer.Option("-c", "--config", help="YAML file with these options")] = None,
    sandbox: Annotated[str | None, typer.Option(help="auto, docker or local")] = None,
    max_cost: Annotated[float | None, typer.Option(help="USD; no trial starts once it is spent")] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Run directory; an old one goes on [default: runs/TIME]")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> int:
    """Let scaffolds work on tasks and judge what they hand in. Does only what is missing in an old directory."""
    from harness.report.progress import watching
    from harness.report.run_report import report_run
    from harness.runs.command import configure, execute
    from harness.specs.catalog import Catalog

    options = {
        "tasks": task,
        "exclude": exclude,
        "scaffolds": scaffold,
        "models": model,
        "attempts": attempts,
        "jobs": jobs,
        "sandbox": sandbox,
        "max_cost_usd": max_cost,
    }
    directory = output or Path("runs") / datetime.now().strftime("%Y%m%d-%H%M%S")
    finished = execute(Catalog(context.obj), configure(options, config), directory, watching)
    return report_run(finished, as_json)


def show(
    directory: Annotated[Path, typer.Argument(metavar="RUN", help="Run directory")],
    trial: Annotated[str | None, typer.Argument(help="TASK/SCAFFOLD/MODEL/TRY, or the start of one")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> int:
    """Show a run's trials, or one trial's verdict in full."""
    from harness.report.run_report import show_run

    return show_run(directory, trial, as_json)
