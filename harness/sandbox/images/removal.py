"""What testwright has on an engine beside containers: its images, and the volumes that hold toolboxes."""

from collections.abc import Callable
from typing import NamedTuple

from harness.sandbox.images.disk_budget import OURS
from harness.sandbox.images.engine_images import EngineImages, engine_images
from harness.sandbox.images.in_use import is_in_use
from harness.sandbox.images.pulled import was_fetched
from harness.specs.errors import ImageUnavailable

_LABEL = "testwright.version"
"""What every image has that we build."""
_VOLUMES, _OF_VOLUMES = "testwright=toolbox", "testwright-"


class Stored(NamedTuple):
    """Images by their tags, or by their ids where another image has the tag now; volumes by their names.

    `running` are the images among these that a container at work was made of.
    """

    images: tuple[str, ...] = ()
    volumes: tuple[str, ...] = ()
    running: frozenset[str] = frozenset()

    def only(self, wanted: Callable[[str], bool]) -> "Stored":
        """Those whose image `wanted` takes; a volume's image is the one that it was filled from."""
        volumes = tuple(name for name in self.volumes if wanted(OURS + name.removeprefix(_OF_VOLUMES)))
        return Stored(tuple(tag for tag in self.images if wanted(tag)), volumes, self.running)


async def stored_here() -> Stored:
    """All that we have built, imported or pulled; nothing where no engine answers."""
    try:
        async with engine_images() as engine:
            listed = await engine.all()
            ids = {tag: each.engine_id for each in listed for tag in each.tags if _is_ours(tag, each.engine_id)}
            ids |= {each: each for each in await engine.untagged(_LABEL)}
            at_work = await engine.at_work()
            running = frozenset(name for name, engine_id in ids.items() if engine_id in at_work)
            return Stored(tuple(ids), tuple(await engine.volumes(_VOLUMES)), running)
    except ImageUnavailable:
        return Stored()


def free_of(stored: Stored) -> Stored:
    """What no process of this machine works with, and no container that runs."""
    return stored.only(lambda image: image not in stored.running and not is_in_use(image))


async def remove(stored: Stored) -> Stored:
    """Remove it, also what containers have that have ended; what is gone now."""
    async with engine_images() as engine:
        images = [tag for tag in stored.images if await _removed(engine, tag)]
        volumes = [name for name in stored.volumes if await engine.remove_volume(name)]
    return Stored(tuple(images), tuple(volumes))


async def _removed(engine: EngineImages, image: str) -> bool:
    try:
        await engine.remove(image, force=True)
    except ImageUnavailable:
        return await engine.find(image) is None
    return True


def _is_ours(tag: str, engine_id: str) -> bool:
    return tag.startswith(OURS) or was_fetched(tag, engine_id)
