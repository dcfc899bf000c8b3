"""`testwright task`, `repo` and `scaffold`."""

from pathlib import Path
from typing import Annotated

import typer

task_app = typer.Typer(help="The tasks of the catalog.", no_args_is_help=True)
repo_app = typer.Typer(help="The pinned repositories and their images.", no_args_is_help=True)
scaffold_app = typer.Typer(help="The scaffolds of the catalog.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print JSON")]
Names = Annotated[list[str] | None, typer.Argument(help="Repositories [default: all]")]


@task_app.command("list")
def list_tasks(context: typer.Context, as_json: Json = False) -> int:
    """List the tasks."""
    from harness.report.catalog_report import report_tasks

    return report_tasks(_catalog(context), as_json)


@task_app.command("show")
def show_task(context: typer.Context, task: str, as_json: Json = False) -> int:
    """Show a task: prompt, limits and criteria."""
    from harness.report.catalog_report import report_task

    return report_task(_catalog(context).task(task), as_json)


@repo_app.command("list")
def list_repos(context: typer.Context, as_json: Json = False) -> int:
    """List the pinned repositories."""
    from harness.report.catalog_report import report_repos

    return report_repos(_catalog(context), as_json)


@repo_app.command("build")
def build_repos(context: typer.Context, names: Names = None, as_json: Json = False) -> int:
    """Build the images of repositories and of their tasks; what is there already stays."""
    from harness.authoring.repo_build import build_all
    from harness.report.catalog_report import report_builds, tell

    return report_builds(build_all(_catalog(context), names, tell), as_json)


@repo_app.command("check")
def check_repos(context: typer.Context, names: Names = None, as_json: Json = False) -> int:
    """Check images: tests green offline as a non-root user, nothing of the withheld tests in a task's image."""
    from harness.authoring.repo_build import check_all
    from harness.report.catalog_report import report_checks, tell

    return report_checks(check_all(_catalog(context), names, tell), as_json)


@scaffold_app.command("list")
def list_scaffolds(context: typer.Context, as_json: Json = False) -> int:
    """List the scaffolds."""
    from harness.report.catalog_report import report_scaffolds

    return report_scaffolds(_catalog(context), as_json)


def _catalog(context: typer.Context):  # type: ignore[no-untyped-def]  # its type would import it at start-up
    from harness.specs.catalog import Catalog

    directory: Path | None = context.obj
    return Catalog(directory)
