"""Which engine to take: a Docker engine that answers, else the embedded local sandbox."""

from harness.sandbox.docker.engine import DockerEngine
from harness.sandbox.images.task_images import task_image
from harness.sandbox.local.engine import LocalEngine
from harness.sandbox.local.recipe import task_environment
from harness.sandbox.protocol import Engine
from harness.specs.errors import UserError


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
