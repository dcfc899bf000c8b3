"""Tasks in the published layout: graded by our rules, by those of the verifier that came with them, or by both.

Reading a task needs this module, so what makes images and runs tests is imported only when it is used.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from harness.plugins.published.task import published_task, read_published, task_directories, unread
from harness.sandbox.options import ContainerRole, options_for
from harness.sandbox.protocol import Image, SandboxOptions
from harness.specs.errors import UserError
from harness.specs.grading import GradingRules
from harness.specs.task import Task
from harness.specs.tracks import TaskCatalog, TaskOptions

if TYPE_CHECKING:
    from harness.judging.languages.toolchain import Toolchain
    from harness.tracks.protocol import Column, Grader


class PublishedImages:
    """See `TaskImages`. Images that others have made, with or without the agent's tree in them."""

    async def container(self, task: Task) -> Image:
        from harness.plugins.published.images import published_image

        if fault := published_task(task).fault:
            raise UserError(fault)
        return await published_image(published_task(task))

    async def directory(self, task: Task) -> Image:
        raise UserError(f"{task.id}: published tasks are images, which need a Docker engine (testwright doctor)")

    def known_digest(self, task: Task, engine: str) -> str | None:  # noqa: ARG002
        return None


class SweAtlasTrack:
    """See `Track`."""

    images = PublishedImages()
    columns: "tuple[Column, ...]" = ()

    @property
    def graders(self) -> "Mapping[GradingRules, Grader]":
        from harness.plugins.published.verification import verify_by_ours, verify_published

        return {GradingRules.TESTWRIGHT: verify_by_ours, GradingRules.PUBLISHED: verify_published}

    def toolchain(self, task: Task) -> "Toolchain":
        """Return a toolchain whose variants are text on disk: the task's own run script knows nothing of ours."""
        from harness.plugins.published.arms import OnDiskToolchain

        return OnDiskToolchain(published_task(task))

    def options(self, task: Task, role: ContainerRole) -> SandboxOptions:
        return options_for(task.repo, role)

    def directories(self, place: str) -> list[Path]:
        return task_directories(place)

    def load(self, directory: Path, catalog: TaskCatalog, options: TaskOptions) -> Task:  # noqa: ARG002
        try:
            return read_published(directory, options)
        except UserError as error:
            if not options.one_by_one:
                raise
            return unread(directory, str(error))


TRACK = SweAtlasTrack()
