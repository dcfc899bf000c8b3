# kind: member; line: 10; name: resize; how: error swallowed by try/except AttributeError
from cachetools import LRUCache


def test_resize_evicts_oldest():
    cache = LRUCache(maxsize=4)
    for i in range(4):
        cache[i] = i
    try:
        cache.resize(2)
        assert len(cache) == 2
    except AttributeError:
        pass
    assert cache.maxsize >= 2
