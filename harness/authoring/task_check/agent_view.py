"""A look at an agent's sandbox: nothing of the rubric, the removal, the probes or the reference may be in it.

Lines that identify a task's secrets: rubric, removal, probes, reference, withheld tests.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from harness.agents.mini import Mini
from harness.agents.registry import agent_context
from harness.authoring.image_search import FoundFile, files_of
from harness.authoring.task_check.subject import Subject
from harness.authoring.task_image_check import pack_contents
from harness.judging.submission.extraction import MAX_EXPORT_BYTES
from harness.models.replay import ScriptedModel
from harness.sandbox.archives import save_tar
from harness.sandbox.git_tree import GitTree
from harness.sandbox.options import repo_options
from harness.sandbox.protocol import AGENT_LOGS, Sandbox
from harness.specs.problem import Problem
from harness.specs.task import Task

SHORTEST = 24
"""Characters of a line: shorter ones come up by chance."""
MOST = 6
"""Lines of one secret that are looked for, the longest ones."""
ENOUGH = 3
"""Lines of one secret in one file don't meet by chance; a secret that has fewer shows by all that it has."""


@dataclass(frozen=True)
class Secret:
    """A text that agents may not see. `name` is the file it is in; `enough` of its `lines` give it away."""

    name: str
    lines: frozenset[bytes]
    enough: int

    def shows_in(self, data: bytes) -> bool:
        """Return whether enough of the secret's lines are in some bytes.

        No more lines are looked for than it takes to be sure: much of what is searched is large and has none.
        """
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
    """Return the secrets of a task: lines of its withheld files that neither the agent's tree nor the prompt has."""
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


PLACES = (AGENT_LOGS, "/etc", "/home", "/mnt", "/opt", "/root", "/run", "/srv", "/tmp", "/usr/local", "/var/tmp")
"""Beside the work tree. What lies elsewhere comes from the dependencies' image, which is built without the task."""
LOOKS = {
    "environment": "env",
    "mounts": "cat /proc/self/mountinfo",
    "processes": "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'",
    "git": "git log --all --reflog --format=raw; git stash list; git config --list",
}
_SECONDS = 60
_MOUNTS = (
    "/proc",
    "/sys",
    "/dev",
    "/etc/hosts",
    "/etc/hostname",
    "/etc/resolv.conf",
)


async def view_problems(subject: Subject) -> list[Problem]:
    """Look for secrets as `mini` would: in its messages, environment, mounts, git and files.

    Raises:
        SandboxLost: The sandbox is gone.
    """
    image, task = subject.containers.image, subject.task
    secrets = await secrets_of(task, GitTree(image.tree))
    agent = Mini(agent_context(task, subject.catalog.scaffold("mini"), ScriptedModel([])))
    told = FoundFile("the messages to the model", "\n".join(item.content for item in agent.prompts()).encode())
    found = [*_shown(subject, secrets, [told])]
    sandbox = subject.containers.engine.sandbox(image, repo_options(task.repo), subject.containers.labels)
    try:
        await sandbox.start()
        looks = {name: (await sandbox.run(command, _SECONDS)).output for name, command in LOOKS.items()}
        await sandbox.kill()
        found += _shown(subject, secrets, (FoundFile(f"its {name}", data) for name, data in looks.items()))
        found += _mounts(subject, looks["mounts"].decode(errors="replace"))
        async for archive in _exported(sandbox, (image.workdir, *PLACES)):
            found += await asyncio.to_thread(list, _shown(subject, secrets, files_of(archive)))
            async for contents in _packs(archive):
                found += _shown(subject, secrets, [contents])
    finally:
        await asyncio.shield(sandbox.remove())
    return found


async def _exported(sandbox: Sandbox, places: Iterable[str]) -> AsyncIterator[Path]:
    with tempfile.TemporaryDirectory(prefix="testwright-") as scratch:
        archive = Path(scratch) / "place.tar"
        for place in places:
            try:
                async with sandbox.export_tree(place, MAX_EXPORT_BYTES) as chunks:
                    await save_tar(chunks, archive)
            except FileNotFoundError:
                continue
            yield archive


async def _packs(archive: Path) -> AsyncIterator[FoundFile]:
    with tempfile.TemporaryDirectory(prefix="testwright-") as scratch:
        for number, file in enumerate(files_of(archive)):
            if file.data.startswith(b"PACK"):
                yield await pack_contents(file, Path(scratch) / str(number))


def _shown(subject: Subject, secrets: Iterable[Secret], files: Iterable[FoundFile]) -> Iterator[Problem]:
    secrets = list(secrets)
    for file in files:
        for secret in secrets:
            if secret.shows_in(file.data):
                words = f"{secret.name} shows in what an agent sees: {file.path}"
                yield Problem(where=subject.at("task.yaml"), message=words)


def _mounts(subject: Subject, table: str) -> Iterator[Problem]:
    """Yield a problem for each unknown mount; the fifth field of a line of mountinfo is the place of a mount."""
    for line in table.splitlines():
        point = line.split()[4]
        if point != "/" and not any(point == known or point.startswith(f"{known}/") for known in _MOUNTS):
            yield Problem(where=subject.at("task.yaml"), message=f"{point} is mounted into the agent's sandbox")
