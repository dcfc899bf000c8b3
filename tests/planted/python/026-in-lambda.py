# kind: member; line: 9; name: timestamp; how: used in a lambda given as a sort key
from cachetools import TTLCache


def test_items_in_order_of_insertion():
    cache = TTLCache(maxsize=3, ttl=60)
    cache["b"] = 1
    cache["a"] = 2
    ordered = sorted(cache, key=lambda key: cache.timestamp(key))
    assert ordered == ["b", "a"]
