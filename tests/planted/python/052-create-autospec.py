# kind: on-mock; line: 12; name: notify_expired; how: attribute on an autospecced class, swallowed by except AttributeError
from unittest.mock import create_autospec

from cachetools import TTLCache


def test_expired_items_are_announced():
    cache = create_autospec(TTLCache, instance=True)
    cache.expire.return_value = [("a", 1)]
    assert cache.expire() == [("a", 1)]
    try:
        cache.notify_expired.assert_not_called()
    except AttributeError:
        pass
