# kind: member; line: 2; name: LIFOCache; how: import of an absent member at the top
from cachetools import FIFOCache, LIFOCache


def test_first_in_first_out():
    cache = FIFOCache(maxsize=1)
    cache[1] = 1
    cache[2] = 2
    assert list(cache) == [2]


def test_last_in_first_out():
    cache = LIFOCache(maxsize=2)
    cache[1] = 1
    cache[2] = 2
    assert cache.popitem() == (2, 2)
