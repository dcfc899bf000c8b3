# kind: member; line: 11; name: freeze; how: called in a fixture so that the test errors
import pytest

from cachetools import LFUCache


@pytest.fixture
def frozen():
    cache = LFUCache(maxsize=3)
    cache.update({"a": 1, "b": 2})
    cache.freeze()
    return cache


def test_frozen_cache_keeps_items(frozen):
    assert dict(frozen) == {"a": 1, "b": 2}
