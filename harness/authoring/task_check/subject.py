"""The task under check, as the parts of a check see it.

Judges one submission of a check, with the same verifier as everywhere.

A task's tree without a container: upstream's tree, kept from the image's build, without the withheld tests.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.judging.submission.extraction import Submission
from harness.judging.verify.arms import ArmContext, ArmObserver
from harness.judging.verify.judgement import Judgement
from harness.judging.verify.verification import Judging
from harness.sandbox.git_tree import GitTree
from harness.sandbox.images.recipe import read_recipe
from harness.sandbox.images.work_tree import image_place, task_tree
from harness.sandbox.protocol import JobResult
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.problem import Problem
from harness.specs.task import Task
from harness.specs.tracks import address_of
from harness.specs.variants import ArmKey


@dataclass(frozen=True)
class Subject:
    """A task under examination. `tree` is the task's, None where no image of its repo was ever built here.

    `arm_context` is there at the levels that start containers. The parts fill `slowest`, the seconds of each arm, and
    `remarks`, what a reader of the result should know beside its problems. `kept` is a folder for what arms show, so
    that a check that is cut short goes on from there (`kept_evidence`); None keeps nothing.
    """

    catalog: Catalog
    task: Task
    tree: GitTree | None = None
    arm_context: ArmContext | None = None
    slowest: dict[str, float] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    kept: Path | None = None

    def at(self, name: str, containing: str = "") -> str:
        """Return where a problem is: a file of the task as `tasks/ID/NAME`, with the line that has `containing`."""
        return place(self.catalog, self.task.directory / name, containing)

    @property
    def description(self) -> str:
        """The file of the task that says what it is."""
        return self.task.DESCRIPTION

    @property
    def rubric(self) -> Path:
        """The file of the task's rubric: among its own files, or in the catalog's folder of them."""
        own = self.task.directory / "rubric.yaml"
        return own if own.is_file() else self.catalog.directory / "rubrics" / f"{self.task.id}.yaml"

    @property
    def takes_fixes(self) -> bool:
        """Return whether `--fix` writes files of it: it does for the catalog's own tasks."""
        return address_of(self.task.address) is None

    @property
    def containers(self) -> ArmContext:
        """Return where arms run, at a level that starts containers."""
        if self.arm_context is None:
            raise UserError(f"{self.task.id}: this part of the check needs a Docker engine")
        return self.arm_context


def place(catalog: Catalog, path: Path, containing: str = "") -> str:
    """Return a path relative to the catalog, and the first line with `containing` where there is one."""
    shown = path.relative_to(catalog.directory).as_posix() if path.is_relative_to(catalog.directory) else str(path)
    if containing and path.is_file():
        lines = path.read_text(errors="replace").splitlines()
        number = next((number for number, line in enumerate(lines, 1) if containing in line), 0)
        return f"{shown}:{number}" if number else shown
    return shown


def as_problem(catalog: Catalog, error: Exception, where: str) -> Problem:
    """Return a typed error as a problem; one that names its own place says so itself."""
    words = str(error).splitlines()[0] if str(error) else type(error).__name__
    words = words.removeprefix(f"{catalog.directory}/")
    head, separator, rest = words.partition(": ")
    if separator and "/" in head and " " not in head:
        return Problem(where=head, message=rest)
    return Problem(where=where, message=words)


async def judge(subject: Subject, submission: Submission) -> Judgement:
    """Judge a submission of the task under check, and note in `subject.slowest` how long its arms took.

    Raises:
        SandboxLost: A container was lost again and again.
    """
    context = replace(subject.containers, observer=_Stopwatch(subject.slowest))
    return await Judging(subject.task, context).run(submission)


class _Stopwatch(ArmObserver):
    """An observer that keeps the seconds of each arm, the longest of several."""

    def __init__(self, slowest: dict[str, float]) -> None:
        self._slowest = slowest

    def printed(self, key: ArmKey, result: JobResult) -> None:
        self._slowest[str(key)] = max(result.seconds, self._slowest.get(str(key), 0.0))


@asynccontextmanager
async def kept_tree(task: Task) -> AsyncIterator[GitTree | None]:
    """Provide the task's tree; None where this machine never built the repo's image.

    Raises:
        UserError: withheld.patch doesn't apply.
    """
    place = image_place(read_recipe(task.repo).tag("repo"))
    if place.record() is None:
        yield None
        return
    with place.scratch() as scratch:
        yield await task_tree(GitTree(place.tree), task, Path(scratch) / "tree.git")
