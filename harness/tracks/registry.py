"""The tracks that are known: those of this package, and those that other packages register.

Makes engines whose sandboxes start from what the task's track provides: an image, or a directory.
"""

from collections.abc import Iterable
from typing import cast

from harness.sandbox.local.confinement import Bubblewrap, Plain
from harness.sandbox.protocol import Engine, Image
from harness.sandbox.registry import ImageSources, make_engine, make_engines
from harness.specs.errors import UserError
from harness.specs.grading import GradingRules
from harness.specs.registry import Registry
from harness.specs.task import Task
from harness.specs.tracks import TRACK_FACTS
from harness.tracks.protocol import Track

TRACKS = cast("Registry[Track]", TRACK_FACTS)
"""The same registry that `task.yaml` is checked with: what it holds is whole tracks."""


def track_of(task: Task) -> Track:
    """Return the track of a task.

    Raises:
        UserError: It can't be imported.
    """
    return TRACKS.get(task.track)


def check_rules(task: Task, rules: GradingRules) -> None:
    """Check that the task's track offers these rules.

    Raises:
        UserError: It doesn't.
    """
    if rules.is_published and GradingRules.PUBLISHED not in track_of(task).graders:
        raise UserError(f"task {task.id}: --protocol {rules} is for published tasks (-t swe-atlas:PATH)")


async def _container(task: Task) -> Image:
    return await track_of(task).images.container(task)


async def _directory(task: Task) -> Image:
    return await track_of(task).images.directory(task)


IMAGES = ImageSources(_container, _directory)


def choose_engine(name: str) -> Engine:
    """Return the engine that `--sandbox NAME` names.

    Raises:
        UserError: There is none, or it can't work here.
    """
    return make_engine(name, IMAGES)


def engines_here() -> list[Engine]:
    """Return one engine of each sandbox that works here without an argument."""
    return make_engines(IMAGES)


async def check_sandboxed(tasks: Iterable[Task], isolation: str) -> None:
    """Check that sandboxes of this isolation can have the tasks' images, before anything is made or paid.

    Raises:
        UserError: A task's image can't be a directory of this machine, which the local sandbox needs.
    """
    if isolation not in (Bubblewrap.isolation, Plain.isolation):
        return
    for task in tasks:
        images = track_of(task).images
        images.known_digest(task, "local")  # whoever asks for it has looked for the recipe
        if not getattr(images, "makes_directories", False):
            await images.directory(task)


def known_digest(engine: Engine, task: Task) -> str | None:
    """Return the digest of the task's image on an engine, without making it; None where it can't be known before."""
    return track_of(task).images.known_digest(task, engine.name)
