"""Lines that identify a task's secrets: rubric, removal, probes, reference, withheld tests."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from harness.sandbox.git_tree import GitTree
from harness.specs.task import Task

SHORTEST = 24
"""Characters of a line: shorter ones come up by chance."""
MOST = 6
"""Lines of one secret that are looked for, the longest ones."""
ENOUGH = 3
"""Lines of one secret in one file don't meet by chance; a secret that has fewer shows by all that it has."""


@dataclass(frozen=True)
class Secret:
    """`name` is the file it is in; `enough` of its `lines` give it away."""

    name: str
    lines: frozenset[bytes]
    enough: int

    def shows_in(self, data: bytes) -> bool:
        """Looks for no more lines than it takes to be sure: much of what is searched is large and has none."""
        misses = len(self.lines) - self.enough
        for line in self._ordered:
            misses -= line not in data
            if misses < 0:
                return False
        return True

    @cached_property
    def _ordered(self) -> tuple[bytes, ...]:
        return tuple(self.lines)


async def secrets_of(task: Task, tree: GitTree) -> list[Secret]:
    """What the agent's own tree or prompt has as well is no secret; what has no line of its own is left out."""
    entries = await tree.entries()
    present = b"\n".join((await tree.read_all(entries)).values()) + task.prompt.encode()
    statements = {" ".join(criterion.statement.split()) for criterion in task.rubric.criteria}
    found = [
        _secret("the rubric", statements, present, enough=1),
        _secret("task.yaml", {task.file.canary} - {""}, present, enough=1),
        _secret("removal.patch", _added(task.patch("removal.patch")), present),
        _secret("reference/tests.patch", _added(task.patch("reference/tests.patch")), present),
        _secret("withheld.patch", _taken_out(task.patch("withheld.patch")), present),
    ]
    mutants = [*(probe.path for probe in task.probes), *(twin.path for twin in task.twins)]
    mutants += [task.path(name) for name in ("garbage.patch", "placebo.patch") if task.path(name).is_file()]
    for path in mutants:
        name = path.relative_to(task.directory).as_posix()
        found.append(_secret(name, _added(path.read_bytes()), present))
    return [secret for secret in found if secret.lines]


def _secret(name: str, lines: Iterable[str], present: bytes, enough: int = ENOUGH) -> Secret:
    own = {line.encode("utf-8", "surrogateescape") for line in lines if len(line) >= SHORTEST}
    longest = sorted((line for line in own if line not in present), key=lambda line: (-len(line), line))[:MOST]
    return Secret(name, frozenset(longest), min(enough, len(longest)))


def _added(patch: bytes) -> set[str]:
    return _marked(patch, "+", "+++")


def _taken_out(patch: bytes) -> set[str]:
    return _marked(patch, "-", "---")


def _marked(patch: bytes, mark: str, head: str) -> set[str]:
    lines = patch.decode("utf-8", "surrogateescape").splitlines()
    return {line[1:].strip() for line in lines if line.startswith(mark) and not line.startswith(head)}
