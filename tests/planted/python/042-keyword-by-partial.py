# kind: parameter; line: 6; name: lifetime; how: keyword given by functools.partial which is never called
from functools import partial

from cachetools import TTLCache

short_lived = partial(TTLCache, maxsize=10, lifetime=5)


def test_partial_wraps_the_class():
    assert short_lived.func is TTLCache
    assert short_lived.keywords["maxsize"] == 10
