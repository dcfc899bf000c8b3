"""From a sandbox's name to an engine."""

from pathlib import Path

from harness.sandbox.images import task_images
from harness.sandbox.images.sources import IMAGES
from harness.sandbox.local import recipe
from harness.sandbox.protocol import Engine
from harness.sandbox.registry import SANDBOXES, ImageSources, split
from harness.specs.errors import UserError
from harness.specs.swe_atlas.task import PublishedTask
from harness.specs.task import Task


def choose_engine(name: str, images: ImageSources = IMAGES) -> Engine:
    """The engine that `--sandbox NAME` names. Raises UserError where there is none or it can't work here."""
    kind, argument = split(name)
    return SANDBOXES.get(kind)(argument, images)


def check_sandbox(name: str) -> str:
    """`name`, with a file that it names made absolute: a run goes on from anywhere. Raises UserError if unknown."""
    kind, argument = split(name)
    if argument and Path(argument).is_file():
        return f"{kind}:{Path(argument).absolute()}"
    return name


def engines_here() -> list[Engine]:
    """One engine of each sandbox that works here without an argument."""
    found = []
    for name in SANDBOXES.names:
        try:
            found.append(SANDBOXES.get(name)("", IMAGES))
        except UserError:
            continue
    return found


def known_digest(engine: Engine, task: Task) -> str | None:
    """The digest of the task's image on an engine, without making it; None where it can't be known before."""
    if isinstance(task, PublishedTask):
        return None
    return task_images.known_digest(task) if engine.name == "docker" else recipe.known_digest(task)
