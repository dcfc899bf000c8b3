"""The mutants of the lines that a task's removal takes out, and which of them are drawn."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

from harness.languages.mutating import Mutation
from harness.languages.registry import language_of
from harness.sandbox.git_tree import GitTree
from harness.specs.errors import UserError
from harness.specs.task import Task
from harness.specs.tracks import BEHAVIOUR
from harness.verify.mutants.records import MutantRecord, Place

REMOVAL = "removal.patch"


@dataclass(frozen=True)
class Candidates:
    """`texts` are the files that the removal touches, `mutants` all that can be changed of the lines it takes out.

    `removed` are these lines, from 1, by file.
    """

    texts: Mapping[str, bytes]
    mutants: tuple["Candidate", ...]
    removed: Mapping[str, frozenset[int]]

    def drawn(self, count: int, seed: int) -> list["Candidate"]:
        """So many, in the order of the text. Of one seed a larger number has all those of a smaller one."""
        order = sorted(self.mutants, key=lambda each: hashlib.sha256(f"{seed}/{each.id}".encode()).digest())
        return sorted(order[:count], key=lambda each: (each.path, each.mutation.start, each.mutation.end, each.id))

    def of(self, candidate: "Candidate") -> dict[str, bytes]:
        """All files, with one changed."""
        return {**self.texts, candidate.path: candidate.mutation.of(self.texts[candidate.path])}


@dataclass(frozen=True)
class Candidate:
    """One mutation of one file."""

    id: str
    path: str
    mutation: Mutation
    text: bytes

    @property
    def record(self) -> MutantRecord:
        start, end = self.mutation.start, self.mutation.end
        line, column = _position(self.text, start)
        end_line, end_column = _position(self.text, end)
        return MutantRecord(
            id=self.id,
            file=self.path,
            operator=self.mutation.operator.value,
            place=Place(line=line, column=column, end_line=end_line, end_column=end_column),
            original=self.text[start:end].decode("utf-8", "replace"),
            replacement=self.mutation.replacement.decode("utf-8", "replace"),
            description=self.mutation.description,
        )


async def removed_code(task: Task, tree: GitTree) -> Candidates:
    """Raises UserError where the removal can't be read, or nobody mutates the task's language."""
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
        Candidate(mutation.identity(path, text), path, mutation, text)
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
