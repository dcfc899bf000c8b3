"""The track `design`. Reading a task needs this module, so what makes images is imported only when it is used."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from harness.plugins.design.task import NAME, load_design
from harness.sandbox.options import ContainerRole, options_for
from harness.sandbox.protocol import Image, SandboxOptions
from harness.specs.errors import UserError
from harness.specs.grading import GradingRules
from harness.specs.task import Task
from harness.specs.tracks import TaskCatalog, TaskOptions

if TYPE_CHECKING:
    from harness.judging.languages.toolchain import Toolchain
    from harness.tracks.protocol import Column, Grader


class DesignImages:
    """See `TaskImages`. Requirement, vocabulary and validator, and nothing that implements anything."""

    makes_directories = True

    async def container(self, task: Task) -> Image:
        from harness.plugins.design.grading import design_task
        from harness.plugins.design.images import container_image

        return await container_image(design_task(task))

    async def directory(self, task: Task) -> Image:
        from harness.plugins.design.grading import design_task
        from harness.plugins.design.images import directory_image

        return await directory_image(design_task(task))

    def known_digest(self, task: Task, engine: str) -> str | None:
        from harness.plugins.design.grading import design_task
        from harness.plugins.design.images import known_digest

        return known_digest(design_task(task), engine)


class DesignTrack:
    """See `Track`."""

    images = DesignImages()
    columns: "tuple[Column, ...]" = ()

    @property
    def graders(self) -> "Mapping[GradingRules, Grader]":
        from harness.plugins.design.grading import grade_design

        return {GradingRules.TESTWRIGHT: grade_design}

    def toolchain(self, task: Task) -> "Toolchain":
        from harness.plugins.design.arms import DesignToolchain
        from harness.plugins.design.grading import design_task

        return DesignToolchain(design_task(task))

    def options(self, task: Task, role: ContainerRole) -> SandboxOptions:
        return options_for(task.repo, role)

    def directories(self, place: str) -> list[Path]:
        raise UserError(f"{NAME}:{place}: tasks of this track lie in a catalog; name it with --catalog DIR")

    def load(self, directory: Path, catalog: TaskCatalog, options: TaskOptions) -> Task:
        return load_design(directory, catalog, options)


TRACK = DesignTrack()
