# kind: none; line: 0; name: -; how: getattr with a default for names that may be absent
import cachetools


def ttl_of(cache):
    return getattr(cache, "ttl", None)


def test_ttl_of_any_cache():
    assert ttl_of(cachetools.TTLCache(1, ttl=7)) == 7
    assert ttl_of(cachetools.LRUCache(1)) is None


def test_public_names_exist():
    missing = object()
    assert all(getattr(cachetools, name, missing) is not missing for name in cachetools.__all__)
