# kind: override; line: 10; name: on_evict; how: subclass overrides a hook which the base never calls
from cachetools import LRUCache


class Recording(LRUCache):
    def __init__(self, maxsize):
        super().__init__(maxsize)
        self.evicted = []

    def on_evict(self, key, value):
        self.evicted.append(key)


def test_nothing_evicted_below_the_limit():
    cache = Recording(maxsize=2)
    cache["a"] = 1
    cache["b"] = 2
    assert cache.evicted == []
    assert len(cache) == 2
