"""Finds and removes what runs have left behind on this machine."""

import shutil
from dataclasses import dataclass
from typing import NamedTuple

from harness.runs.interruption import run_to_end
from harness.runs.owners import OWNER, Life, life_of
from harness.sandbox.cache import cache_directory
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
    """What is gone, or would be where `is_done` is False; and what stays in use. `volumes` hold toolboxes."""

    containers: int
    images: int
    volumes: int
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
    images = await _clean_images(wanted, do) if wanted.images else _Images()
    if do and wanted.cache:
        shutil.rmtree(cache_directory(), ignore_errors=True)
    return Cleaning(going, images.images, images.volumes, wanted.cache, staying, images.in_use, do)


class _Images(NamedTuple):
    """How many go, with how many volumes; how many stay."""

    images: int = 0
    volumes: int = 0
    in_use: int = 0


async def _clean_images(wanted: Wanted, do: bool) -> _Images:
    from harness.sandbox.images.removal import free_of, remove, stored_here

    stored = await stored_here()
    going = stored if wanted.everything else free_of(stored)
    going = await remove(going) if do else going
    return _Images(len(going.images), len(going.volumes), len(stored.images) - len(going.images))


def _may_be_at_work(container: Remains) -> bool:
    """Whose process has a lock, or keeps it in another cache directory, where it can't be asked."""
    owner = container.labels.get(OWNER)
    return owner is not None and life_of(owner) is not Life.DEAD
