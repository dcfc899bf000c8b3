"""A check that a task has exactly its files, and that each patch does what its kind must do."""

import ast
import re
import warnings
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from harness.authoring.task_check.subject import Subject
from harness.authoring.twin_skeletons import MARK
from harness.judging.submission import policy
from harness.sandbox.git import GitError
from harness.sandbox.git_tree import Change, Entry, GitTree
from harness.specs.errors import UserError
from harness.specs.problem import Problem, Severity

NEEDED = (
    "prompt.md", "removal.patch", "withheld.patch", "reference/tests.patch", "reference/manifest.yaml",
    "reference/covers.yaml",
)  # fmt: skip
_PROBE = r"[1-5]\.\d{1,2}(-[a-z0-9]+)?"
_KNOWN = re.compile(
    rf"task\.yaml|placebo\.patch|garbage\.patch|(probes|probes-on-placebo)/{_PROBE}\.patch|twins/{_PROBE}(_\d)?\.patch"
    r"|fuzz/[^/]+"
)
CANARY = re.compile(r"canary [0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
PROMPT_MARK = "TODO: say in a colleague's words"
"""How the line begins that stands in a prompt until its author has written one."""
LARGE_PROBE = 40
"""Changed lines: a probe is a small mutant."""


async def file_problems(subject: Subject) -> list[Problem]:
    """Return files that are missing, files that belong to no task, and the canary."""
    others = subject.catalog.directory.glob("tasks/*/task.yaml")
    return [*odd_files(subject, NEEDED, _KNOWN), *canary_problems(subject, others)]


def odd_files(subject: Subject, needed: Collection[str], known: re.Pattern[str]) -> Iterator[Problem]:
    """Yield files that are missing, those that are neither needed nor known, and those that nobody has filled in."""
    folder = subject.task.directory
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    for name in needed:
        if name not in there:
            yield Problem(where=subject.at(name), message="is missing")
    for name in sorted(there - set(needed)):
        if not known.fullmatch(name):
            words = "is no file of a task (its digest would cover it); remove it"
            yield Problem(where=subject.at(name), message=words)
    yield from _skeletons(subject, sorted(there))


def _skeletons(subject: Subject, names: list[str]) -> Iterator[Problem]:
    """Yield what testwright laid out and nobody has filled in."""
    for name in names:
        # A prompt may well ask for tests of lists of TODOs.
        laid_out = {"prompt.md": PROMPT_MARK, "fuzz": "TODO", "twins": MARK}
        mark = laid_out.get(name.partition("/")[0], "")
        if mark and mark in (subject.task.directory / name).read_text(errors="replace"):
            words = "is still a skeleton: do what its TODO says, and take that line out"
            yield Problem(where=subject.at(name, mark), message=words)


def canary_problems(subject: Subject, others: Iterable[Path]) -> Iterator[Problem]:
    """Yield what is wrong with a task's canary; `others` are the descriptions of tasks that may have the same."""
    where, mine = subject.at("task.yaml", "canary:"), subject.task.file.canary
    if not mine:
        words = "has no canary, by which a leak into training data shows"
        yield Problem(where=where, message=words, fixable=subject.takes_fixes)
        return
    found = CANARY.search(mine)
    if not found:
        yield Problem(where=where, message="its canary is not of the form 'canary UUID'")
    drawn = found.group() if found else mine
    for path in others:
        if path.parent != subject.task.directory and drawn in path.read_text(errors="replace"):
            yield Problem(where=where, message=f"its canary is also that of {path.parent.name}")


def other_descriptions(subject: Subject, folders: Iterable[Path]) -> Iterator[Path]:
    """Yield the descriptions of other tasks: of the catalog, and those that lie in one of these folders.

    One of the same id in a folder is the task itself, or a copy of it.
    """
    yield from subject.catalog.directory.glob("tasks/*/task.yaml")
    for folder in dict.fromkeys(folders):
        others = (path for path in folder.glob("*/task.yaml") if path.is_file())
        yield from (path for path in others if path.parent.name != subject.task.id)


class Fault(NamedTuple):
    """A place of a file that isn't Python."""

    line: int
    words: str


@cache
def python_fault(text: bytes) -> Fault | None:
    """Return where a text isn't Python; None where all of it is."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as error:
        return Fault(error.lineno or 1, f"isn't Python: {error.msg}")
    except ValueError as error:
        return Fault(1, f"isn't Python: {error}")
    except (RecursionError, MemoryError):
        return Fault(1, "is nested too deeply to be read")
    return None


_Difference = frozenset[tuple[str, Entry | None]]
"""The entries of a tree that HEAD hasn't, by path: the same for two trees that are the same."""


class _Base(NamedTuple):
    """A tree that patches are applied to, by its id, and what differs between HEAD and it."""

    tree: str
    changes: Sequence[Change] = ()


def _difference(base: _Base, changes: Sequence[Change]) -> _Difference:
    """Return what differs between HEAD and a tree with these changes upon a base."""
    before = {change.path: change.old for change in (*changes, *base.changes)}
    after = {change.path: change.new for change in (*base.changes, *changes)}
    return frozenset((path, new) for path, new in after.items() if new != before[path])


async def patch_problems(subject: Subject) -> list[Problem]:
    """Apply every patch to the task's tree and take it back; return where that fails."""
    if subject.tree is None:
        build = f"testwright repo build {subject.task.repo.name}"
        words = f"no patch was applied: this machine has no tree of the repository yet; {build}"
        return [Problem(where=subject.at("task.yaml"), message=words, severity=Severity.WARNING)]
    found = [problem async for problem in _withheld(subject, subject.tree)]
    trees: dict[_Difference, Path] = {}
    base = _Base(await subject.tree.tree_id())
    for path in _variant_patches(subject):
        found += [problem async for problem in _variant(subject, subject.tree, path, trees, base)]
    return [*found, *[problem async for problem in _on_placebo(subject, subject.tree, trees)]]


def _variant_patches(subject: Subject) -> list[Path]:
    named = [subject.task.directory / name for name in ("removal.patch", "garbage.patch", "placebo.patch")]
    mutants = [*(probe.path for probe in subject.task.probes), *(twin.path for twin in subject.task.twins)]
    return [path for path in (*named, *mutants) if path.is_file()]


async def _withheld(subject: Subject, tree: GitTree) -> AsyncIterator[Problem]:
    where = subject.at("withheld.patch")
    try:
        upstream = await tree.apply(subject.task.patch("withheld.patch"), reverse=True)
    except (GitError, UserError) as error:
        yield Problem(where=where, message=f"can't be taken back from the task's tree: {error}")
        return
    for change in await tree.changes(upstream):
        if not policy.is_test_path(subject.task.repo, change.path):
            words = f"touches {change.path}, which is no test; a task withholds tests and what only they use"
            yield Problem(where=where, message=words, severity=Severity.WARNING)


async def _on_placebo(subject: Subject, tree: GitTree, trees: dict[_Difference, Path]) -> AsyncIterator[Problem]:
    """Yield the probes that lie upon the authored placebo."""
    paths = [path for probe in subject.task.probes if (path := subject.task.probe_on_placebo(probe))]
    if not (paths and subject.task.has_authored_placebo):
        return
    try:
        made = await tree.apply(subject.task.patch("placebo.patch"))
    except GitError:  # said of the placebo itself
        return
    placebo = _Base(made, await tree.changes(made))
    for path in paths:
        async for problem in _variant(subject, tree, path, trees, placebo):
            yield problem


async def _variant(
    subject: Subject, tree: GitTree, path: Path, trees: dict[_Difference, Path], base: _Base
) -> AsyncIterator[Problem]:
    """Yield the problems of a patch to a tree; `trees` has what earlier ones made: two may make the same."""
    where = subject.at(path.relative_to(subject.task.directory).as_posix())
    try:
        changes, is_back = await tree.changes_and_back(path.read_bytes(), base.tree)
    except GitError as error:
        under = "the tree with placebo.patch" if path.parent.name == "probes-on-placebo" else "the task's tree"
        yield Problem(where=where, message=f"doesn't apply to {under} and back: {error}")
        return
    if not changes or not is_back:
        yield Problem(where=where, message="changes nothing, or something else than itself when it is taken back")
    for change in changes:
        if change.old is None or change.new is None:
            yield Problem(where=where, message=f"adds or deletes {change.path}; it may only change what is there")
        if policy.is_test_path(subject.task.repo, change.path) or policy.is_runner_file(
            subject.task.repo, change.path
        ):
            yield Problem(where=where, message=f"touches {change.path}; it may only change production code")
    made = _difference(base, changes)
    if made in trees:
        yield Problem(where=where, message=f"makes the same code as {_named(trees[made])}")
    trees.setdefault(made, path)
    size = changed_lines(path.read_bytes())
    if path.parent.name in ("probes", "probes-on-placebo") and size > LARGE_PROBE:
        words = f"changes {size} lines; a probe is a small mutant"
        yield Problem(where=where, message=words, severity=Severity.WARNING)


def changed_lines(patch: bytes) -> int:
    """Return how many lines a patch adds or takes out."""
    return sum(line[:1] in (b"+", b"-") and line[:3] not in (b"+++", b"---") for line in patch.splitlines())


def _named(path: Path) -> str:
    """Return a patch's shortest distinct name: `removal.patch`, `1.1.patch`, `twins/1.1.patch`."""
    return f"{path.parent.name}/{path.name}" if path.parent.name in ("twins", "probes-on-placebo") else path.name
