"""The implementations that cases are played on: two correct ones, and mutants. All of it is text on disk.

No text needs to be kept from a submission here: its cases are data, and nothing of it runs.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.judging.languages.toolchain import CompiledVariant, JobContext, SuiteBuilder
from harness.judging.languages.variant_source import VariantSource
from harness.judging.verify.arms import ArmContext, Suite
from harness.judging.verify.evidence import BASELINE
from harness.judging.verify.task_texts import changed_by
from harness.plugins.design.design_file import PLAY, SUBJECT, Change, MutantSpec, changed, line_with
from harness.plugins.design.played import Case, played
from harness.plugins.design.task import DESIGN, IN_CONTAINER, DesignTask, test_ids
from harness.sandbox.git_tree import GitTree
from harness.specs.errors import UserError
from harness.specs.variants import Variant, VariantKind

OTHER = "correct-b"
"""The second correct implementation, which differs from the first wherever the requirement is silent."""
# Variants have the times of the image's files: bytecode that lies beside those would be taken for theirs.
_RUN = b'#!/bin/sh\nexec python3 -B -X pycache_prefix=/nowhere "${0%/*}/adapter.py" "$@"\n'
_FRAMES = {"python": ("adapter.py",)}
OWN_FRAME = "own"
"""The frame of an adapter that is a program of the task's, in any language."""


def adapter_files(task: DesignTask) -> dict[str, bytes]:
    """Return adapter and, where the task has one of its own, the correct implementation: path -> bytes."""
    if task.design.frame not in (*_FRAMES, OWN_FRAME):
        path, known = task.path(DESIGN), ", ".join((*_FRAMES, OWN_FRAME))
        where = f"{path}:{line_with(path, 'frame:')}"
        raise UserError(f"{where}: frame: unknown frame {task.design.frame!r}; known: {known}")
    shared = _FRAMES.get(task.design.frame, ())
    files = {f"{PLAY}/{name}": (IN_CONTAINER / name).read_bytes() for name in shared}
    files |= {f"{PLAY}/run": _RUN} if shared else {}
    files |= own_adapter_files(task)
    if missing := [name for name in (f"{PLAY}/run", *([SUBJECT] if shared else [])) if name not in files]:
        path = task.directory / "adapter" / missing[0].removeprefix(f"{PLAY}/")
        raise UserError(f"{path}: the adapter needs it, and it isn't there")
    return files


def own_adapter_files(task: DesignTask) -> dict[str, bytes]:
    """Return the files that a task brings for its adapter: path -> bytes."""
    own = task.directory / "adapter"
    found = {path for path in own.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    return {f"{PLAY}/{path.relative_to(own).as_posix()}": path.read_bytes() for path in found}


async def texts_of(task: DesignTask, tree: GitTree | None) -> dict[str, str]:
    """Return the texts that a task's changes may be of: the adapter's, and those that they name in a tree.

    Raises:
        UserError: The adapter is incomplete.
    """
    files = adapter_files(task)
    entries = await tree.entries() if tree else {}
    wanted = {change.file for change in _changes(task)} & entries.keys()
    read = await tree.read_all({path: entries[path] for path in wanted}) if tree else {}
    return {path: data.decode() for path, data in {**files, **read}.items() if _is_text(data)}


class DesignToolchain:
    """See `Toolchain`. Whatever must be built, `run` builds."""

    separates = False
    replaced = ()
    suites: SuiteBuilder | None = None

    def __init__(self, task: DesignTask) -> None:
        self._task = task

    async def compile(self, _context: JobContext, sources: Sequence[VariantSource], /) -> list[CompiledVariant]:
        """Return the variants as they are, each with a proof of what lies there."""
        files = adapter_files(self._task)
        return [_compiled(source, files) for source in sources]


def _compiled(source: VariantSource, files: Mapping[str, bytes]) -> CompiledVariant:
    laid = {**files, **source.disk}
    return CompiledVariant(
        variant=Variant(
            name=source.name, kind=source.kind, source=source.disk, code=laid, criterion=source.criterion
        ),
        prove=("sha256sum", "--", *sorted(laid)),
        proof=tuple(f"{hashlib.sha256(data).hexdigest()}  {path}" for path, data in sorted(laid.items())),
        executable=frozenset({f"{PLAY}/run"}),
    )


@dataclass(frozen=True)
class Bench:
    """The place where cases of a task are played, and the texts that its variants change."""

    context: ArmContext
    texts: Mapping[str, str]

    @classmethod
    async def of(cls, task: DesignTask, context: ArmContext) -> "Bench":
        """Return the stage of a task: its base's image, or the one that its agents have.

        Raises:
            UserError: The task's adapter is incomplete, or the engine can't have the base's image.
            ImageUnavailable: The base's image couldn't be made.
        """
        if task.base is not None:
            context = replace(context, image=await context.engine.image(task.base))
        return cls(context, await texts_of(task, GitTree(context.image.tree)))

    async def compile(self, task: DesignTask, mutants: Iterable[MutantSpec]) -> dict[str, CompiledVariant]:
        """Return both correct implementations and these mutants, by name.

        Raises:
            UserError: A change fits no place.
        """
        path = task.path(DESIGN)
        sources = [
            VariantSource(BASELINE, VariantKind.BASELINE, disk={}, code={}),
            _source(OTHER, VariantKind.TWIN, changed(self.texts, task.design.silences, path)),
        ]
        tree = GitTree(self.context.image.tree)
        sources += [await self._mutant(task, mutant, tree) for mutant in mutants]
        compiled = await DesignToolchain(task).compile(self.context, sources)
        return {item.variant.name: item for item in compiled}

    async def _mutant(self, task: DesignTask, mutant: MutantSpec, tree: GitTree) -> VariantSource:
        name = f"probe-{mutant.id}"
        if not mutant.probe:
            made = changed(self.texts, [mutant.change], task.path(DESIGN))
            return _source(name, VariantKind.PROBE, made, mutant.rule)
        assert task.base is not None  # design.yaml is read so
        path = task.base.path("probes") / f"{mutant.probe}.patch"
        if not path.is_file():
            raise UserError(f"{task.path(DESIGN)}: {mutant.id}: {task.base.id} has no probe {mutant.probe!r}")
        files = await changed_by(tree, path)
        return VariantSource(name, VariantKind.PROBE, disk=files, code=files, criterion=mutant.rule)


def _changes(task: DesignTask) -> list[Change]:
    return [*task.design.silences, *(mutant.change for mutant in task.design.mutants if mutant.find)]


def _source(name: str, kind: VariantKind, texts: Mapping[str, str], rule: str = "") -> VariantSource:
    files = {path: text.encode() for path, text in texts.items()}
    return VariantSource(name, kind, disk=files, code=files, criterion=rule)


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def suite(file: str, cases: tuple[Case, ...]) -> Suite:
    """Return cases as arms play them."""
    return Suite(tests=test_ids(file, cases), files={f"{PLAY}/cases": played(cases)})
