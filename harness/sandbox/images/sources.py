"""What sandboxes start from, for every kind of task that there is."""

from harness.sandbox.images.published_images import published_image
from harness.sandbox.images.task_images import task_image
from harness.sandbox.local.recipe import task_environment
from harness.sandbox.protocol import Image
from harness.sandbox.registry import ImageSources
from harness.specs.errors import UserError
from harness.specs.swe_atlas.task import PublishedTask
from harness.specs.task import Task


async def _container(task: Task) -> Image:
    return await (published_image(task) if isinstance(task, PublishedTask) else task_image(task))


async def _directory(task: Task) -> Image:
    if isinstance(task, PublishedTask):
        raise UserError(f"{task.id}: published tasks are images, which need a Docker engine (testwright doctor)")
    return await task_environment(task)


IMAGES = ImageSources(_container, _directory)
