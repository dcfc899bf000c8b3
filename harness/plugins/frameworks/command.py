"""`testwright export`: tasks for other frameworks."""

from pathlib import Path
from typing import Annotated

import typer

export_app = typer.Typer(help="Tasks for other frameworks.", no_args_is_help=True)


@export_app.callback()
def export() -> None:
    """Tasks for other frameworks."""


@export_app.command("harbor")
def harbor(
    context: typer.Context,
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to write into")],
    tasks: Annotated[list[str], typer.Option("-t", "--task", help="Ids, globs or tag:NAME")],
    solutions: Annotated[bool, typer.Option(help="Write the references too, for Harbor's oracle")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> int:
    """Write tasks as Harbor reads them, and job.yaml, whose verifier is testwright's, on this machine."""
    import json

    from harness.plugins.frameworks.harbor_tasks import JOB, write_tasks
    from harness.results.report.exporting import claimed
    from harness.results.report.figures import counted
    from harness.results.report.tables import console
    from harness.specs.catalog import Catalog

    with claimed(directory):
        images = write_tasks(Catalog(context.obj), tasks, directory, solutions)
    if as_json:
        print(json.dumps({"directory": str(directory), "images": images}, indent=2))
    else:
        words = f"{directory}: {counted(len(images), 'task')}; harbor run -c {directory / JOB} -a AGENT -m MODEL"
        console().print(words, markup=False, soft_wrap=True)
    return 0
