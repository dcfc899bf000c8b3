"""`testwright run` and `testwright show`."""

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.published import AllCriteria, ImageMap

EXAMPLES = """\
\b
Examples:
  testwright run -t aiosmtpd-proxy-tlv -s oracle
  testwright run -t 'restic-*' -s mini -m openai/gpt-5.1 -k 3 -j 4 --max-cost 5
  testwright run -c run.yaml -o runs/first
"""


def run(
    context: typer.Context,
    task: Annotated[
        list[str] | None, typer.Option("-t", "--task", help="Task id, glob, tag:NAME, TRACK:GLOB or swe-atlas:PATH")
    ] = None,
    exclude: Annotated[list[str] | None, typer.Option("-x", "--exclude", help="Tasks to leave out")] = None,
    repo: Annotated[
        list[str] | None, typer.Option("--repo", help="Only tasks of this repository (name or glob)")
    ] = None,
    scaffold: Annotated[list[str] | None, typer.Option("-s", "--scaffold", help="Scaffold")] = None,
    override: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="KEY=VALUE of the scaffolds: limits.steps=50, templates.task=FILE, mini.limits..."
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option("-m", "--model", help="PROVIDER/MODEL, a model file's NAME or PATH, replay:FILE, scripted:FILE"),
    ] = None,
    attempts: Annotated[
        int | None, typer.Option("-k", "--attempts", help="Attempts at each task [default: 1]")
    ] = None,
    jobs: Annotated[int | None, typer.Option("-j", "--jobs", help="Trials at once [default: 1]")] = None,
    config: Annotated[Path | None, typer.Option("-c", "--config", help="YAML file with these options")] = None,
    sandbox: Annotated[
        str | None, typer.Option(help="auto, docker, local, swerex:URL or swerex:FILE [default: auto]")
    ] = None,
    max_cost: Annotated[
        float | None,
        typer.Option(help="USD for the whole run; no call is made once they are spent [default: no limit]"),
    ] = None,
    judge: Annotated[
        str | None, typer.Option(help="Model that judges what code can't decide [default: none]")
    ] = None,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Ask the judge again; ignore its cached answers")
    ] = False,
    protocol: Annotated[
        str | None,
        typer.Option(help="Grading rules: testwright, published (swe-atlas tasks) or both [default: testwright]"),
    ] = None,
    control: Annotated[
        str | None,
        typer.Option(
            help="Kills run again alone before a submission is resolved: none, drawn or all [default: drawn]"
        ),
    ] = None,
    image_map: ImageMap = None,
    all_criteria: AllCriteria = False,
    registry: Annotated[
        list[str] | None,
        typer.Option(
            "--registry", help="HOST[:PORT][=ADDRESS] that agents may reach, in tasks with package registries"
        ),
    ] = None,
    executor: Annotated[
        str | None,
        typer.Option(
            help="Where trials run: asyncio (this machine), ray[:HOST:PORT] or another's NAME [default: asyncio]"
        ),
    ] = None,
    tries: Annotated[
        int | None, typer.Option(help="Tries of a trial where the infrastructure fails [default: 3]")
    ] = None,
    trial_seconds: Annotated[
        float | None, typer.Option(help="Wall time of one try of a trial, with all waits [default: no limit]")
    ] = None,
    min_free_disk: Annotated[
        float | None, typer.Option(help="GB that must be free before a trial begins [default: 0.5]")
    ] = None,
    image_disk: Annotated[
        float | None,
        typer.Option(help="GB for the images built or pulled here; least recently used ones go [default: no limit]"),
    ] = None,
    mutants: Annotated[
        int | None,
        typer.Option(min=0, help="Beside each verdict: a mutation score on so many mutants [default: none]"),
    ] = None,
    look: Annotated[
        list[str] | None,
        typer.Option("--look", help="Look at each suite beside its verdict and note what is found: absent-names"),
    ] = None,
    fail_on_error: Annotated[
        int | None, typer.Option(help="Start no new trial after this many harness errors [default: go on]")
    ] = None,
    dry: Annotated[
        bool, typer.Option("--dry-run", help="Say what the run would do and could cost; do nothing")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Run directory; an existing run is continued [default: runs/TIME]"),
    ] = None,
    extend: Annotated[
        bool, typer.Option("--extend", help="Also where the directory holds something else: add to it")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> int:
    """Let scaffolds work on tasks, and judge what they hand in. In an existing run, do only what is missing."""
    from harness.results.report.dry_run_report import report_dry_run
    from harness.results.report.progress import warn, watching
    from harness.results.report.run_report import report_run
    from harness.runs.command import configure, execute
    from harness.runs.dry_run import dry_run
    from harness.specs.catalog import Catalog

    options = {
        "tasks": task,
        "exclude": exclude,
        "repos": repo,
        "scaffolds": scaffold,
        "overrides": override,
        "models": model,
        "attempts": attempts,
        "jobs": jobs,
        "sandbox": sandbox,
        "max_cost_usd": max_cost,
        "judge": judge,
        "judge_cache": False if no_cache else None,
        "protocol": protocol,
        "control": control,
        "image_map": image_map,
        "all_criteria": all_criteria or None,
        "registries": registry,
        "executor": executor,
        "tries": tries,
        "trial_seconds": trial_seconds,
        "min_free_disk_gb": min_free_disk,
        "image_disk_gb": image_disk,
        "mutants": mutants,
        "looks": look,
        "fail_on_error": fail_on_error,
    }
    directory = output or Path("runs") / datetime.now().strftime("%Y%m%d-%H%M%S")
    catalog, configuration = Catalog(context.obj), configure(options, config)
    if dry:
        return report_dry_run(dry_run(catalog, configuration, directory, warn, extend), as_json)
    return report_run(execute(catalog, configuration, directory, watching, warn, extend), as_json)


def show(
    context: typer.Context,
    directory: Annotated[Path, typer.Argument(metavar="RUN", help="Run directory")],
    trial: Annotated[str | None, typer.Argument(help="TASK/SCAFFOLD/MODEL/ATTEMPT, or the start of one")] = None,
    verdict: Annotated[
        str, typer.Option(help="Only trials with this verdict: resolved, failed, invalid, unscored or none")
    ] = "",
    reason: Annotated[str, typer.Option(help="Only trials with this reason, such as survived-removal")] = "",
    task: Annotated[str, typer.Option("-t", "--task", help="Only trials of this task (id or glob)")] = "",
    scaffold: Annotated[str, typer.Option("-s", "--scaffold", help="Only trials of this scaffold")] = "",
    model: Annotated[str, typer.Option("-m", "--model", help="Only trials of this model")] = "",
    track: Annotated[str, typer.Option(help="Only trials of this track's tasks")] = "",
    trajectory: Annotated[bool, typer.Option("--trajectory", help="Page through the trial's trajectory")] = False,
    steps: Annotated[
        str | None, typer.Option(help="The part of the trajectory to show: the model's answers N, N-M, N- or -M")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: flat rows, or all of one trial")] = False,
    rows: Annotated[str | None, typer.Option(help="With --json: rows of trials, reasons, criteria, tests...")] = None,
    csv: Annotated[str | None, typer.Option(help="Print CSV: rows of trials, reasons, criteria, tests...")] = None,
) -> int:
    """Show a run's trials and what they come to, one trial in full, or its trajectory."""
    from harness.results.filters import Filters
    from harness.results.report.csv_report import chosen_rows
    from harness.results.report.run_report import damaged, show_run
    from harness.results.report.trajectory_report import chosen_steps
    from harness.specs.catalog import Catalog

    filters = Filters(verdict, reason, task, scaffold, model, track)
    span = chosen_steps(steps) if trajectory or steps else None
    kinds = chosen_rows("--csv", csv), chosen_rows("--rows", rows)
    return max(show_run(directory, trial, as_json, *kinds, filters, span, Catalog(context.obj)), damaged([directory]))
