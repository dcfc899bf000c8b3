"""The mutants of the lines that a task's removal takes out, and how many of these lines a suite reaches.

Both are told beside a verdict and never part of it.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

from harness.judging.languages.mutating import Mutation
from harness.judging.languages.registry import language_of
from harness.judging.testing.reaching.measuring import (
    MEASURED,
    Found,
    Laid,
    Reached,
    has_branches,
    reach_job,
    read_reached,
)
from harness.judging.verify.arms import ArmContext, Suite
from harness.judging.verify.mutants.records import MutantRecord, MutantStatus, RemovedCoverage, SourceRange
from harness.sandbox.git_tree import GitTree
from harness.sandbox.options import repo_options
from harness.sandbox.protocol import LimitReached
from harness.specs.errors import SandboxLost, UserError
from harness.specs.task import Task
from harness.specs.tracks import BEHAVIOUR

REMOVAL = "removal.patch"


@dataclass(frozen=True)
class Candidates:
    """All mutants of the lines that a removal takes out; `texts` are the files that it touches.

    `removed` are these lines, from 1, by file.
    """

    texts: Mapping[str, bytes]
    mutants: tuple["MutantCandidate", ...]
    removed: Mapping[str, frozenset[int]]

    def drawn(self, count: int, seed: int) -> list["MutantCandidate"]:
        """Draw so many, in the order of the text. A larger number of the same seed has all those of a smaller one."""
        order = sorted(self.mutants, key=lambda each: hashlib.sha256(f"{seed}/{each.id}".encode()).digest())
        return sorted(order[:count], key=lambda each: (each.path, each.mutation.start, each.mutation.end, each.id))

    def of(self, candidate: "MutantCandidate") -> dict[str, bytes]:
        """Return all files, with one changed."""
        return {**self.texts, candidate.path: candidate.mutation.of(self.texts[candidate.path])}


@dataclass(frozen=True)
class MutantCandidate:
    """One mutation of one file."""

    id: str
    path: str
    mutation: Mutation
    text: bytes

    @property
    def record(self) -> MutantRecord:
        """The mutant as `mutants.json` has it."""
        start, end = self.mutation.start, self.mutation.end
        line, column = _position(self.text, start)
        end_line, end_column = _position(self.text, end)
        return MutantRecord(
            id=self.id,
            file=self.path,
            operator=self.mutation.operator.value,
            place=SourceRange(line=line, column=column, end_line=end_line, end_column=end_column),
            original=self.text[start:end].decode("utf-8", "replace"),
            replacement=self.mutation.replacement.decode("utf-8", "replace"),
            description=self.mutation.description,
        )


async def removed_code(task: Task, tree: GitTree) -> Candidates:
    """Return the mutants of the code that the task's removal takes out.

    Raises:
        UserError: The removal can't be read, or its language has no mutants.
    """
    operators = language_of(task.repo).mutation
    if task.track != BEHAVIOUR:
        raise UserError(f"{task.id}: mutants are made of a catalog's own tasks, not of {task.track} ones")
    if operators is None:
        raise UserError(f"{task.id}: nothing mutates {task.repo.language}")
    removed = _removed_lines(task)
    entries = await tree.entries()
    if absent := sorted(set(removed) - set(entries)):
        raise UserError(f"{task.path(REMOVAL)}: changes {absent[0]}, which is not in the task's tree")
    texts = await tree.read_all({path: entries[path] for path in removed})
    suffixes = language_of(task.repo).suffixes
    found = [
        MutantCandidate(mutation.identity(path, text), path, mutation, text)
        for path, text in texts.items()
        if path.endswith(suffixes)
        for mutation in operators.mutations(text, path)
        if _lines(text, mutation) <= removed[path]
    ]
    return Candidates(texts, tuple(found), removed)


def _removed_lines(task: Task) -> dict[str, frozenset[int]]:
    try:
        patch = PatchSet(task.patch(REMOVAL).decode("utf-8", "surrogateescape"))
    except UnidiffParseError as error:
        raise UserError(f"{task.path(REMOVAL)}: not a unified diff: {error}") from None
    return {file.path: frozenset(_sources(file)) for file in patch}


def _sources(file: Iterable[Iterable[object]]) -> Iterable[int]:
    for hunk in file:
        for line in hunk:
            if getattr(line, "is_removed", False):
                yield int(getattr(line, "source_line_no", 0))


def _lines(text: bytes, mutation: Mutation) -> frozenset[int]:
    first = text.count(b"\n", 0, mutation.start) + 1
    return frozenset(range(first, first + text.count(b"\n", mutation.start, mutation.end) + 1))


def _position(text: bytes, at: int) -> tuple[int, int]:
    begin = text.rfind(b"\n", 0, at) + 1
    return text.count(b"\n", 0, at) + 1, len(text[begin:at].decode("utf-8", "replace")) + 1


_DIGITS = 10
_BUILDING, _SLOWER = 60.0, 10.0
"""Seconds for what is built anew, and how much longer than an arm tests may take where lines are counted."""


@dataclass(frozen=True)
class Coverage:
    """Lines and branches that tests reach.

    `summary` is None where nothing could be counted, and `why_none` says why.

    `files` are by path.
    """

    summary: RemovedCoverage | None = None
    why_none: str = ""
    files: Mapping[str, Reached] = field(default_factory=dict)
    seconds: float = 0.0

    def of(self, mutant: MutantRecord) -> MutantRecord:
        """Return a mutant that survived where no test runs a line of it isn't covered. A killed one stays killed."""
        if mutant.status is not MutantStatus.SURVIVED or mutant.file not in self.files:
            return mutant
        file, place = self.files[mutant.file], mutant.place
        own = file.lines.intersection(range(place.line, place.end_line + 1))
        if not own or own & file.ran:
            return mutant
        return mutant.model_copy(update={"status": MutantStatus.NO_COVERAGE, "reason": "no test runs this line"})


async def removed_coverage(task: Task, context: ArmContext, suite: Suite, candidates: Candidates) -> Coverage:
    """Count, in one run of a suite's green tests, the removed lines and branches that they reach.

    Other failures are told in the result.

    Raises:
        JobsStopped: The time is over.
    """
    language = task.repo.language
    if language not in MEASURED:
        return Coverage(why_none=f"nothing counts the lines of {language}")
    if not context.engine.capabilities.separate_user:
        return Coverage(why_none=f"the sandbox {context.engine.name!r} has no place for the tools that count lines")
    chosen = [path for path in candidates.removed if path in candidates.texts]
    laid = Laid(suite.files, suite.executable, suite.removed)
    seconds = _BUILDING + _SLOWER * (suite.seconds or task.file.limits.arm_seconds)
    job = reach_job(task.repo, context.image, "suite", suite.tests, chosen, laid, seconds)
    try:
        async with context.slots:
            result = await context.run_job(job, repo_options(task.repo))
        if result.timed_out:
            return Coverage(why_none="the tests took too long where lines are counted", seconds=result.seconds)
        found = await read_reached(language, GitTree(context.image.tree), result)
    except (SandboxLost, LimitReached, UserError) as error:
        return Coverage(why_none=str(error))
    files = {path: found[path] for path in chosen if path in found}
    if not files:
        return Coverage(why_none="the tests left no word of the lines that they reach", seconds=result.seconds)
    return Coverage(summary(candidates.removed, files, has_branches(language)), "", files, result.seconds)


def summary(removed: Mapping[str, frozenset[int]], files: Found, branched: bool) -> RemovedCoverage:
    """Count the removed lines and branches that tests reach. Pure."""
    lines = {(path, line) for path, each in files.items() for line in each.lines & removed[path]}
    ran = {(path, line) for path, each in files.items() for line in each.ran & each.lines & removed[path]}
    branches = {
        (path, name) for path, each in files.items() for name in each.branches if _line(name) in removed[path]
    }
    taken = {(path, name) for path, name in branches if name in files[path].taken}
    missed = tuple(f"{path}:{line}" for path, line in sorted(lines - ran))
    return RemovedCoverage(
        lines=len(lines),
        reached=len(ran),
        branches=len(branches) if branched else None,
        taken=len(taken) if branched else None,
        missed=missed,
    )


def _line(branch: str) -> int:
    """Return the line with which a branch's name begins; 0 for a name that doesn't."""
    number = branch.partition(":")[0].partition(",")[0]
    return int(number) if number.isdecimal() and len(number) < _DIGITS else 0
