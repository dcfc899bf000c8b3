"""Which engine to take: a Docker engine that answers, else the embedded local sandbox."""

from harness.sandbox.docker.engine import DockerEngine
from harness.sandbox.images import task_images
from harness.sandbox.images.task_images import task_image
from harness.sandbox.local import recipe
from harness.sandbox.local.engine import LocalEngine
from harness.sandbox.local.recipe import task_environment
from harness.sandbox.protocol import Engine
from harness.specs.errors import UserError
from harness.specs.task import Task


def choose_engine(name: str) -> Engine:
    """`docker`, `local` or `auto`. Raises UserError where the one that is asked for isn't there."""
    if name == "local":
        return LocalEngine(task_environment)
    try:
        return DockerEngine(task_image)
    except UserError:
        if name == "docker":
            raise
        return LocalEngine(task_environment)


def known_digest(engine: Engine, task: Task) -> str | None:
    """The digest of the task's image on an engine, without making it; None where it can't be known before."""
    return task_images.known_digest(task) if engine.name == "docker" else recipe.known_digest(task)
