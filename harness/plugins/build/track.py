"""The track `build`: an application from a brief, judged by what it does and by its own tests.

Reading a task needs this module, so what makes images and runs containers is imported only when it is used.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from harness.plugins.build.task import load_task, task_directories
from harness.sandbox.options import ContainerRole, options_for
from harness.sandbox.protocol import Image, SandboxOptions
from harness.specs.errors import UserError
from harness.specs.grading import GradingRules
from harness.specs.task import Task
from harness.specs.tracks import TaskCatalog, TaskOptions

if TYPE_CHECKING:
    from harness.judging.languages.toolchain import Toolchain
    from harness.tracks.protocol import Column, Grader


class KitImages:
    """See `TaskImages`. Interpreters and packages, and the brief."""

    async def container(self, task: Task) -> Image:
        from harness.sandbox.images.task_images import task_image

        return await task_image(task)

    async def directory(self, task: Task) -> Image:
        words = "applications run beside their tests, which needs a Docker engine (testwright doctor)"
        raise UserError(f"{task.id}: {words}")

    def known_digest(self, task: Task, engine: str) -> str | None:
        from harness.sandbox.images.task_images import known_digest

        return known_digest(task) if engine == "docker" else None


class BuildTrack:
    """See `Track`."""

    images = KitImages()
    columns: "tuple[Column, ...]" = ()

    @property
    def graders(self) -> "Mapping[GradingRules, Grader]":
        from harness.plugins.build.grading import grade_build

        return {GradingRules.TESTWRIGHT: grade_build}

    def toolchain(self, task: Task) -> "Toolchain":
        from harness.judging.languages.registry import language_of

        return language_of(task.repo).toolchain

    def options(self, task: Task, role: ContainerRole) -> SandboxOptions:
        return options_for(task.repo, role)

    def directories(self, place: str) -> list[Path]:
        return task_directories(place)

    def load(self, directory: Path, catalog: TaskCatalog, options: TaskOptions) -> Task:  # noqa: ARG002
        return load_task(directory)


TRACK = BuildTrack()
