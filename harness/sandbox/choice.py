"""Which engine to take: a Docker engine that answers, else the embedded local sandbox."""

from harness.sandbox.docker.engine import DockerEngine
from harness.sandbox.images import task_images
from harness.sandbox.images.published_images import published_image
from harness.sandbox.images.task_images import task_image
from harness.sandbox.local import recipe
from harness.sandbox.local.engine import LocalEngine
from harness.sandbox.local.recipe import task_environment
from harness.sandbox.protocol import Engine, Image
from harness.specs.errors import UserError
from harness.specs.swe_atlas.task import PublishedTask
from harness.specs.task import Task


def choose_engine(name: str) -> Engine:
    """`docker`, `local` or `auto`. Raises UserError where the one that is asked for isn't there."""
    if name == "local":
        return LocalEngine(_local_environment)
    try:
        return DockerEngine(_docker_image)
    except UserError:
        if name == "docker":
            raise
        return LocalEngine(_local_environment)


async def _docker_image(task: Task) -> Image:
    return await (published_image(task) if isinstance(task, PublishedTask) else task_image(task))


async def _local_environment(task: Task) -> Image:
    if isinstance(task, PublishedTask):
        raise UserError(f"{task.id}: published tasks are images, which need a Docker engine (testwright doctor)")
    return await task_environment(task)


def known_digest(engine: Engine, task: Task) -> str | None:
    """The digest of the task's image on an engine, without making it; None where it can't be known before."""
    if isinstance(task, PublishedTask):
        return None
    return task_images.known_digest(task) if engine.name == "docker" else recipe.known_digest(task)
