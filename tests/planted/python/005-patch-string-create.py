# kind: member; line: 8; name: clock; how: mock.patch by string with create=True
from unittest import mock

from cachetools.func import ttl_cache


def test_ttl_cache_with_frozen_clock():
    with mock.patch("cachetools.func.clock", create=True, return_value=0.0):

        @ttl_cache(maxsize=2, ttl=60)
        def double(n):
            return n * 2

        assert double(2) == 4
        assert double(2) == 4
        assert double.cache_info().hits == 1
