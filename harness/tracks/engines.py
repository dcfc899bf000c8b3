"""Makes engines whose sandboxes start from what the task's track provides: an image, or a directory."""

from harness.sandbox.choice import make_engine, make_engines
from harness.sandbox.protocol import Engine, Image
from harness.sandbox.registry import ImageSources
from harness.specs.task import Task
from harness.tracks.registry import track_of


async def _container(task: Task) -> Image:
    return await track_of(task).images.container(task)


async def _directory(task: Task) -> Image:
    return await track_of(task).images.directory(task)


IMAGES = ImageSources(_container, _directory)


def choose_engine(name: str) -> Engine:
    """The engine that `--sandbox NAME` names. Raises UserError where there is none or it can't work here."""
    return make_engine(name, IMAGES)


def engines_here() -> list[Engine]:
    """One engine of each sandbox that works here without an argument."""
    return make_engines(IMAGES)


def known_digest(engine: Engine, task: Task) -> str | None:
    """The digest of the task's image on an engine, without making it; None where it can't be known before."""
    return track_of(task).images.known_digest(task, engine.name)
