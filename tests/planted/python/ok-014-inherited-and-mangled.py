# kind: none; line: 0; name: -; how: members inherited from the standard library, mangled private names, nested classes
import asyncio
import collections.abc

from aiosmtpd.handlers import Sink
from aiosmtpd.smtp import SMTP
from cachetools import Cache, LRUCache, TTLCache


def test_methods_of_mapping():
    cache = Cache(maxsize=3)
    cache.update(a=1, b=2)
    assert sorted(cache.items()) == [("a", 1), ("b", 2)]
    assert list(cache.values()) == [1, 2]
    assert cache.popitem()[0] in "ab"
    cache.clear()
    assert isinstance(cache, collections.abc.MutableMapping) and not cache.keys()


def test_order_is_kept_inside():
    cache = LRUCache(maxsize=2)
    cache["a"] = 1
    cache["b"] = 2
    cache["a"]
    assert list(cache._LRUCache__order) == ["b", "a"]
    assert cache._Cache__data == {"a": 1, "b": 2}


def test_link():
    link = TTLCache._Link("k", 3)
    assert (link.key, link.expires) == ("k", 3)


def test_methods_of_the_protocol():
    loop = asyncio.new_event_loop()
    server = SMTP(Sink(), hostname="mx", loop=loop)
    server.data_received(b"x")
    assert bytes(server._stream_reader._buffer) == b"x"
    server.pause_writing()
    server.resume_writing()
    loop.close()
