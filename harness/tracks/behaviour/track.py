"""Tests for behaviour: removals, placebos, probes and a rubric say what a suite notices.

Reading a task needs this module, so what makes images and runs tests is imported only when it is used.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from harness.sandbox.protocol import Image
from harness.specs.errors import UserError
from harness.specs.grading import GradingRules
from harness.specs.task import Task
from harness.specs.tracks import BEHAVIOUR, TaskCatalog, TaskOptions
from harness.tracks.behaviour.loading import load_task

if TYPE_CHECKING:
    from harness.languages.toolchain import Toolchain
    from harness.tracks.protocol import Column, Grader


class RepoImages:
    """See `TaskImages`. The repository's image with the task's withheld tests taken out of it."""

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
        from harness.verify.verification import verify

        return {GradingRules.TESTWRIGHT: verify}

    def toolchain(self, task: Task) -> "Toolchain":
        from harness.languages.registry import language_of

        return language_of(task.repo).toolchain

    def directories(self, place: str) -> list[Path]:
        raise UserError(f"{BEHAVIOUR}:{place}: tasks of this track lie in a catalog; name it with --catalog DIR")

    def load(self, directory: Path, catalog: TaskCatalog, options: TaskOptions) -> Task:  # noqa: ARG002
        return load_task(directory, catalog)


TRACK = BehaviourTrack()
