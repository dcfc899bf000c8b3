# kind: member; line: 9; name: expire; how: method exists on TTLCache but not on LRUCache, swallowed
from cachetools import LRUCache


def test_expire_is_harmless():
    cache = LRUCache(maxsize=2)
    cache["a"] = 1
    try:
        removed = cache.expire()
    except Exception:
        removed = []
    assert not removed
    assert cache["a"] == 1
