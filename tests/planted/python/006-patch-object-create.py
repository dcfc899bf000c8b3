# kind: member; line: 8; name: now; how: mock.patch.object with create=True
from unittest import mock

import cachetools


def test_entry_lives_until_ttl():
    with mock.patch.object(cachetools, "now", create=True) as now:
        now.return_value = 10
        cache = cachetools.TTLCache(maxsize=1, ttl=30)
        cache["k"] = "v"
        now.return_value = 20
        assert cache["k"] == "v"
