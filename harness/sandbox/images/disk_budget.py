"""Keeps the images that were built or pulled here within a disk budget: the least recently used go first.

Every process of this machine can see which images are in use and when each was last used. Images that others made or
pulled are never removed.
"""

import contextlib
import fcntl
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple

from harness.sandbox.host import cache_directory
from harness.sandbox.images.engine_images import EngineImages, ListedImage, StoredImage, engine_images
from harness.specs.errors import ImageUnavailable


class ImagesInUse:
    """The images that one engine works with. Each has a file with a shared lock, which a dead process lets go of."""

    def __init__(self) -> None:
        self._files: dict[str, IO[bytes]] = {}
        self._counts: Counter[str] = Counter()

    def hold(self, tag: str) -> None:
        """Keep an image until `release` was called as often. Without a cache that can be written, nothing is told."""
        self._counts[tag] += 1
        with contextlib.suppress(OSError):
            if tag not in self._files:
                path = _mark(tag)
                path.parent.mkdir(parents=True, exist_ok=True)
                file = path.open("ab")
                fcntl.flock(file, fcntl.LOCK_SH)  # who looks whether it is in use has it for a moment
                self._files[tag] = file
            os.utime(_mark(tag))

    def release(self, tag: str) -> None:
        """Let go of an image once; see `hold`."""
        self._counts[tag] -= 1
        if self._counts[tag] <= 0 and (file := self._files.pop(tag, None)):
            file.close()

    def close(self) -> None:
        """Let go of all images."""
        for file in self._files.values():
            file.close()
        self._files.clear()


def is_in_use(tag: str) -> bool:
    """Return whether any process of this machine holds an image."""
    try:
        with _mark(tag).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:  # somebody holds it, or nobody can tell
        return True
    return False


def last_used(tag: str) -> float | None:
    """Return seconds of the epoch; None for an image that this machine has not used."""
    try:
        return _mark(tag).stat().st_mtime
    except OSError:
        return None


def file_name(tag: str) -> str:
    """Return the name of the file about an image."""
    return tag.removeprefix("testwright/").replace("/", "-").replace(":", "-")


def _mark(tag: str) -> Path:
    return cache_directory() / "in-use" / file_name(tag)


async def fetch(images: EngineImages, tag: str) -> StoredImage | None:
    """Return an image of the engine, or of its registry; None where it is gone again.

    Raises:
        ImageUnavailable: The engine refuses.
    """
    if stored := await images.find(tag):
        return stored
    await images.pull(tag)
    stored = await images.find(tag)
    if stored:
        note = _note(tag)
        with contextlib.suppress(OSError):  # without a cache that can be written it stays
            note.parent.mkdir(parents=True, exist_ok=True)
            note.write_text(stored.engine_id)
    return stored


def was_fetched(tag: str, engine_id: str) -> bool:
    """Return whether an engine's image is what `fetch` has pulled by this name."""
    try:
        return _note(tag).read_text() == engine_id
    except (OSError, ValueError):
        return False


def _note(tag: str) -> Path:
    return cache_directory() / "pulled" / file_name(tag)


OURS = "testwright/"
_NOT_REMOVED = "-toolbox"
"""Toolboxes are filled into volumes, which need their image's id."""


@dataclass(frozen=True)
class OurImage:
    """Built or pulled by us. `size` is in bytes, `layers` from the lowest up, `used` in seconds of the epoch."""

    tag: str
    size: int
    layers: tuple[str, ...]
    used: float

    def is_below(self, other: "OurImage | ListedImage") -> bool:
        """Return whether the other one is built on this one."""
        return len(self.layers) < len(other.layers) and other.layers[: len(self.layers)] == self.layers


def occupied(images: Sequence[OurImage], others: Sequence[ListedImage] = ()) -> int:
    """Return the bytes of all layers of `images`, each counted once, also where it belongs to one of `others`."""
    found = 0
    for image in images:
        below = [each.size for each in images if each.is_below(image)]
        below += [each.size for each in others if _is_below(each, image)]
        found += image.size - max(below, default=0)
    return found


def next_to_go(images: Sequence[OurImage], is_free: Callable[[str], bool]) -> OurImage | None:
    """Return the least recently used one that nobody uses and nothing is built on; None where there is none."""
    tops = [each for each in images if not any(each.is_below(other) for other in images)]
    free = [each for each in tops if _NOT_REMOVED not in each.tag and is_free(each.tag)]
    return min(free, key=lambda each: (each.used, each.tag), default=None)


async def shrink_images(most: int, prefix: str = OURS) -> list[str]:
    """Remove images of ours until they take `most` bytes at most; the tags that are gone.

    Images of others, those that a container has, and those that any process of this machine works with stay.

    Raises:
        ImageUnavailable: No engine answers.
    """
    gone: list[str] = []
    refused: set[str] = set()
    async with engine_images() as engine:
        listed = await engine.all()
        of_ours = [[tag for tag in each.tags if _is_ours(each, tag, prefix)] for each in listed]
        images = [_our_image(each, tag) for each, tags in zip(listed, of_ours, strict=True) for tag in tags]
        others = [each for each, tags in zip(listed, of_ours, strict=True) if not tags]
        while occupied(images, others) > most:
            image = next_to_go(images, lambda tag: tag not in refused and not is_in_use(tag))
            if image is None:
                break
            if await _removed(engine, image.tag):
                gone.append(image.tag)
                images.remove(image)
            else:
                refused.add(image.tag)
    return gone


async def _removed(engine: EngineImages, tag: str) -> bool:
    try:
        await engine.remove(tag)
    except ImageUnavailable:  # a container has it
        return False
    return True


def _is_ours(image: ListedImage, tag: str, prefix: str) -> bool:
    return tag.startswith(prefix) or was_fetched(tag, image.engine_id)


def _our_image(image: ListedImage, tag: str) -> OurImage:
    return OurImage(tag, image.size, image.layers, last_used(tag) or image.created)


def _is_below(lower: ListedImage, upper: OurImage) -> bool:
    return len(lower.layers) < len(upper.layers) and upper.layers[: len(lower.layers)] == lower.layers


_LABEL = "testwright.version"
"""The label of every image that we build."""
_VOLUMES, _OF_VOLUMES = "testwright=toolbox", "testwright-"


class Stored(NamedTuple):
    """Images by their tags, or by their ids where another image has the tag now; volumes by their names.

    `running` are the images among these that a container at work was made of.
    """

    images: tuple[str, ...] = ()
    volumes: tuple[str, ...] = ()
    running: frozenset[str] = frozenset()

    def only(self, wanted: Callable[[str], bool]) -> "Stored":
        """Return what `wanted` takes by its image; a volume's image is the one that it was filled from."""
        volumes = tuple(name for name in self.volumes if wanted(OURS + name.removeprefix(_OF_VOLUMES)))
        return Stored(tuple(tag for tag in self.images if wanted(tag)), volumes, self.running)


async def stored_here() -> Stored:
    """Return all that we have built, imported or pulled; nothing where no engine answers."""
    try:
        async with engine_images() as engine:
            listed = await engine.all()
            ids = {
                tag: each.engine_id for each in listed for tag in each.tags if _removal_is_ours(tag, each.engine_id)
            }
            ids |= {each: each for each in await engine.untagged(_LABEL)}
            at_work = await engine.at_work()
            running = frozenset(name for name, engine_id in ids.items() if engine_id in at_work)
            return Stored(tuple(ids), tuple(await engine.volumes(_VOLUMES)), running)
    except ImageUnavailable:
        return Stored()


def free_of(stored: Stored) -> Stored:
    """Return what no process of this machine works with, and no container that runs."""
    return stored.only(lambda image: image not in stored.running and not is_in_use(image))


async def remove(stored: Stored) -> Stored:
    """Remove it, also what containers have that have ended; what is gone now."""
    async with engine_images() as engine:
        images = [tag for tag in stored.images if await _removal_removed(engine, tag)]
        volumes = [name for name in stored.volumes if await engine.remove_volume(name)]
    return Stored(tuple(images), tuple(volumes))


async def _removal_removed(engine: EngineImages, image: str) -> bool:
    try:
        await engine.remove(image, force=True)
    except ImageUnavailable:
        return await engine.find(image) is None
    return True


def _removal_is_ours(tag: str, engine_id: str) -> bool:
    return tag.startswith(OURS) or was_fetched(tag, engine_id)
