# kind: none; line: 0; name: -; how: pytest.importorskip of optional packages of others
import pytest

from cachetools import LRUCache


def test_arrays_are_cached():
    numpy = pytest.importorskip("numpy")
    cache = LRUCache(maxsize=16, getsizeof=lambda a: a.nbytes)
    cache["a"] = numpy.zeros(2, dtype="int64")
    assert cache.currsize == 16


def test_pickled_by_the_faster_module():
    pickle = pytest.importorskip("cloudpickle", minversion="1.0")
    cache = LRUCache(maxsize=1)
    cache["a"] = 1
    assert dict(pickle.loads(pickle.dumps(cache))) == {"a": 1}
