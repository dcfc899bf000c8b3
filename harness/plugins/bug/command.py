"""`testwright task bug`: makes a task with a bug from a probe of another task."""

from pathlib import Path
from typing import Annotated

import typer

bug_app = typer.Typer()


@bug_app.command()
def bug(
    context: typer.Context,
    task: Annotated[str, typer.Argument(help="Task whose probe is the bug; with --tree a task with a bug")],
    probe: Annotated[str | None, typer.Option(help="The probe: probes/PROBE.patch")] = None,
    name: Annotated[str | None, typer.Option(help="Id of the new task [default: TASK-bug-PROBE]")] = None,
    seed: Annotated[int, typer.Option(help="Draws the decoys")] = 0,
    tree: Annotated[
        Path | None, typer.Option(help="Only write the tree of that task there, to make patches in with git diff")
    ] = None,
) -> int:
    """Make a task with a bug from a task's probe: trees, fix, alternatives, hidden tests and a reference.

    What a person must write is told in the end: the report, partial fixes, and a test of the reported input. Called
    again, it leaves those as they are.
    """
    from harness.cli.catalog_commands import catalog_of
    from harness.plugins.bug.new_bug import make_bug, write_agents_tree
    from harness.results.report.catalog_report import tell
    from harness.specs.errors import UserError

    catalog = catalog_of(context)
    if tree is not None:
        print(write_agents_tree(catalog, task, tree))
        return 0
    if probe is None:
        raise UserError("--probe is missing: which of the task's probes is to be the bug?")
    for line in make_bug(catalog, task, probe, name or f"{task}-bug-{probe}", seed, tell):
        print(line)
    return 0
