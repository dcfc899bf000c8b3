"""Tests for behaviour: removals, placebos, probes and a rubric say what a suite notices.

Reading a task needs this module, so what makes images and runs tests is imported only when it is used.

Reading a task of the catalog: its file, its repository, its rubric and its probes.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from harness.sandbox.options import ContainerRole, options_for
from harness.sandbox.protocol import Image, SandboxOptions
from harness.specs.errors import UserError
from harness.specs.grading import GradingRules
from harness.specs.rubric import GradedBy, Rubric
from harness.specs.task import Task, TaskFile
from harness.specs.tracks import BEHAVIOUR, TaskCatalog, TaskOptions
from harness.specs.variants import VARIANT_NAME
from harness.specs.yaml_files import check_name, load_yaml

if TYPE_CHECKING:
    from harness.judging.languages.toolchain import Toolchain
    from harness.tracks.protocol import Column, Grader


def load_task(directory: Path, catalog: TaskCatalog) -> Task:
    """Return the task whose `task.yaml` lies in a directory. A public half has no rubric.

    Raises:
        UserError: A file is absent or wrong.
    """
    path = directory / Task.DESCRIPTION
    file = load_yaml(path, TaskFile)
    check_name(path, file.id)
    if file.private_digest:
        return Task(file=file, repo=catalog.repo(file.repo), rubric=Rubric.none(file.id), directory=directory)
    rubric_path = catalog.directory / "rubrics" / f"{file.id}.yaml"
    rubric = load_yaml(rubric_path, Rubric)
    if rubric.task != file.id:
        raise UserError(f"{rubric_path}:1: it is the rubric of {file.id}, but says 'task: {rubric.task}'")
    task = Task(file=file, repo=catalog.repo(file.repo), rubric=rubric, directory=directory)
    _check_probes(task)
    return task


def _check_probes(task: Task) -> None:
    """Check that every probe file belongs to a criterion that a probe decides."""
    known = {criterion.id for criterion in task.rubric.criteria if GradedBy.PROBE in criterion.graded_by}
    for probe in task.probes:
        if not VARIANT_NAME.fullmatch(probe.name):
            raise UserError(f"{probe.path}: name it CRITERION.patch or CRITERION-SUFFIX.patch; use A-Z a-z 0-9 . _ -")
        if probe.criterion not in known:
            raise UserError(f"{probe.path}: no criterion {probe.criterion!r} graded by probe in the rubric")


class RepoImages:
    """See `TaskImages`. The repository's image with the task's withheld tests taken out of it."""

    makes_directories = True

    async def container(self, task: Task) -> Image:
        from harness.sandbox.images.task_images import task_image

        return await task_image(task)

    async def directory(self, task: Task) -> Image:
        from harness.sandbox.local.recipe import task_environment

        return await task_environment(task)

    def known_digest(self, task: Task, engine: str) -> str | None:
        from harness.sandbox.images import task_images
        from harness.sandbox.local import recipe

        return task_images.known_digest(task) if engine == "docker" else recipe.known_digest(task)


class BehaviourTrack:
    """See `Track`."""

    images = RepoImages()
    columns: "tuple[Column, ...]" = ()

    @property
    def graders(self) -> "Mapping[GradingRules, Grader]":
        from harness.judging.verify.verification import Judging

        return {GradingRules.TESTWRIGHT: Judging.run}

    def toolchain(self, task: Task) -> "Toolchain":
        from harness.judging.languages.registry import language_of

        return language_of(task.repo).toolchain

    def options(self, task: Task, role: ContainerRole) -> SandboxOptions:
        return options_for(task.repo, role)

    def directories(self, place: str) -> list[Path]:
        raise UserError(f"{BEHAVIOUR}:{place}: tasks of this track lie in a catalog; name it with --catalog DIR")

    def load(self, directory: Path, catalog: TaskCatalog, options: TaskOptions) -> Task:  # noqa: ARG002
        return load_task(directory, catalog)


TRACK = BehaviourTrack()
