"""Makes a task with a bug from a task's probe: all of it but what a person must write.

upstream's tree, withheld tests taken out
  + other text of the code (the placebo, where it leaves room for decoys)
  + twins as decoys          -> the fixed tree
  + the probe                -> the agent's tree
"""

import re
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from harness.plugins.bug.task import FIX, PLAIN, PLAIN_BUG
from harness.sandbox.git import GitError
from harness.sandbox.git_tree import GitTree
from harness.sandbox.images.task_images import repo_image
from harness.specs.errors import UserError
from harness.specs.task import Probe, Task, Twin

MOST_DECOYS = 4
FEWEST_DECOYS = 2
MOST_ALTERNATIVES = 3


@dataclass(frozen=True)
class Trees:
    """Ids of trees, all in the git directory of the base task's tree."""

    fixed: str
    buggy: str
    decoys: tuple[str, ...]
    alternatives: tuple[tuple[str, str], ...]
    plain: str = "HEAD"
    plain_bug: str = ""


def probe_named(task: Task, name: str) -> Probe:
    """Return a task's probe.

    Raises:
        UserError: The task has no such probe.
    """
    for probe in task.probes:
        if probe.name == name:
            return probe
    known = ", ".join(probe.name for probe in task.probes) or "none"
    raise UserError(f"task {task.id} has no probe {name!r}; known: {known}")


async def plant(tree: GitTree, task: Task, probe: Probe, seed: int) -> Trees:
    """Return the trees of a bug, planted in the tree of its base task.

    Decoys are twins of other probes, drawn by `seed` among those that still fit. Alternatives are the probe's own
    twins: other text at the very place of the bug.

    Raises:
        UserError: There is no alternative.
    """
    found = await _on_placebo(tree, task, probe, seed)
    if found is None or len(found.decoys) < FEWEST_DECOYS:
        plain = await _with_decoys(tree, task, probe, "HEAD", probe.path, seed)
        found = plain if found is None or len(plain.decoys) > len(found.decoys) else found
    own = [twin for twin in task.twins if twin.probe == probe.name]
    alternatives = [item async for item in _alternatives(tree, found.fixed, own)]
    if not alternatives:
        words = "no twin of this probe fits the tree, so no other fix of it is known; write a twin first"
        raise UserError(f"{probe.path}: {words}")
    plain_bug = await tree.apply(probe.path.read_bytes())
    chosen = tuple(alternatives[:MOST_ALTERNATIVES])
    return Trees(found.fixed, found.buggy, found.decoys, chosen, plain_bug=plain_bug)


async def _on_placebo(tree: GitTree, task: Task, probe: Probe, seed: int) -> Trees | None:
    """Return the trees upon the placebo's text; None where there is none, or the probe doesn't fit it."""
    if not task.has_authored_placebo:
        return None
    patch = task.probe_on_placebo(probe) or probe.path
    try:
        placebo = await tree.apply(task.patch("placebo.patch"))
        return await _with_decoys(tree, task, probe, placebo, patch, seed)
    except GitError:
        return None


async def _with_decoys(tree: GitTree, task: Task, probe: Probe, text: str, patch: Path, seed: int) -> Trees:
    fixed, buggy = text, await tree.apply(patch.read_bytes(), onto=text)
    decoys: list[Twin] = []
    others = [twin for twin in task.twins if twin.probe != probe.name]
    for twin in Random(seed).sample(others, len(others)):
        if len(decoys) == MOST_DECOYS:
            break
        if any(twin.probe == other.probe for other in decoys):
            continue
        try:
            with_it = [await tree.apply(twin.path.read_bytes(), onto=onto) for onto in (fixed, buggy)]
        except GitError:
            continue
        [fixed, buggy] = with_it
        decoys.append(twin)
    return Trees(fixed, buggy, tuple(sorted(twin.name for twin in decoys)), ())


async def _alternatives(tree: GitTree, fixed: str, twins: Sequence[Twin]) -> AsyncIterator[tuple[str, str]]:
    """Yield name and tree of each twin upon the fixed text, or upon upstream's where it doesn't fit."""
    for twin in twins:
        for name, onto in ((f"twin-{twin.name}", fixed), (f"upstream-{twin.name}", "HEAD")):
            try:
                yield name, await tree.apply(twin.path.read_bytes(), onto=onto)
            except GitError:
                continue
            break


async def write_patches(tree: GitTree, task: Task, trees: Trees, directory: Path) -> None:
    """Write every patch of a bug's task that follows from its trees."""
    (directory / "alternatives").mkdir(parents=True, exist_ok=True)
    (directory / "withheld.patch").write_bytes(await _from_upstream(tree, task, trees.buggy))
    wanted = {FIX: trees.fixed, PLAIN: trees.plain, PLAIN_BUG: trees.plain_bug}
    wanted |= {f"alternatives/{name}.patch": each for name, each in trees.alternatives}
    for name, each in wanted.items():
        patch = await tree.diff(each, trees.buggy)
        if patch:
            (directory / name).write_bytes(patch)
        else:  # the tree has upstream's own text
            (directory / name).unlink(missing_ok=True)


async def _from_upstream(tree: GitTree, task: Task, buggy: str) -> bytes:
    """Return the patch from upstream's complete tree to the agent's."""
    upstream = GitTree((await repo_image(task.repo)).tree)
    without = await upstream.apply(task.patch("withheld.patch"))
    return await upstream.diff(await upstream.apply(await tree.diff(buggy), onto=without))


def removed_lines(text: bytes, ranges: Sequence[tuple[int, int]]) -> bytes:
    """Return a text without some ranges of its lines, counted from 1, and without the blank lines before them."""
    lines: list[bytes | None] = list(text.splitlines(keepends=True))
    for first, last in ranges:
        lines[first - 1 : last] = [None] * (last - first + 1)
        above = first - 2
        while above >= 0 and lines[above] is not None and not (lines[above] or b"").strip():
            lines[above] = None
            above -= 1
    return b"".join(line for line in lines if line is not None)


_GROUP = re.compile(rb"^([ \t]*)describe\b.*\n(?:.*\n)*?\1\}\);?\n", re.MULTILINE)
_HAS_TEST = re.compile(rb"^\s*(?:test|it)\b", re.MULTILINE)


def without_empty_groups(text: bytes) -> bytes:
    """Return a TypeScript file without the `describe` blocks that have no test: vitest fails those."""
    left = _GROUP.sub(_group_with_tests, text)
    return re.sub(rb"\{\n{2,}", b"{\n", re.sub(rb"\n{3,}", b"\n\n", left)).rstrip() + b"\n"


def _group_with_tests(group: re.Match[bytes]) -> bytes:
    if not _HAS_TEST.search(group[0]):
        return b""
    head, line_end, inside = group[0].partition(b"\n")
    return head + line_end + _GROUP.sub(_group_with_tests, inside)


def without_empty_classes(text: bytes) -> bytes:
    """Return a Python file without the classes that have nothing in them: these are no Python."""
    lines = text.splitlines(keepends=True)
    kept = [
        line
        for number, line in enumerate(lines)
        if not (_CLASS.match(line) and _indentation(_next_of(lines, number)) <= _indentation(line))
    ]
    return re.sub(rb"\n{4,}", b"\n\n\n", b"".join(kept)).rstrip() + b"\n"


_CLASS = re.compile(rb"[ \t]*class\b.*:\s*$")


def _next_of(lines: Sequence[bytes], number: int) -> bytes:
    """Return the next line that isn't blank; an empty one at the end."""
    return next((line for line in lines[number + 1 :] if line.strip()), b"")


def _indentation(line: bytes) -> int:
    return len(line) - len(line.lstrip())


def go_imports_in_use(text: bytes) -> bytes:
    """Return a Go file without the imports that nothing of it names: the compiler refuses those."""
    return b"".join(_go_lines(text))


def _go_lines(text: bytes) -> Iterator[bytes]:
    for line in text.splitlines(keepends=True):
        words = line.split()
        if words and words[-1].startswith(b'"') and words[-1].endswith(b'"') and len(words) <= 2 and b"(" not in line:
            name = words[0] if len(words) == 2 else words[-1].strip(b'"').rpartition(b"/")[2]
            if name not in (b"_", b".", b"import") and name + b"." not in text:
                continue
        yield line
