"""Keeps the images that were built or pulled here within a disk budget: the least recently used go first."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.sandbox.images.engine_images import EngineImages, ListedImage, engine_images
from harness.sandbox.images.in_use import is_in_use, last_used
from harness.sandbox.images.pulled import was_fetched
from harness.specs.errors import ImageUnavailable

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
        """Whether the other one is built on this one."""
        return len(self.layers) < len(other.layers) and other.layers[: len(self.layers)] == self.layers


def occupied(images: Sequence[OurImage], others: Sequence[ListedImage] = ()) -> int:
    """Bytes of all layers, each counted once where the image that it belongs to is among these or the others."""
    found = 0
    for image in images:
        below = [each.size for each in images if each.is_below(image)]
        below += [each.size for each in others if _is_below(each, image)]
        found += image.size - max(below, default=0)
    return found


def next_to_go(images: Sequence[OurImage], is_free: Callable[[str], bool]) -> OurImage | None:
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
