# kind: member; line: 10; name: total_weight; how: attribute of self which neither the subclass nor the base has
from cachetools import LRUCache


class Weighted(LRUCache):
    def __init__(self, maxsize):
        super().__init__(maxsize, getsizeof=len)

    def room(self):
        return self.maxsize - self.total_weight


def test_room_shrinks():
    cache = Weighted(maxsize=10)
    cache["a"] = "four"
    assert cache.room() == 6
