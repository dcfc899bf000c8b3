"""The texts that a task's patches make of the files that they touch."""

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

from harness.judging.languages.registry import code_of
from harness.judging.verify.known_texts import KnownTexts
from harness.sandbox.git import GitError
from harness.sandbox.git_tree import Change, GitTree
from harness.specs.errors import UserError
from harness.specs.task import Task
from harness.specs.variants import VariantKind

Files = Mapping[str, bytes]
T = TypeVar("T")
_KNOWN = KnownTexts(64_000_000)


@dataclass(frozen=True)
class TaskTexts:
    """The texts of the touched files, in all variants. All have the same paths.

    `placebo` is None where the task has none. `removals` are by kind, `twins`, `probes` and `on_placebo` (the mutants
    of probes, in the tree with the authored placebo) by the name of their variant. `commented` is the pristine code
    with the removal's lines as comments.
    """

    pristine: Files
    commented: Files
    placebo: Files | None
    removals: Mapping[VariantKind, Files]
    twins: Mapping[str, Files]
    probes: Mapping[str, Files]
    on_placebo: Mapping[str, Files]

    @property
    def benign(self) -> list[Files]:
        """Other texts than the pristine one that behave as it does."""
        return [*self.twins.values(), *([self.placebo] if self.placebo is not None else [])]

    @property
    def mutants(self) -> list[Files]:
        """The texts of all removals and probes."""
        return [*self.removals.values(), *self.probes.values()]

    @property
    def family(self) -> dict[str, tuple[bytes, ...]]:
        """For each path every text that a variant may run, the pristine one first."""
        running = [self.pristine, *self.benign, *self.mutants, *self.on_placebo.values()]
        return {path: tuple(dict.fromkeys(files[path] for files in running)) for path in self.pristine}


async def read_texts(task: Task, tree: GitTree) -> TaskTexts:
    """Apply every patch of the task, and return the texts that they make.

    Raises:
        UserError: One doesn't apply.
    """
    placebo = task.path("placebo.patch") if task.has_authored_placebo else None
    removals = {VariantKind.REMOVAL: task.path("removal.patch")}
    if task.has_garbage:
        removals[VariantKind.GARBAGE] = task.path("garbage.patch")
    on_placebo = {probe.variant: path for probe in task.probes if placebo and (path := task.probe_on_placebo(probe))}
    alone = {
        **{kind.value: path for kind, path in removals.items()},
        **{twin.variant: twin.path for twin in task.twins},
        **{probe.variant: probe.path for probe in task.probes},
    }
    if placebo:
        alone["placebo"] = placebo
    changed = await changed_by_each(tree, alone)
    if placebo and on_placebo:
        upon = await changed_by_each(tree, on_placebo, placebo)
        changed |= {f"on {name}": files for name, files in upon.items()}
    pristine = await own_texts(tree, sorted({path for files in changed.values() for path in files}))
    whole = {name: {**pristine, **files} for name, files in changed.items()}
    return TaskTexts(
        pristine=pristine,
        commented=_commented(task, pristine),
        placebo=whole.get("placebo"),
        removals={kind: whole[kind.value] for kind in removals},
        twins={twin.variant: whole[twin.variant] for twin in task.twins},
        probes={probe.variant: whole[probe.variant] for probe in task.probes},
        on_placebo={name: whole[f"on {name}"] for name in on_placebo},
    )


async def changed_by(tree: GitTree, path: Path) -> dict[str, bytes]:
    """Return the files that a patch changes, as they are with it: path -> bytes; see `changed_by_each`."""
    return (await changed_by_each(tree, {"": path}))[""]


async def changed_by_each(
    tree: GitTree, patches: Mapping[str, Path], onto: Path | None = None
) -> dict[str, dict[str, bytes]]:
    """Return the files that each patch changes, as they are with it: name -> path -> bytes.

    Args:
        tree: The task's.
        patches: By names.
        onto: Another patch, applied before each.

    Raises:
        UserError: A patch can't be read, doesn't fit the tree, changes nothing, or adds or deletes files.
    """
    below = () if onto is None else (_bytes_of(onto),)
    read = {name: _bytes_of(path) for name, path in patches.items()}
    head = await tree.tree_id()
    found = {name: _KNOWN.get((head, *below, patch)) for name, patch in read.items()}
    if any(files is None for files in found.values()):
        base, where = "HEAD", "the task's tree"
        if onto is not None:
            base, where = await _laid(onto, where, tree.apply(*below)), f"the task's tree with {onto.name}"
        new = {name: patches[name] for name, files in found.items() if files is None}
        changes = {name: await _changes(tree, path, read[name], base, where) for name, path in new.items()}
        entries = {(name, change.path): change.new for name, each in changes.items() for change in each if change.new}
        texts = await tree.read_all(entries)
        for name, each in changes.items():
            found[name] = {change.path: texts[name, change.path] for change in each}
            _KNOWN.keep((head, *below, read[name]), found[name] or {})
    return {name: dict(files or {}) for name, files in found.items()}


async def own_texts(tree: GitTree, paths: Sequence[str]) -> Files:
    """Return the tree's own text of each file."""
    key = (await tree.tree_id(), "pristine", *paths)
    if (known := _KNOWN.get(key)) is not None:
        return known
    entries = await tree.entries()
    texts = await tree.read_all({path: entries[path] for path in paths})
    _KNOWN.keep(key, texts)
    return texts


async def _changes(tree: GitTree, path: Path, patch: bytes, base: str, where: str) -> list[Change]:
    changes = await _laid(path, where, tree.changed_by(patch, base))
    for change in changes:
        if change.old is None or change.new is None:
            raise UserError(f"{path}: adds or deletes {change.path}; a variant may only change files that are there")
    if not changes:
        raise UserError(f"{path}: changes nothing")
    return changes


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None


async def _laid(path: Path, where: str, laying: Awaitable[T]) -> T:
    """Return what is made of a patch, whose faults are the user's."""
    try:
        return await laying
    except GitError as error:
        raise UserError(f"{path}: does not apply to {where}: {error}") from None


def _commented(task: Task, pristine: Files) -> Files:
    """Return the same code, with every line that the removal takes out or puts in as a comment behind it."""
    found = dict(pristine)
    path = task.path("removal.patch")
    try:
        patch = PatchSet(path.read_text(encoding="utf-8", errors="surrogateescape"))
    except (UnidiffParseError, OSError) as error:
        raise UserError(f"{path}: not a unified diff: {error}") from None
    for file in patch:
        code = code_of(task.repo, file.path)
        if code.is_code(file.path):
            lines = [line.value.rstrip("\r\n") for hunk in file for line in hunk if not line.is_context]
            found[file.path] = code.commented(pristine[file.path], lines)
    return found
