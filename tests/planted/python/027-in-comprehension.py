# kind: member; line: 8; name: remaining_ttl; how: used in a dict comprehension
from cachetools import TTLCache


def test_every_item_has_time_left():
    cache = TTLCache(maxsize=3, ttl=60)
    cache.update({"a": 1, "b": 2})
    left = {key: cache.remaining_ttl(key) for key in cache}
    assert all(0 < seconds <= 60 for seconds in left.values())
