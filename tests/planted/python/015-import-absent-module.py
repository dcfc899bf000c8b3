# kind: module; line: 3; name: cachetools.utils; how: import of an absent module at the top
from cachetools import LRUCache
from cachetools.utils import snapshot


def test_snapshot_is_a_plain_dict():
    cache = LRUCache(maxsize=2)
    cache["a"] = 1
    assert snapshot(cache) == {"a": 1}
