# kind: member; line: 11; name: policy_name; how: read in the id of a parameter so that collection fails
import pytest

from cachetools import FIFOCache, LRUCache


@pytest.mark.parametrize(
    "factory",
    [
        pytest.param(LRUCache, id="lru"),
        pytest.param(FIFOCache, id=FIFOCache.policy_name),
    ],
)
def test_holds_at_most_maxsize(factory):
    cache = factory(maxsize=1)
    cache[1] = 1
    cache[2] = 2
    assert len(cache) == 1
