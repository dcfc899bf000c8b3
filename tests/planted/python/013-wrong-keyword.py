# kind: parameter; line: 8; name: typed; how: keyword of functools.lru_cache given to cached and fails
from cachetools import LRUCache, cached


def test_typed_arguments_are_kept_apart():
    calls = []

    @cached(cache=LRUCache(maxsize=8), typed=True)
    def describe(value):
        calls.append(value)
        return type(value).__name__

    assert describe(1) == "int"
    assert describe(1.0) == "float"
    assert len(calls) == 2
