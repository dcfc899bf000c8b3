# kind: member; line: 9; name: peek; how: called plainly and fails
import cachetools


def test_peek_does_not_change_order():
    cache = cachetools.LRUCache(maxsize=2)
    cache["a"] = 1
    cache["b"] = 2
    assert cache.peek("a") == 1
    cache["c"] = 3
    assert "a" not in cache
