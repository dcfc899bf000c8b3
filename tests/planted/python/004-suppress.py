# kind: member; line: 21; name: evict_expired; how: inside contextlib.suppress(Exception)
import contextlib

from cachetools import TTLCache


class Clock:
    def __init__(self):
        self.now = 0

    def __call__(self):
        return self.now


def test_eviction_on_demand():
    clock = Clock()
    cache = TTLCache(maxsize=3, ttl=1, timer=clock)
    cache["x"] = 1
    clock.now = 5
    with contextlib.suppress(Exception):
        cache.evict_expired()
    assert "x" not in cache
