# kind: member; line: 7; name: put; how: called in a helper with an argument of no stated type
from cachetools import RRCache


def fill(cache, pairs):
    for key, value in pairs:
        cache.put(key, value)
    return cache


def test_choice_decides_what_goes():
    cache = fill(RRCache(maxsize=2, choice=min), [(1, "a"), (2, "b"), (3, "c")])
    assert 1 not in cache
    assert set(cache) == {2, 3}
