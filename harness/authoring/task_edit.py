"""`testwright task edit`: checks the part's tree out, waits for the author, stores the difference.

The parts of a task that are patches: where each lies, what it applies to, what it may change.
"""

import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType

from harness.authoring.task_check.honest_corpus import corpus_of
from harness.authoring.task_new.skeletons import expectation
from harness.authoring.twin_skeletons import write_twin_skeleton
from harness.judging.languages.registry import language_at
from harness.runs.concurrency import run_to_end
from harness.sandbox.git import PatchError
from harness.sandbox.git_tree import GitTree
from harness.sandbox.images.recipe import read_recipe
from harness.sandbox.images.task_images import repo_image
from harness.sandbox.images.work_tree import image_place
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.reasons import Verdict
from harness.specs.repo import Repo, matches
from harness.specs.rubric import GradedBy
from harness.specs.task import Task
from harness.specs.tracks import BEHAVIOUR

_WITHHELD = "withheld.patch"
_WHOLE = {
    "withheld": _WITHHELD,
    "removal": "removal.patch",
    "garbage": "garbage.patch",
    "placebo": "placebo.patch",
    "reference": "reference/tests.patch",
}
_HONEST = re.compile(r"honest/([A-Za-z0-9][A-Za-z0-9._-]*)")
_NAMED = re.compile(r"(probes|twins|probes-on-placebo)/([1-5]\.\d{1,2}(?:-[a-z])?(?:_\d)?)")


@dataclass(frozen=True)
class EditedPart:
    """One patch of a task. `tests` says whether it changes tests or production code."""

    task: Task
    name: str
    path: Path
    tests: bool

    def allows(self, path: str) -> bool:
        """Return whether the part may change a file.

        Lists of tests for a build, in no language, go with withheld tests.
        """
        if self.name == "withheld" and language_at(path) is None:
            return True
        return matches(path, self.task.repo.test_paths) is self.tests


def part_of(catalog: Catalog, task: Task, name: str) -> EditedPart:
    """Return the part of a task that a name stands for.

    Raises:
        UserError: It stands for none, and the message has one that is written alike; or the task has no patches.
    """
    check_has_patches(task, "be edited")
    name = name.removesuffix(".patch")
    if name in _WHOLE:
        return EditedPart(task, name, task.directory / _WHOLE[name], name in ("withheld", "reference"))
    if found := _NAMED.fullmatch(name):
        _check_criterion(task, found[2].partition("-")[0].partition("_")[0])
        return EditedPart(task, name, task.directory / found[1] / f"{found[2]}.patch", False)
    if found := _HONEST.fullmatch(name):
        return EditedPart(task, name, corpus_of(catalog.holding(task)) / task.id / found[1] / "patch.diff", True)
    known = [*_WHOLE, "probes/1.1", "twins/1.1", "probes-on-placebo/1.1", "honest/a-thorough"]
    close = get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
    raise UserError(f"unknown part {name!r} of a task; {hint}")


def check_has_patches(task: Task, may: str) -> None:
    """Check that a task is made of patches, or may come to be: those of stages and briefs are not.

    Raises:
        UserError: It isn't; the message says which tasks may do what is asked for.
    """
    if task.track != BEHAVIOUR and not (task.directory / _WITHHELD).is_file():
        words = f"whole tasks of the track {BEHAVIOUR} can {may}"
        raise UserError(f"{task.id}: it is of the track {task.track}; {words}")


def _check_criterion(task: Task, criterion: str) -> None:
    """Raise UserError for a criterion that no probe decides: nobody could load the task then."""
    if not any(item.id == criterion and GradedBy.PROBE in item.graded_by for item in task.rubric.criteria):
        place = task.directory.parent.parent / "rubrics" / f"{task.id}.yaml"
        raise UserError(f"{place}: no criterion {criterion} that is graded by probe; write it first")


async def base_of(part: EditedPart, made: Mapping[Path, bytes] = MappingProxyType({})) -> tuple[GitTree, str]:
    """Return the git directory and the tree that the part's patch applies to.

    `made` are patches that aren't written yet, by their paths.

    Raises:
        UserError: A patch below it isn't written yet, or doesn't apply.
        ImageUnavailable: The repo's image can't be made.
    """
    upstream = await upstream_tree(part.task.repo)
    if part.name == "withheld":
        return upstream, "HEAD"
    base = await applied(upstream, "HEAD", part.task.directory / _WITHHELD, made)
    if not part.name.startswith("probes-on-placebo/"):
        return upstream, base
    placebo = part.task.directory / "placebo.patch"
    if not (placebo in made or placebo.is_file()):
        raise UserError(f"{placebo}: is missing, and {part.name} lies upon it; write it first: task edit ID placebo")
    return upstream, await applied(upstream, base, placebo, made)


async def upstream_tree(repo: Repo) -> GitTree:
    """Return the tree of the repository's image: kept when the image was built, else of one that is built now."""
    place = image_place(read_recipe(repo).tag("repo"))
    return GitTree(place.tree if place.record() else (await repo_image(repo)).tree)


async def applied(tree: GitTree, onto: str, path: Path, made: Mapping[Path, bytes] = MappingProxyType({})) -> str:
    """Return the tree that a patch makes: what `made` has for its path, else the file.

    Raises:
        UserError: The patch doesn't apply.
    """
    try:
        return await tree.apply(made[path] if path in made else path.read_bytes(), onto=onto)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None
    except PatchError as error:
        raise UserError(f"{path}: it doesn't apply: {error}; start it anew with --anew") from None


Edit = Callable[[Path], None]
"""Changes the files of a directory, or asks somebody to."""


def edit_task(catalog: Catalog, task: str, part: str, edited: Path | None, anew: bool = False) -> list[Path]:
    """Store what was changed as the part's patch; the files. `edited` is a tree that is finished already.

    Beside a probe that has no twin yet the twin's skeleton is laid out.

    Raises:
        UserError: Nothing was changed, or something that the part may not change; the part is then as it was.
    """
    finished = edited.resolve() if edited else None
    return run_to_end(_edit(part_of(catalog, catalog.task(task), part), finished, anew))


def write_tree(catalog: Catalog, task: str, part: str, destination: Path, anew: bool = False) -> Path:
    """Check the tree out that an author edits, for `--from` later.

    Raises:
        UserError: Something is there.
    """
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

    Raises:
        UserError: One of them can't be stored, and then none is.
    """
    folder = folder.resolve()
    if not folder.is_dir():
        raise UserError(f"--from: {folder} is no directory")
    loaded = catalog.task(task)
    return run_to_end(_edit_parts([part_of(catalog, loaded, part) for part in dict.fromkeys(parts)], folder))


def write_trees(catalog: Catalog, task: str, parts: Sequence[str], folder: Path, anew: bool = False) -> list[Path]:
    """Write the tree of each part to `FOLDER/PART`, for `edit_parts`.

    Raises:
        UserError: Something is there already.
    """
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
    stored = [path for part in parts for path in _store(part, made[part.path])]
    return [*stored, *await _twins_to_write(parts, made)]


async def _finished(part: EditedPart, tree: GitTree, base: str, folder: Path) -> str:
    """Return the tree that the author made of a part. Raises UserError."""
    edited, patch = folder / part.name, folder / f"{part.name}.patch"
    if edited.is_dir() and patch.is_file():
        raise UserError(f"--from: both {edited} and {patch} are there; remove one")
    if edited.is_dir():
        return await tree.import_work_tree(edited, base)
    if not patch.is_file():
        raise UserError(f"--from: neither a tree {edited} nor a patch {patch} is there; nothing is stored")
    return await applied(tree, base, patch)


async def _edit(part: EditedPart, edited: Path | None, anew: bool) -> list[Path]:
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
    return [*_store(part, patch), *await _twins_to_write([part], {part.path: patch})]


async def _patch(part: EditedPart, tree: GitTree, base: str, new: str) -> bytes:
    """Return the patch, raising UserError where nothing was changed, or something that the part may not change."""
    changed = [change.path for change in await tree.changes(new, base)]
    if not changed:
        raise UserError(f"{part.name}: the tree is as it was; nothing is stored")
    _check(part, changed)
    return await tree.diff(new, base)


def _store(part: EditedPart, patch: bytes) -> list[Path]:
    part.path.parent.mkdir(parents=True, exist_ok=True)
    part.path.write_bytes(patch)
    expected = part.path.parent / "expect.yaml"
    if not part.name.startswith("honest/") or expected.exists():
        return [part.path]
    expected.write_text(expectation(part.task.id, Verdict.RESOLVED))
    return [part.path, expected]


def twin_beside(catalog: Catalog, task: Task, probe: str) -> list[Path]:
    """Write the skeleton of a probe's twin where it has none, and return the file.

    Raises:
        UserError: There is no such probe.
        ImageUnavailable: The task's image can't be made.
    """
    part = part_of(catalog, task, f"probes/{probe}")
    return run_to_end(_twins_to_write([part], {part.path: part.path.read_bytes()}))


async def _twins_to_write(parts: Sequence[EditedPart], made: Mapping[Path, bytes]) -> list[Path]:
    """Write the skeleton of a twin beside each probe that has none."""
    written = []
    for part in parts:
        if not part.name.startswith("probes/"):
            continue
        folder, name = part.task.directory / "twins", part.path.stem
        if not any(folder.glob(f"{name}*.patch")):
            tree, base = await base_of(part, made)
            written.append(await write_twin_skeleton(part.task, tree, base, name, made[part.path]))
    return written


def _check(part: EditedPart, changed: list[str]) -> None:
    """Raise UserError for a file that the part may not change."""
    for path in changed:
        if not part.allows(path):
            what = "tests only" if part.tests else "production code only"
            raise UserError(f"{part.name}: {path} was changed too, and it changes {what}; nothing is stored")


def _ask(directory: Path) -> None:
    """Start the author's editor on the directory, or a shell in it; raise UserError where it ends with an error."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    command = [*shlex.split(editor), str(directory)] if editor else [os.environ.get("SHELL", "/bin/sh")]
    status = subprocess.run(command, cwd=directory, check=False).returncode
    if status:
        raise UserError(f"{command[0]} ended with status {status}; nothing is stored")
