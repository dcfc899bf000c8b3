"""Keeps the images that were built here within a disk budget: the least recently used go first."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.sandbox.images.engine_images import EngineImages, ListedImage, engine_images
from harness.sandbox.images.in_use import is_in_use, last_used
from harness.specs.errors import ImageUnavailable

OURS = "testwright/"
_NOT_REMOVED = "-toolbox"
"""Toolboxes are filled into volumes, which need their image's id."""


@dataclass(frozen=True)
class BuiltImage:
    """One of ours. `size` is in bytes, `layers` from the lowest up, `used` in seconds of the epoch."""

    tag: str
    size: int
    layers: tuple[str, ...]
    used: float

    def is_below(self, other: "BuiltImage | ListedImage") -> bool:
        """Whether the other one is built on this one."""
        return len(self.layers) < len(other.layers) and other.layers[: len(self.layers)] == self.layers


def occupied(images: Sequence[BuiltImage], others: Sequence[ListedImage] = ()) -> int:
    """Bytes of all layers, each counted once where the image that it belongs to is among these or the others."""
    found = 0
    for image in images:
        below = [each.size for each in images if each.is_below(image)]
        below += [each.size for each in others if _is_below(each, image)]
        found += image.size - max(below, default=0)
    return found


def next_to_go(images: Sequence[BuiltImage], is_free: Callable[[str], bool]) -> BuiltImage | None:
    """The least recently used one that nobody uses and nothing is built on; None where there is none."""
    tops = [each for each in images if not any(each.is_below(other) for other in images)]
    free = [each for each in tops if _NOT_REMOVED not in each.tag and is_free(each.tag)]
    return min(free, key=lambda each: (each.used, each.tag), default=None)


async def shrink_images(most: int, prefix: str = OURS) -> list[str]:
    """Remove images of ours until they take `most` bytes at most; the tags that are gone.

    Images of others, those that a container has, and those that any process of this machine works with stay.
    Raises ImageUnavailable where no engine answers.
    """
    gone: list[str] = []
    refused: set[str] = set()
    async with engine_images() as engine:
        listed = await engine.all()
        images = [_built(each, tag) for each in listed for tag in each.tags if tag.startswith(prefix)]
        others = [each for each in listed if not any(tag.startswith(prefix) for tag in each.tags)]
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


def _built(image: ListedImage, tag: str) -> BuiltImage:
    return BuiltImage(tag, image.size, image.layers, last_used(tag) or image.created)


def _is_below(lower: ListedImage, upper: BuiltImage) -> bool:
    return len(lower.layers) < len(upper.layers) and upper.layers[: len(lower.layers)] == lower.layers
