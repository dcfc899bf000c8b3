"""`testwright task browser`: starts a task on a stage."""

from pathlib import Path
from typing import Annotated

import typer

browser_app = typer.Typer()


@browser_app.command()
def browser(
    application: Annotated[str, typer.Argument(help="Application of the task (docs/browser.md lists ours)")],
    directory: Annotated[Path, typer.Argument(help="Directory of the new task; its name is the task's id")],
    track: Annotated[str, typer.Option(help="e2e, or technique where the prompt states a constraint")] = "e2e",
) -> int:
    """Start a task of tests in a browser: lay out its files, with TODO where its author has something to say.

    In the end it tells the command that checks them.
    """
    import shlex

    from harness.plugins.browser.new_task import new_task

    for path in new_task(application, directory, track):
        print(path)
    print(f"What is still to be done: testwright task check {shlex.quote(f'{track}:{directory}')} --quick")
    return 0
