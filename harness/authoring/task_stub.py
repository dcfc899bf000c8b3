"""`testwright task stub`: a task's removals, made of the names of the symbols to be taken out."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import uuid4

from harness.authoring.file_diff import file_diff
from harness.languages.compile_check import compile_each
from harness.languages.registry import language_of
from harness.languages.stubbing import CannotStub, StubKind, Stubs
from harness.languages.toolchain import BuildContext
from harness.runs.engine_session import engine_session
from harness.runs.interruption import run_to_end
from harness.sandbox.git_tree import GitTree
from harness.specs.errors import UserError
from harness.specs.stub_facts import StubbedPatch
from harness.specs.task import Task

PATCHES = {StubKind.REFUSES: "removal.patch", StubKind.GARBAGE: "garbage.patch"}
Files = Mapping[str, bytes]


def stub_task(task: Task, symbols: Sequence[str], anew: bool, write: bool) -> list[StubbedPatch]:
    """Both removals, compiled in the task's image. Written where `write` says so and both compile.

    Raises UserError where a symbol isn't there or can't be taken out, and where a removal is there already.
    """
    there = [name for name in PATCHES.values() if task.path(name).exists()]
    if there and write and not anew:
        raise UserError(f"{task.path(there[0])}: is there already; --replace writes it anew, --show only shows")
    made = run_to_end(_stub(task, symbols))
    if not (write and all(patch.compiles for patch in made)):
        return made
    for patch in made:
        patch.path.write_bytes(patch.diff.encode("utf-8", "surrogateescape"))
    return [replace(patch, is_written=True) for patch in made]


async def _stub(task: Task, symbols: Sequence[str]) -> list[StubbedPatch]:
    stubs = language_of(task.repo).stubs
    if stubs is None:
        raise UserError(f"{task.id}: nothing makes stubs in {task.repo.language}; write removal.patch yourself")
    async with engine_session("docker", uuid4().hex) as session:
        image = await session.engine.image(task)
        tree = GitTree(image.tree)
        wanted = await _by_file(tree, task, symbols)
        before = await _texts(tree, wanted)
        texts = {kind: _stubbed(stubs, before, wanted, kind) for kind in StubKind}
        variants = [files for files, _ in texts.values()]
        said = await compile_each(BuildContext(session.engine, image, session.labels), stubs.COMPILE, variants)
    return [
        StubbedPatch(kind.value, task.path(PATCHES[kind]), _diff(before, files), warnings, words)
        for (kind, (files, warnings)), words in zip(texts.items(), said, strict=True)
    ]


def _stubbed(
    stubs: Stubs, before: Files, wanted: Mapping[str, Sequence[str]], kind: StubKind
) -> tuple[Files, tuple[str, ...]]:
    made = {path: stubs.stub(before[path], path, names, kind) for path, names in wanted.items()}
    if all(made[path].text == before[path] for path in made):
        raise CannotStub(f"{PATCHES[kind]} would change nothing: name a function that is no constructor as well")
    warnings = tuple(f"{path}: {warning}" for path, stubbed in made.items() for warning in stubbed.warnings)
    return {path: stubbed.text for path, stubbed in made.items()}, warnings


async def _by_file(tree: GitTree, task: Task, symbols: Sequence[str]) -> dict[str, list[str]]:
    """File -> names of functions in it. Raises UserError for a symbol that isn't written `MODULE:NAME`."""
    paths = list(await tree.entries())
    wanted: dict[str, list[str]] = {}
    for symbol in symbols:
        module, separator, name = symbol.partition(":")
        if not (module and separator and name):
            raise UserError(f"{symbol!r}: write MODULE:NAME, such as aiosmtpd/smtp.py:SMTP.push")
        wanted.setdefault(_file_of(module, paths, task), []).append(name)
    return wanted


def _file_of(module: str, paths: Sequence[str], task: Task) -> str:
    """The file of a path or of a dotted name. Raises UserError."""
    suffixes = language_of(task.repo).suffixes
    dotted = module.replace(".", "/")
    forms = [module, *(f"{dotted}{end}" for suffix in suffixes for end in (suffix, f"/__init__{suffix}"))]
    found = [path for path in paths if path in forms or any(path.endswith(f"/src/{form}") for form in forms)]
    if len(found) == 1 and found[0].endswith(suffixes):
        return found[0]
    near = difflib.get_close_matches(module, [path for path in paths if path.endswith(suffixes)], n=3, cutoff=0.5)
    hint = f"; did you mean {', '.join(near)}?" if near else ""
    raise UserError(f"{module}: no such module in the tree of {task.id}{hint}")


async def _texts(tree: GitTree, wanted: Mapping[str, object]) -> dict[str, bytes]:
    entries = await tree.entries()
    return await tree.read_all({path: entries[path] for path in wanted})


def _diff(before: Files, after: Files) -> str:
    """In git's form, by path, without the ids of blobs."""
    return "".join(
        file_diff(path, before[path], after[path]) for path in sorted(after) if after[path] != before[path]
    )
