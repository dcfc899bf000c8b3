# kind: parameter; line: 14; name: info; how: keyword that cached has and later versions of cachedmethod got, absent here
from cachetools import LRUCache, cachedmethod


class Squares:
    def __init__(self):
        self.cache = LRUCache(maxsize=4)

    def compute(self, n):
        return n * n


def test_method_is_cached_with_info():
    decorate = cachedmethod(lambda self: self.cache, info=True)
    compute = decorate(Squares.compute)
    squares = Squares()
    assert compute(squares, 3) == 9
    assert len(squares.cache) == 1
