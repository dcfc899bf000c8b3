# kind: member; line: 10; name: set_maxsize; how: inside pytest.raises(Exception)
import pytest

from cachetools import FIFOCache


def test_negative_size_is_rejected():
    cache = FIFOCache(maxsize=2)
    with pytest.raises(Exception):
        cache.set_maxsize(-1)
    assert cache.maxsize == 2
