"""The tracks of tests on a stage: `technique`, whose requests state a constraint, and `e2e`, on real applications.

Reading a task needs this module, so what makes images and runs tests is imported only when it is used.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.plugins.browser.task import E2E, TECHNIQUE, load_task, task_directories
from harness.sandbox.options import ContainerRole, options_for
from harness.sandbox.protocol import Image, SandboxOptions
from harness.specs.errors import UserError
from harness.specs.grading import GradingRules
from harness.specs.task import Task
from harness.specs.tracks import TaskCatalog, TaskOptions

if TYPE_CHECKING:
    from harness.judging.languages.toolchain import Toolchain
    from harness.tracks.protocol import Column, Grader


class BrowserImages:
    """See `TaskImages`. The application's image, with a browser in it."""

    async def container(self, task: Task) -> Image:
        from harness.sandbox.images.task_images import task_image

        return await task_image(task)

    async def directory(self, task: Task) -> Image:
        words = "tasks with a browser are images, which need a Docker engine (testwright doctor)"
        raise UserError(f"{task.id}: {words}")

    def known_digest(self, task: Task, engine: str) -> str | None:
        from harness.sandbox.images.task_images import known_digest

        return known_digest(task) if engine == "docker" else None


@dataclass(frozen=True)
class StageTrack:
    """See `Track`."""

    name: str

    images = BrowserImages()

    @property
    def columns(self) -> "tuple[Column, ...]":
        from harness.plugins.browser.grading import technique_of
        from harness.tracks.protocol import Column

        return (Column(TECHNIQUE, technique_of),) if self.name == TECHNIQUE else ()

    @property
    def graders(self) -> "Mapping[GradingRules, Grader]":
        from harness.plugins.browser.grading import grade_staged

        return {GradingRules.TESTWRIGHT: grade_staged}

    def toolchain(self, task: Task) -> "Toolchain":
        from harness.plugins.browser.stage import StageToolchain

        return StageToolchain(task.repo)

    def options(self, task: Task, role: ContainerRole) -> SandboxOptions:
        return options_for(task.repo, role)

    def directories(self, place: str) -> list[Path]:
        return task_directories(place, self.name)

    def load(self, directory: Path, catalog: TaskCatalog, options: TaskOptions) -> Task:  # noqa: ARG002
        return load_task(directory, self.name)


OF_TECHNIQUE, OF_APPLICATIONS = StageTrack(TECHNIQUE), StageTrack(E2E)
