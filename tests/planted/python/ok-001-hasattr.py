# kind: none; line: 0; name: -; how: hasattr guards a name that one class has and another lacks, and a negative hasattr
import pytest

from cachetools import FIFOCache, LRUCache, TTLCache


@pytest.mark.parametrize("make", [lambda: LRUCache(2), lambda: TTLCache(2, ttl=1)])
def test_expire_where_there_is_one(make):
    cache = make()
    cache["a"] = 1
    if hasattr(cache, "expire"):
        assert list(cache.expire(time=float("inf"))) == [("a", 1)]
    else:
        assert cache["a"] == 1


def test_only_timed_caches_have_a_ttl():
    assert hasattr(TTLCache(1, ttl=1), "ttl")
    assert not hasattr(FIFOCache(1), "ttl")
