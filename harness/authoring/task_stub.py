"""`testwright task stub` makes removals from the names of symbols, `testwright task probe` makes mutants probes."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from uuid import uuid4

from harness.judging.languages.registry import language_of
from harness.judging.languages.stubbing import CannotStub, StubKind, Stubs
from harness.judging.languages.toolchain import JobContext, compile_each
from harness.judging.submission.extraction import Submission
from harness.judging.verify.mutants.candidates import MutantCandidate, removed_code
from harness.judging.verify.mutants.records import MutantsFile
from harness.judging.verify.mutants.running import MutantOrder, run_mutants
from harness.runs.concurrency import run_to_end
from harness.runs.engine_session import EngineSession, engine_session
from harness.sandbox.git_tree import GitTree
from harness.sandbox.images.task_images import repo_image
from harness.specs.authoring_facts import StubbedPatch
from harness.specs.errors import UserError
from harness.specs.repo import Repo, matches
from harness.specs.task import Task


@dataclass(frozen=True)
class StubSample:
    """Results of stubbing some functions.

    `refused` are functions that can't be stubbed, with the reason; `broken` stubs that the compiler refuses.
    """

    repo: str
    functions: int
    stubs: int
    refused: tuple[str, ...]
    broken: tuple[str, ...]

    @property
    def compiling(self) -> int:
        return self.stubs - len(self.broken)


async def sample_stubs(session: EngineSession, repo: Repo, count: int, seed: int) -> StubSample:
    """Stub `count` functions of a repository's code, tests left out.

    Raises:
        UserError: The language has no stubs.
        SandboxLost: A container was lost.
    """
    language = language_of(repo)
    stubs = language.stubs
    if stubs is None:
        raise UserError(f"{repo.name}: nothing makes stubs in {repo.language}")
    image = await repo_image(repo)
    tree = GitTree(image.tree)
    entries = await tree.entries()
    code = {path: entry for path, entry in entries.items()
            if language.code.is_code(path) and not matches(path, repo.test_paths)}  # fmt: skip
    texts = await tree.read_all(code)
    known = sorted((path, name) for path, text in texts.items() for name in stubs.symbols(text, path))
    drawn = Random(seed).sample(known, min(count, len(known)))
    made: list[tuple[str, dict[str, bytes]]] = []
    refused: list[str] = []
    for path, name in drawn:
        try:
            both = {kind: stubs.stub(texts[path], path, [name], kind).text for kind in StubKind}
        except CannotStub as reason:
            refused.append(str(reason))
            continue
        made += [(f"{path}: {name} ({kind})", {path: text}) for kind, text in both.items()]
    said = await compile_each(
        JobContext(session.engine, image, session.labels), stubs.COMPILE, [files for _, files in made]
    )
    broken = tuple(f"{what}: {words}" for (what, _), words in zip(made, said, strict=True) if words)
    return StubSample(repo.name, len(drawn), len(made), tuple(refused), broken)


def rate(samples: Sequence[StubSample]) -> float:
    """Return the share of stubs that compile at the first try."""
    return sum(each.compiling for each in samples) / max(1, sum(each.stubs for each in samples))


def file_diff(path: str, old: bytes, new: bytes) -> str:
    """Return one file's change in git's form, without the ids of blobs.

    Lines end with a line feed and nothing else.
    """
    sides = [text.decode("utf-8", "surrogateescape").split("\n") for text in (old, new)]
    lines = [[f"{line}\n" for line in side[:-1]] + [side[-1]] * bool(side[-1]) for side in sides]
    found = difflib.unified_diff(lines[0], lines[1], f"a/{path}", f"b/{path}")
    whole = (line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in found)
    return f"diff --git a/{path} b/{path}\n" + "".join(whole)


PATCHES = {StubKind.REFUSES: "removal.patch", StubKind.GARBAGE: "garbage.patch"}
Files = Mapping[str, bytes]


def stub_task(task: Task, symbols: Sequence[str], anew: bool, write: bool) -> list[StubbedPatch]:
    """Make both removals, compiled in the task's image.

    Args:
        task: Whose.
        symbols: The functions to take out: `MODULE:NAME`.
        anew: Whether removals that are there may be replaced.
        write: Whether to write them, if both compile.

    Raises:
        UserError: A symbol isn't there or can't be taken out, or a removal is there already.
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
        said = await compile_each(JobContext(session.engine, image, session.labels), stubs.COMPILE, variants)
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
    """Return file -> functions in it, raising UserError for a symbol that isn't written `MODULE:NAME`."""
    paths = list(await tree.entries())
    wanted: dict[str, list[str]] = {}
    for symbol in symbols:
        module, separator, name = symbol.partition(":")
        if not (module and separator and name):
            raise UserError(f"{symbol!r}: write MODULE:NAME, such as aiosmtpd/smtp.py:SMTP.push")
        wanted.setdefault(_file_of(module, paths, task), []).append(name)
    return wanted


def _file_of(module: str, paths: Sequence[str], task: Task) -> str:
    """Return the file of a path or of a dotted name. Raises UserError."""
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
    """Return a patch in git's form, by path, without the ids of blobs."""
    return "".join(
        file_diff(path, before[path], after[path]) for path in sorted(after) if after[path] != before[path]
    )


def reference_mutants(task: Task, order: MutantOrder) -> MutantsFile:
    """Run the reference on mutants of the code that the removal takes out.

    Raises:
        UserError: There can be no mutants of this task.
        SandboxLost: A container was lost.
    """
    return run_to_end(_reference_mutants(task, order))


async def _reference_mutants(task: Task, order: MutantOrder) -> MutantsFile:
    patch, manifest = task.patch("reference/tests.patch"), task.patch("reference/manifest.yaml")
    async with engine_session("docker", uuid4().hex) as session:
        image = await session.engine.image(task)
        context = session.arm_context(task, image)
        return await run_mutants(task, Submission(patch, manifest), context, order)


def tests_for(task: Task, criterion: str) -> frozenset[str]:
    """Return the reference tests that covers.yaml names for a criterion.

    Raises:
        UserError: There is no such criterion.
    """
    known = [item.id for item in task.rubric.criteria]
    if criterion not in known:
        raise UserError(f"{task.id}: its rubric has no criterion {criterion}; it has {', '.join(known)}")
    return frozenset(str(test) for test, criteria in task.covers.items() if criterion in criteria)


def take_mutant(task: Task, criterion: str, mutant: str, anew: bool) -> Path:
    """Store a mutant as the probe of a criterion, and return its file. No container starts but to build the image.

    Raises:
        UserError: The mutant isn't there, or a probe is there already and this isn't `anew`.
    """
    tests_for(task, criterion)
    path = task.directory / "probes" / f"{criterion}.patch"
    if path.exists() and not anew:
        raise UserError(f"{path}: is there already; --replace writes it anew")
    found = run_to_end(_candidates(task))
    chosen = next((each for each in found if each.id == mutant), None)
    if chosen is None:
        near = difflib.get_close_matches(mutant, [each.id for each in found], n=3)
        raise UserError(f"{task.id}: no mutant {mutant}{f'; did you mean {near[0]}?' if near else ''}")
    path.parent.mkdir(exist_ok=True)
    diff = file_diff(chosen.path, chosen.text, chosen.mutation.of(chosen.text))
    path.write_bytes(diff.encode("utf-8", "surrogateescape"))
    return path


async def _candidates(task: Task) -> Sequence[MutantCandidate]:
    async with engine_session("docker", uuid4().hex) as session:
        image = await session.engine.image(task)
        return (await removed_code(task, GitTree(image.tree))).mutants
