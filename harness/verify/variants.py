"""The variants of a task: what is on disk and what runs in each, before anything is compiled."""

from collections.abc import Mapping
from pathlib import Path

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

from harness.languages.code import Code
from harness.languages.registry import language_of
from harness.languages.toolchain import Toolchain
from harness.languages.variant_source import VariantSource
from harness.sandbox.git import GitError
from harness.sandbox.git_tree import GitTree
from harness.specs.errors import UserError
from harness.specs.task import Task
from harness.specs.variants import VariantKind
from harness.verify.evidence import BASELINE


async def plan_variants(task: Task, tree: GitTree, toolchain: Toolchain, decoy: int) -> list[VariantSource]:
    """Every variant of a task, baseline first. Raises UserError for a patch of the task that doesn't apply.

    `decoy` chooses the probe whose text lies on disk in one of the placebos; any number will do.
    """
    patches = {"removal": task.path("removal.patch")}
    if task.has_authored_placebo:
        patches["placebo"] = task.path("placebo.patch")
    patches.update({probe.variant: probe.path for probe in task.probes})
    changed = {name: await changed_by(tree, path) for name, path in patches.items()}
    touched = sorted({path for files in changed.values() for path in files})
    entries = await tree.entries()
    pristine = await tree.read_all({path: entries[path] for path in touched})
    lines = _touched_lines([path for name, path in patches.items() if name != "placebo"])

    removed = {**pristine, **changed["removal"]}
    code = language_of(task.repo).code
    variants = [
        VariantSource(BASELINE, VariantKind.BASELINE, pristine, pristine),
        _text_placebo(task, code, pristine),
        VariantSource(
            "placebo-code", VariantKind.PLACEBO_CODE, pristine, pristine, rewritten_lines=lines, dead=removed
        ),
        VariantSource("removal", VariantKind.REMOVAL, removed, removed),
    ]
    if toolchain.separates:
        variants += [
            _decoy(code, "placebo-source", pristine, removed),
            _hidden(code, "removal-pristine-source", VariantKind.REMOVAL_PRISTINE_SOURCE, pristine, removed),
        ]
    if toolchain.separates and task.probes:
        chosen = task.probes[decoy % len(task.probes)]
        mutant = {**pristine, **changed[chosen.variant]}
        variants.append(_decoy(code, "placebo-source-probe", pristine, mutant, dead=mutant))
        # Built as a probe is, text and dead code included: else the building itself would tell probes from placebos.
        inert = VariantSource("placebo-inert", VariantKind.PLACEBO_CODE, pristine, pristine, dead=mutant)
        variants.append(inert)
    if "placebo" in changed:
        other = {**pristine, **changed["placebo"]}
        authored = VariantSource("placebo-authored", VariantKind.PLACEBO_AUTHORED, other, other)
        if toolchain.separates:
            authored = _hidden(code, authored.name, authored.kind, pristine, other)
        variants.append(authored)
    for probe in task.probes:
        mutant = {**pristine, **changed[probe.variant]}
        on_disk = VariantSource(probe.variant, VariantKind.PROBE, mutant, mutant, probe.criterion)
        hidden = _hidden(code, probe.variant, VariantKind.PROBE, pristine, mutant, probe.criterion)
        variants.append(hidden if toolchain.separates else on_disk)
    return variants


def _hidden(
    code: Code,
    name: str,
    kind: VariantKind,
    pristine: Mapping[str, bytes],
    changed: Mapping[str, bytes],
    criterion: str = "",
) -> VariantSource:
    """A variant that can't be read off the disk: pristine text, changed code, the pristine code dead within it.

    Data files have no such split: they are what they are on disk.
    """
    disk = {path: pristine[path] if code.is_code(path) else data for path, data in changed.items()}
    return VariantSource(name, kind, disk, changed, criterion, dead=pristine)


def _decoy(
    code: Code,
    name: str,
    pristine: Mapping[str, bytes],
    changed: Mapping[str, bytes],
    dead: Mapping[str, bytes] | None = None,
) -> VariantSource:
    """The other way round: the text says that the behaviour has changed, what runs is pristine."""
    disk = {path: changed[path] if code.is_code(path) else data for path, data in pristine.items()}
    return VariantSource(name, VariantKind.PLACEBO_SOURCE, disk, pristine, dead=dead or {})


async def changed_by(tree: GitTree, path: Path) -> dict[str, bytes]:
    """The files that a patch changes, as they are with it. Raises UserError for one that doesn't fit the tree."""
    try:
        new = await tree.apply(path.read_bytes())
        changes = await tree.changes(new)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None
    except GitError as error:
        raise UserError(f"{path}: does not apply to the task's tree: {error}") from None
    for change in changes:
        if change.old is None or change.new is None:
            raise UserError(f"{path}: adds or deletes {change.path}; a variant may only change files that are there")
    if not changes:
        raise UserError(f"{path}: changes nothing")
    return await tree.read_all({change.path: change.new for change in changes if change.new})


def _touched_lines(paths: list[Path]) -> dict[str, tuple[int, ...]]:
    """Lines of the pristine files that these patches take out, or put something behind."""
    found: dict[str, set[int]] = {}
    for path in paths:
        for file in _parsed(path):
            lines = found.setdefault(file.path, set())
            for hunk in file:
                last = hunk.source_start
                for line in hunk:
                    last = line.source_line_no or last
                    if not line.is_context:
                        lines.add(last)
    return {path: tuple(sorted(lines)) for path, lines in found.items()}


def _parsed(path: Path) -> PatchSet:
    try:
        return PatchSet(path.read_text(encoding="utf-8", errors="surrogateescape"))
    except (UnidiffParseError, OSError) as error:
        raise UserError(f"{path}: not a unified diff: {error}") from None


def _text_placebo(task: Task, code: Code, pristine: Mapping[str, bytes]) -> VariantSource:
    """The same code, with every line that the removal takes out or puts in as a comment behind it."""
    disk = dict(pristine)
    for file in _parsed(task.path("removal.patch")):
        if code.is_code(file.path):
            lines = [line.value.rstrip("\r\n") for hunk in file for line in hunk if not line.is_context]
            disk[file.path] = code.commented(pristine[file.path], lines)
    return VariantSource("placebo-text", VariantKind.PLACEBO_TEXT, disk, disk)
