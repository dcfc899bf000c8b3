# kind: member; line: 10; name: CacheFullError; how: class in an except clause that is never evaluated
import cachetools


def test_overfull_cache_evicts_instead_of_raising():
    cache = cachetools.LRUCache(maxsize=1)
    try:
        cache["a"] = 1
        cache["b"] = 2
    except cachetools.CacheFullError:
        raise AssertionError("must not be full")
    assert list(cache) == ["b"]
