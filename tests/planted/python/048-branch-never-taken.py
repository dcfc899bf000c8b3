# kind: member; line: 10; name: compact; how: in a branch that is never taken
from cachetools import LFUCache


def test_never_too_large():
    cache = LFUCache(maxsize=5)
    for i in range(20):
        cache[i] = i
        if len(cache) > cache.maxsize:
            cache.compact()
    assert len(cache) == 5
