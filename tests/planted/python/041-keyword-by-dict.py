# kind: parameter; line: 6; name: max_size; how: keyword given by a dict with two stars
import pytest

from cachetools import LRUCache

OPTIONS = {"max_size": 2}


def test_options_are_forwarded():
    cache = LRUCache(**OPTIONS)
    assert cache.maxsize == 2


def test_size_is_needed():
    with pytest.raises(TypeError):
        LRUCache()
