"""`testwright task edit`: checks the part's tree out, waits for the author, stores the difference."""

import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from harness.authoring.task_edit.parts import EditedPart, applied, base_of, part_of
from harness.runs.interruption import run_to_end
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.reasons import Verdict
from harness.specs.yaml_text import yaml_text

Edit = Callable[[Path], None]
"""Changes the files of a directory, or asks somebody to."""


def edit_task(catalog: Catalog, task: str, part: str, edited: Path | None, anew: bool = False) -> Path:
    """Store what was changed as the part's patch; where it lies. `edited` is a tree that is finished already.

    Raises UserError where nothing was changed, or something that the part may not change; the part is then as it was.
    """
    finished = edited.resolve() if edited else None
    return run_to_end(_edit(part_of(catalog, catalog.task(task), part), finished, anew))


def write_tree(catalog: Catalog, task: str, part: str, destination: Path, anew: bool = False) -> Path:
    """Check the tree out that an author edits, for `--from` later. Raises UserError where something is there."""
    destination = destination.resolve()
    if destination.exists() and any(destination.iterdir()):
        raise UserError(f"{destination}: is not empty")
    return run_to_end(_write(part_of(catalog, catalog.task(task), part), destination, anew))


async def _write(part: EditedPart, destination: Path, anew: bool) -> Path:
    tree, base = await base_of(part)
    old = await applied(tree, base, part.path) if part.path.is_file() and not anew else base
    await tree.check_out(destination, old)
    return destination


async def _edit(part: EditedPart, edited: Path | None, anew: bool) -> Path:
    with tempfile.TemporaryDirectory(prefix="testwright-") as scratch:
        tree, base = await base_of(part)
        if edited is None:
            edited = Path(scratch) / part.task.id
            old = await applied(tree, base, part.path) if part.path.is_file() and not anew else base
            await tree.check_out(edited, old)
            _ask(edited)
        elif not edited.is_dir():
            raise UserError(f"--from: {edited} is no directory")
        new = await tree.import_work_tree(edited, base)
        changed = [change.path for change in await tree.changes(new, base)]
        if not changed:
            raise UserError(f"{part.name}: the tree is as it was; nothing is stored")
        _check(part, changed)
        patch = await tree.diff(new, base)
    part.path.parent.mkdir(parents=True, exist_ok=True)
    part.path.write_bytes(patch)
    if part.name.startswith("honest/"):
        _expect(part)
    return part.path


def _expect(part: EditedPart) -> None:
    """What an honest suite must come to is its author's to say."""
    path = part.path.parent / "expect.yaml"
    if not path.exists():
        facts = {"schema_version": 1, "about": "TODO", "task": part.task.id, "verdict": Verdict.RESOLVED.value}
        path.write_text(yaml_text(facts))


def _check(part: EditedPart, changed: list[str]) -> None:
    """Raises UserError for a file that the part may not change."""
    for path in changed:
        if not part.allows(path):
            what = "tests only" if part.tests else "production code only"
            raise UserError(f"{part.name}: {path} was changed too, and it changes {what}; nothing is stored")


def _ask(directory: Path) -> None:
    """The author's editor on the directory, or a shell in it. Raises UserError where it ends with an error."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    command = [*shlex.split(editor), str(directory)] if editor else [os.environ.get("SHELL", "/bin/sh")]
    status = subprocess.run(command, cwd=directory, check=False).returncode
    if status:
        raise UserError(f"{command[0]} ended with status {status}; nothing is stored")
