# kind: member; line: 5; name: tlru_cache; how: absent decorator at module level so that collection fails
import cachetools.func


@cachetools.func.tlru_cache(maxsize=4)
def triple(n):
    return 3 * n


def test_triple():
    assert triple(2) == 6
    assert triple(2) == 6
    assert triple.cache_info().hits == 1
