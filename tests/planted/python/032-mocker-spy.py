# kind: member; line: 6; name: purge; how: mocker.spy of an absent method and fails
from cachetools import TTLCache


def test_insertion_purges_first(mocker):
    purge = mocker.spy(TTLCache, "purge")
    cache = TTLCache(maxsize=2, ttl=1)
    cache["a"] = 1
    purge.assert_called_once()
