"""`testwright task`, `repo`, `scaffold` and `model`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.published import ImageMap

task_app = typer.Typer(help="The tasks of the catalog.", no_args_is_help=True)
repo_app = typer.Typer(help="The pinned repositories and their images.", no_args_is_help=True)
scaffold_app = typer.Typer(help="The scaffolds of the catalog.", no_args_is_help=True)
model_app = typer.Typer(help="Models and their settings.", no_args_is_help=True)

TASK = "Task id, TRACK:NAME (technique, e2e, build, ...) or swe-atlas:DIRECTORY"
TASKS = "Task ids, globs, tag:NAME, TRACK:GLOB (technique, e2e, build, ...) or swe-atlas:PATH"
Json = Annotated[bool, typer.Option("--json", help="Print JSON")]
Names = Annotated[list[str] | None, typer.Argument(help="Repositories [default: all]")]


@task_app.command("list")
def list_tasks(
    context: typer.Context,
    tasks: Annotated[list[str] | None, typer.Argument(help=f"{TASKS} [default: all of the catalog]")] = None,
    as_json: Json = False,
) -> int:
    """List the tasks."""
    from harness.results.report.catalog_report import report_tasks

    return report_tasks(catalog_of(context), as_json, tasks or ())


@task_app.command("show")
def show_task(context: typer.Context, task: Annotated[str, typer.Argument(help=TASK)], as_json: Json = False) -> int:
    """Show a task: prompt, limits and criteria."""
    from harness.results.report.catalog_report import report_task

    return report_task(catalog_of(context).task(task), as_json)


@task_app.command("check")
def check_tasks(
    context: typer.Context,
    tasks: Annotated[list[str] | None, typer.Argument(help=f"{TASKS} [default: all of the catalog]")] = None,
    exclude: Annotated[list[str] | None, typer.Option("-x", "--exclude", help="Tasks to leave out")] = None,
    repo: Annotated[
        list[str] | None, typer.Option("--repo", help="Only tasks of this repository (name or glob)")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Check the files only; no containers")] = False,
    brief: Annotated[
        bool, typer.Option("--brief", help="Files, the agent's view, the reference once and nop")
    ] = False,
    sample: Annotated[
        bool,
        typer.Option(
            "--sample",
            help="Check one task of each language in full, the others in brief",
        ),
    ] = False,
    fix: Annotated[bool, typer.Option("--fix", help="First write the files that can be derived")] = False,
    records: Annotated[
        Path | None,
        typer.Option(help="Folder with a check record per task; each must match the task's current version"),
    ] = None,
    write: Annotated[
        bool, typer.Option("--write", help="Write a check record for each task that passes in full")
    ] = False,
    jobs: Annotated[int, typer.Option("-j", "--jobs", min=1, help="Tasks at once")] = 1,
    judge: Annotated[
        str | None, typer.Option(help="Model that compares each criterion's statement with its check")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option("--only", help="Only this part of the check: prompt, reference, ...")
    ] = None,
    remember: Annotated[
        bool, typer.Option("--remember", help="Keep parts that pass; leave out those that passed on the same files")
    ] = False,
    recorded: Annotated[
        bool,
        typer.Option(
            "--recorded", help="Take judgings from the records where nothing that they read has changed since"
        ),
    ] = False,
    explain: Annotated[
        list[str] | None, typer.Option("--explain", help="Say what this part demands, and why; check nothing")
    ] = None,
    mutants: Annotated[
        int, typer.Option(min=0, help="Try so many mutants of the removed code; warn of those no must-have asks for")
    ] = 0,
    image_map: ImageMap = None,
    as_json: Json = False,
) -> int:
    """Check tasks: files, wording, patches, reference, controls, honest suites. Status 1: one has an error.

    In swe-atlas tasks it looks for the known defects of published tasks.
    """
    from harness.authoring.task_check.command import (
        absent_parts,
        check,
        fix_all,
        levels,
        parts_named,
        refuse_for_published,
    )
    from harness.authoring.task_check.context import CheckOrder
    from harness.results.report.task_check_report import report_task_checks, watching_checks
    from harness.runs.judges import judge_for
    from harness.specs.errors import UserError
    from harness.specs.task_facts import chosen_level
    from harness.specs.tracks import TaskOptions

    if explain:
        return _explain(explain, tasks or ())
    ours = {
        "--fix": fix,
        "--records": records,
        "--write": write,
        "--sample": sample,
        "--judge": judge,
        "--remember": remember,
        "--recorded": recorded,
        "--mutants": mutants,
    }
    refuse_for_published(tasks or (), ours)
    catalog = catalog_of(context, image_map)
    lenient = catalog.reading(TaskOptions(image_map, one_by_one=True))  # the check itself tells what is wrong
    names = lenient.chosen(tasks or ["*"], exclude or (), repo or ())
    if not names and catalog.names("tasks"):
        raise UserError("every task that is named is left out by -x or --repo; there is nothing to check")
    chosen = levels(catalog, names, chosen_level(quick, brief, sample), sample, records)
    if absent := absent_parts(catalog, chosen, only or ()):
        raise UserError(absent[0])
    named = judge_for(catalog, judge, cached=False) if judge else None
    order = CheckOrder(named, parts_named(only or ()), remember, mutants, records if recorded else None)
    written = fix_all(catalog, chosen) if fix else []
    with watching_checks(len(chosen)) as watch:
        catalog = catalog_of(context, image_map)
        checks = check(catalog, chosen, jobs, watch, records, write, order)
    return report_task_checks(checks, written, as_json)


def _explain(parts: Sequence[str], tasks: Sequence[str]) -> int:
    from harness.authoring.task_check.command import part_named
    from harness.authoring.task_check.explaining import explained
    from harness.results.report.authoring_report import report_line

    for step in [part_named(name, "--explain") for name in parts]:
        report_line(explained(step, tasks[0] if len(tasks) == 1 else ""))
    return 0


@repo_app.command("list")
def list_repos(context: typer.Context, as_json: Json = False) -> int:
    """List the pinned repositories."""
    from harness.results.report.catalog_report import report_repos

    return report_repos(catalog_of(context), as_json)


@repo_app.command("build")
def build_repos(context: typer.Context, names: Names = None, as_json: Json = False) -> int:
    """Build the images of repositories and of their tasks. Images that exist already are kept.

    Name tasks of other tracks to build theirs, such as e2e:datasette-trees or technique:'*'.
    """
    from harness.authoring.repo_build import build_all
    from harness.results.report.catalog_report import report_builds, tell

    return report_builds(build_all(catalog_of(context), names, tell), as_json)


@repo_app.command("check")
def check_repos(context: typer.Context, names: Names = None, as_json: Json = False) -> int:
    """Check images: tests pass offline as a non-root user; task images hold nothing of the withheld tests."""
    from harness.authoring.repo_build import check_all
    from harness.results.report.catalog_report import report_checks, tell

    return report_checks(check_all(catalog_of(context), names, tell), as_json)


@repo_app.command("export")
def export_repo(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Repository; or tasks of one, such as technique:'*'")],
    file: Annotated[Path, typer.Argument(help="Tar file to write")],
    as_json: Json = False,
) -> int:
    """Write the images of a repository and of its tasks to a file, for hosts that can't build images."""
    from harness.authoring.bundles import export_repo as export
    from harness.results.report.catalog_report import report_builds, tell

    return report_builds(export(catalog_of(context), name, file, tell), as_json)


@repo_app.command("import")
def import_repo(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="File that repo export wrote")],
    as_json: Json = False,
) -> int:
    """Ingest images that another host has exported, and compare all of them with their digests."""
    from harness.authoring.bundles import import_repo as ingest
    from harness.results.report.catalog_report import report_builds, tell

    return report_builds(ingest(catalog_of(context), file, tell), as_json)


@scaffold_app.command("list")
def list_scaffolds(context: typer.Context, as_json: Json = False) -> int:
    """List the scaffolds."""
    from harness.results.report.catalog_report import report_scaffolds

    return report_scaffolds(catalog_of(context), as_json)


@scaffold_app.command("check")
def check_scaffolds(
    context: typer.Context,
    names: Annotated[list[str] | None, typer.Argument(help="Native scaffolds [default: all]")] = None,
    as_json: Json = False,
) -> int:
    """Install native scaffolds and run each against a scripted model. Status 1: one has a problem."""
    from harness.authoring.scaffold_check import check_scaffolds
    from harness.results.report.catalog_report import report_checks, tell

    return report_checks(check_scaffolds(catalog_of(context), names or [], tell), as_json)


@scaffold_app.command("export")
def export_scaffold(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="A native scaffold")],
    file: Annotated[Path, typer.Argument(help="The file to write")],
    as_json: Json = False,
) -> int:
    """Write a native scaffold's toolbox to one file, for a host that can install nothing."""
    from harness.authoring.bundles import export_scaffold
    from harness.results.report.catalog_report import report_builds, tell

    return report_builds(export_scaffold(catalog_of(context), name, file, tell), as_json)


@scaffold_app.command("import")
def import_scaffold(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A file of scaffold export")],
    as_json: Json = False,
) -> int:
    """Load a toolbox of scaffold export into the engine."""
    from harness.authoring.bundles import import_scaffold
    from harness.results.report.catalog_report import report_builds, tell

    return report_builds(import_scaffold(catalog_of(context), file, tell), as_json)


@model_app.command("list")
def list_models(context: typer.Context, as_json: Json = False) -> int:
    """List the model files; any PROVIDER/MODEL works without one."""
    from harness.results.report.model_report import report_models

    return report_models(catalog_of(context), as_json)


@model_app.command("show")
def show_model(
    context: typer.Context,
    model: Annotated[str, typer.Argument(help="PROVIDER/MODEL, or a model file's name or path")],
    as_json: Json = False,
) -> int:
    """Show what a run would use: settings, whether the price is known, which key is needed."""
    from harness.results.report.model_report import report_model

    return report_model(catalog_of(context), model, as_json)


def catalog_of(context: typer.Context, images: Path | None = None):  # type: ignore[no-untyped-def]  # imported late
    """Return the catalogs that the command line names."""
    from harness.specs.catalog import Catalog
    from harness.specs.tracks import TaskOptions

    return Catalog(context.obj, TaskOptions(images))
