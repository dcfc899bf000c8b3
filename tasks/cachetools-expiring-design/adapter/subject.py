"""The caches of cachetools with a virtual clock, in milliseconds."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from cachetools import TLRUCache, TTLCache  # noqa: E402
from cachetools.func import ttl_cache  # noqa: E402


class Subject:
    def __init__(self, clock):
        self.now = lambda: clock.ms
        self.cache = None
        self.computed = False

    def even_cache(self, size, seconds):
        self.cache = TTLCache(size, seconds * 1000, timer=self.now)

    def own_cache(self, size):
        self.cache = TLRUCache(size, lambda _key, entry, now: now + entry[1] * 1000, timer=self.now)

    def put(self, key, value, seconds):
        self.cache[key] = (value, seconds)

    def read(self, key):
        entry = self.cache.get(key)
        return ("value", {"value": entry[0]}) if entry else "missing"

    def ask(self, key):
        return "there" if key in self.cache else "missing"

    def take_any(self):
        try:
            key, entry = self.cache.popitem()
        except KeyError:
            return "missing"
        return "taken", {"key": key, "value": entry[0]}

    def clean(self):
        return "removed", {"keys": "".join(sorted(key for key, _ in self.cache.expire()))}

    def function(self, seconds):
        @ttl_cache(ttl=seconds * 1000, timer=self.now)
        def function(number):
            self.computed = True
            return number

        self.remembering = function

    def call(self, number):
        self.computed = False
        self.remembering(number)
        return "computed" if self.computed else "remembered"
