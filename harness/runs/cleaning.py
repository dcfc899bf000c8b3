"""Finds and removes what runs have left behind on this machine."""

import shutil
from dataclasses import dataclass

from harness.runs.interruption import run_to_end
from harness.runs.owners import OWNER, Life, life_of
from harness.sandbox.cache import cache_directory
from harness.sandbox.images.in_use import is_in_use
from harness.sandbox.protocol import ListingEngine, Remains
from harness.tracks.engines import engines_here


@dataclass(frozen=True)
class Wanted:
    """What is to go beside what dead processes have left: what processes at work have, images, the cache."""

    everything: bool = False
    images: bool = False
    cache: bool = False


@dataclass(frozen=True)
class Cleaning:
    """Containers and images that are gone, or would be where `is_done` is False; and those that stay in use."""

    containers: int
    images: int
    cache: bool
    containers_in_use: int
    images_in_use: int
    is_done: bool


def clean(wanted: Wanted, do: bool) -> Cleaning:
    """Remove it, or only say what would be removed."""
    return run_to_end(_clean(wanted, do))


async def _clean(wanted: Wanted, do: bool) -> Cleaning:
    going = staying = 0
    for engine in engines_here():
        try:
            if isinstance(engine, ListingEngine):
                found = await engine.remains()
                left = [each for each in found if wanted.everything or not _may_be_at_work(each)]
                going, staying = going + len(left), staying + len(found) - len(left)
                for each in left if do else ():
                    await engine.discard(each.name)
            elif do and wanted.everything:
                going += await engine.reap({})
        finally:
            await engine.close()
    tags: list[str] = []
    free: list[str] = []
    if wanted.images:
        from harness.sandbox.images.removal import our_images, remove_images

        tags = await our_images()
        free = [tag for tag in tags if wanted.everything or not is_in_use(tag)]
        if do:
            await remove_images(free)
    if do and wanted.cache:
        shutil.rmtree(cache_directory(), ignore_errors=True)
    return Cleaning(going, len(free), wanted.cache, staying, len(tags) - len(free), do)


def _may_be_at_work(container: Remains) -> bool:
    """Whose process has a lock, or keeps it in another cache directory, where it can't be asked."""
    owner = container.labels.get(OWNER)
    return owner is not None and life_of(owner) is not Life.DEAD
