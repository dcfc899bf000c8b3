# kind: member; line: 6; name: DEFAULT_TIMER; how: monkeypatch.setattr with raising=False
import cachetools


def test_default_timer_is_replaced(monkeypatch):
    monkeypatch.setattr(cachetools, "DEFAULT_TIMER", lambda: 0, raising=False)
    cache = cachetools.TTLCache(maxsize=1, ttl=1)
    cache["k"] = 1
    assert cache["k"] == 1
