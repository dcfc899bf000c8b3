# kind: member; line: 17; name: evictions; how: attribute of a returned object
from cachetools.func import lru_cache


@lru_cache(maxsize=1)
def square(n):
    return n * n


def test_info_counts_evictions():
    square.cache_clear()
    square(1)
    square(2)
    info = square.cache_info()
    assert info.misses == 2
    assert info.currsize == 1
    assert info.evictions == 1
