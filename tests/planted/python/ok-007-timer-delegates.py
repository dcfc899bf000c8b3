# kind: none; line: 0; name: -; how: attributes of the suite's own timer reached through the timer of the cache
from cachetools import TLRUCache, TTLCache


class Timer:
    def __init__(self):
        self.now = 0

    def __call__(self):
        return self.now

    def tick(self, by=1):
        self.now += by


def test_time_is_moved_through_the_cache():
    cache = TTLCache(maxsize=2, ttl=2, timer=Timer())
    cache["a"] = 1
    cache.timer.tick()
    assert "a" in cache
    cache.timer.tick(by=5)
    assert "a" not in cache
    assert cache.timer.now == 6


def test_expiry_by_value():
    cache = TLRUCache(maxsize=2, ttu=lambda key, value, now: now + value, timer=Timer())
    cache["short"] = 1
    cache["long"] = 9
    cache.timer.tick(3)
    assert list(cache) == ["long"]
