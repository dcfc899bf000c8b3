"""`testwright task edit`: checks the part's tree out, waits for the author, stores the difference."""

import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from harness.authoring.task_edit.parts import EditedPart, applied, base_of, part_of
from harness.runs.interruption import run_to_end
from harness.sandbox.git_tree import GitTree
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
    _check_empty(destination)
    return run_to_end(_write(part_of(catalog, catalog.task(task), part), destination, anew))


async def _write(part: EditedPart, destination: Path, anew: bool) -> Path:
    tree, base = await base_of(part)
    old = await applied(tree, base, part.path) if part.path.is_file() and not anew else base
    await tree.check_out(destination, old)
    return destination


def edit_parts(catalog: Catalog, task: str, parts: Sequence[str], folder: Path) -> list[Path]:
    """Store several parts at once: of each what `FOLDER/PART` (an edited tree) or `FOLDER/PART.patch` makes of it.

    Raises UserError where one of them can't be stored, and then none is.
    """
    folder = folder.resolve()
    if not folder.is_dir():
        raise UserError(f"--from: {folder} is no directory")
    loaded = catalog.task(task)
    return run_to_end(_edit_parts([part_of(catalog, loaded, part) for part in dict.fromkeys(parts)], folder))


def write_trees(catalog: Catalog, task: str, parts: Sequence[str], folder: Path, anew: bool = False) -> list[Path]:
    """The tree of each part as `FOLDER/PART`, for `edit_parts`. Raises UserError where something is there already."""
    loaded = catalog.task(task)
    places = {
        part.name: (part, folder.resolve() / part.name) for part in (part_of(catalog, loaded, n) for n in parts)
    }
    for _, place in places.values():
        _check_empty(place)
    return [run_to_end(_write(part, place, anew)) for part, place in places.values()]


def _check_empty(destination: Path) -> None:
    if destination.exists() and any(destination.iterdir()):
        raise UserError(f"{destination}: is not empty")


async def _edit_parts(parts: Sequence[EditedPart], folder: Path) -> list[Path]:
    made: dict[Path, bytes] = {}
    for part in sorted(parts, key=lambda part: (part.name != "withheld", part.name != "placebo")):
        tree, base = await base_of(part, made)
        made[part.path] = await _patch(part, tree, base, await _finished(part, tree, base, folder))
    for part in parts:
        _store(part, made[part.path])
    return [part.path for part in parts]


async def _finished(part: EditedPart, tree: GitTree, base: str, folder: Path) -> str:
    """The tree that the author made of a part. Raises UserError."""
    edited, patch = folder / part.name, folder / f"{part.name}.patch"
    if edited.is_dir() and patch.is_file():
        raise UserError(f"--from: both {edited} and {patch} are there; remove one")
    if edited.is_dir():
        return await tree.import_work_tree(edited, base)
    if not patch.is_file():
        raise UserError(f"--from: neither a tree {edited} nor a patch {patch} is there; nothing is stored")
    return await applied(tree, base, patch)


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
        patch = await _patch(part, tree, base, await tree.import_work_tree(edited, base))
    _store(part, patch)
    return part.path


async def _patch(part: EditedPart, tree: GitTree, base: str, new: str) -> bytes:
    """Raises UserError where nothing was changed, or something that the part may not change."""
    changed = [change.path for change in await tree.changes(new, base)]
    if not changed:
        raise UserError(f"{part.name}: the tree is as it was; nothing is stored")
    _check(part, changed)
    return await tree.diff(new, base)


def _store(part: EditedPart, patch: bytes) -> None:
    part.path.parent.mkdir(parents=True, exist_ok=True)
    part.path.write_bytes(patch)
    if part.name.startswith("honest/"):
        _expect(part)


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
