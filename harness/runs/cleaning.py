"""Removes what runs have left behind on this machine."""

import shutil
from dataclasses import dataclass

from harness.runs.interruption import run_to_end
from harness.sandbox.cache import cache_directory
from harness.sandbox.images.removal import remove_images
from harness.tracks.engines import engines_here


@dataclass(frozen=True)
class Cleaning:
    """How many containers and images are gone, and whether the cache directory was emptied."""

    containers: int
    images: int
    cache: bool


def clean(images: bool, cache: bool) -> Cleaning:
    """Remove every container of testwright, also those of runs at work; images and cache where asked for."""
    return run_to_end(_clean(images, cache))


async def _clean(images: bool, cache: bool) -> Cleaning:
    containers = 0
    for engine in engines_here():
        containers += await engine.reap({})
        await engine.close()
    removed = await remove_images() if images else 0
    if cache:
        shutil.rmtree(cache_directory(), ignore_errors=True)
    return Cleaning(containers, removed, cache)
