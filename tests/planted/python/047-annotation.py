# kind: member; line: 7; name: AbstractCache; how: annotation which is never evaluated
from __future__ import annotations

import cachetools


def occupancy(cache: cachetools.AbstractCache) -> float:
    return cache.currsize / cache.maxsize


def test_half_full():
    cache = cachetools.LRUCache(maxsize=2)
    cache["a"] = 1
    assert occupancy(cache) == 0.5
