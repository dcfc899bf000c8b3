# kind: none; line: 0; name: -; how: raises(AttributeError) because the behaviour under test is the refusal
import pytest

from aiosmtpd.proxy_protocol import ProxyData
from cachetools import LRUCache
from cachetools.func import lru_cache


def test_slots_refuse_new_names():
    data = ProxyData(version=2)
    with pytest.raises(AttributeError):
        data.anything_else = 1


def test_size_cannot_be_changed():
    cache = LRUCache(maxsize=2)
    with pytest.raises(AttributeError):
        cache.maxsize = 3


def test_info_is_a_tuple():
    info = lru_cache(maxsize=1)(abs).cache_info()
    with pytest.raises(AttributeError):
        info.hits = 5
