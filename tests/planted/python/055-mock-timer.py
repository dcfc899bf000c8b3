# kind: on-mock; line: 13; name: reset_clock; how: assert_not_called on a child which the code never touches
from unittest import mock

from cachetools import TTLCache


def test_timer_is_only_read():
    timer = mock.Mock(return_value=0)
    cache = TTLCache(maxsize=1, ttl=10, timer=timer)
    cache["a"] = 1
    assert "a" in cache
    assert timer.call_count >= 2
    timer.reset_clock.assert_not_called()
