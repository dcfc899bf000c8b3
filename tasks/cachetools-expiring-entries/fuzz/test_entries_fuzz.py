import pickle
from datetime import datetime, timedelta

from cachetools import TLRUCache, TTLCache, cached, func
from testwright_drawing import drawn_calls

KEYS = ("a", "b", "c", 1, 1.0, (1, "a"), None, "д€")
VALUES = ("", "v", "vv", "vvvvv", "v" * 12, "w")
UNITS = {"int": (100, 1), "float": (0.25, 0.5), "date": (datetime(2020, 2, 28), timedelta(hours=1))}


class Clock:
    """Goes on by `step` each time that it is read, and tells how often that was."""

    def __init__(self, kind, step):
        self.now, self.unit = UNITS[kind]
        self.step, self.reads = step, 0

    def __call__(self):
        self.reads += 1
        self.now += self.step * self.unit
        return self.now

    def advance(self, units):
        self.now += units * self.unit

    def ahead(self, units):
        return self.now + units * self.unit


class Until:
    """Says until when an entry lives: by its value's length, its key, or all equally long."""

    def __init__(self, kind, unit):
        self.kind, self.unit = kind, unit

    def __call__(self, key, value, now):
        units = {"value": len(value) - 1, "key": len(str(key)), "all": 4}[self.kind]
        return now + units * self.unit


class Counted:
    """Writes down what is evicted and how often entries are cleared away."""

    def __init__(self, *args, **kwargs):
        self.seen = []
        super().__init__(*args, **kwargs)

    def popitem(self):
        pair = super().popitem()
        self.seen.append(pair)
        return pair

    def expire(self, time=None):
        gone = super().expire(time)
        self.seen.extend(("gone", *pair) for pair in gone)
        return gone


class Filling:
    """Makes what is missing."""

    def __missing__(self, key):
        self[key] = "made"
        return "made"


class CountedTTL(Counted, TTLCache):
    pass


class CountedTLRU(Counted, TLRUCache):
    pass


class FillingTTL(Filling, TTLCache):
    pass


class FillingTLRU(Filling, TLRUCache):
    pass


class LargeTTL(TTLCache):
    def getsizeof(self, value):
        return len(value)


class LargeTLRU(TLRUCache):
    def getsizeof(self, value):
        return len(value)


TTL = {"plain": TTLCache, "counted": CountedTTL, "filling": FillingTTL, "large": LargeTTL}
TLRU = {"plain": TLRUCache, "counted": CountedTLRU, "filling": FillingTLRU, "large": LargeTLRU}


def shown_error(error: BaseException) -> str:
    return f"{type(error).__name__} {error} {error.__cause__!r} {error.__suppress_context__}"


def loop(cache, units, change):
    """What a loop gives within which the clock goes on and the cache is changed."""
    seen = []
    for key in cache:
        seen.append((key, len(cache)))
        cache.timer.advance(units)
        if change == "read":
            seen.append(cache.get(key))
        elif change == "write":
            cache[key] = "w"
        elif change == "drop":
            seen.append(cache.pop(key, "none"))
        if len(seen) > 20:
            break
    return seen


def frozen(cache, units, key):
    with cache.timer as time:
        cache.timer.advance(units)
        return time, cache.timer(), key in cache, cache.get(key), len(cache)


OPERATIONS = {
    "set": lambda cache, key, value, units: cache.__setitem__(key, value),
    "update": lambda cache, key, value, units: cache.update({key: value, "b": "w", "c": "vv"}),
    "[]": lambda cache, key, value, units: cache[key],
    "get": lambda cache, key, value, units: cache.get(key, value),
    "in": lambda cache, key, value, units: key in cache,
    "del": lambda cache, key, value, units: cache.__delitem__(key),
    "pop": lambda cache, key, value, units: cache.pop(key),
    "pop default": lambda cache, key, value, units: cache.pop(key, value),
    "setdefault": lambda cache, key, value, units: cache.setdefault(key, value),
    "popitem": lambda cache, key, value, units: cache.popitem(),
    "clear": lambda cache, key, value, units: cache.clear(),
    "expire": lambda cache, key, value, units: list(cache.expire()),
    "expire then": lambda cache, key, value, units: list(cache.expire(cache.timer.ahead(units))),
    "len": lambda cache, key, value, units: (len(cache), cache.currsize, bool(cache)),
    "list": lambda cache, key, value, units: (list(cache), set(map(repr, cache)) == set(map(repr, cache.keys()))),
    "items": lambda cache, key, value, units: list(cache.items()),
    "repr": lambda cache, key, value, units: repr(cache),
    "advance": lambda cache, key, value, units: cache.timer.advance(units),
    "loop": lambda cache, key, value, units: loop(cache, units, "nothing"),
    "loop and read": lambda cache, key, value, units: loop(cache, units, "read"),
    "loop and write": lambda cache, key, value, units: loop(cache, units, "write"),
    "loop and drop": lambda cache, key, value, units: loop(cache, units, "drop"),
    "frozen": lambda cache, key, value, units: frozen(cache, units, key),
    "unhashable": lambda cache, key, value, units: cache.get([]),
    "missing method": lambda cache, key, value, units: cache.timer.backwards,
}
OFTEN = ("set", "set", "set", "set", "[]", "get", "advance", "advance", "in")
NAMES = (*OPERATIONS, *OFTEN, *OFTEN, "copy", "copy")


def session(make, steps):
    """What each step on a new cache answers, how often the clock was read by then, and what there is in the end."""
    cache, told = make(), []
    for name, key, value, units in steps:
        try:
            if name == "copy":
                cache = pickle.loads(pickle.dumps(cache))
                result = list(cache)
            else:
                result = OPERATIONS[name](cache, key, value, units)
        except Exception as error:
            result = shown_error(error)
        told.append((name, result))
        try:
            told.append((cache.timer.reads, cache.timer.now))
        except Exception as error:
            told.append(shown_error(error))
    told += [repr(cache), len(cache), list(cache.items()), getattr(cache, "seen", None)]
    while len(cache):
        told.append(cache.popitem())
    return told


def decorated(make, clock, steps):
    """What a decorated function gives, and how often it was computed, while the clock goes on."""
    computed, told = [], []

    def compute(*args):
        computed.append(args)
        return f"{len(computed)}"

    function = make(clock)(compute)
    for _, key, _, units in steps:
        told.append((function(key), len(computed), clock.reads))
        clock.advance(units % 3)
        if units == 7:
            told.append(function.cache_clear())
        told.append((tuple(function.cache_info()), clock.reads))
    return told, getattr(function, "cache_parameters", dict)(), function.__name__


def test_fuzz_entries():
    """Calls the code on drawn inputs, each of them twice, and writes down what it answers."""
    with drawn_calls(shown_error) as (draw, call):
        for _ in range(40):
            units, step = draw.choice(tuple(UNITS)), draw.choice((0, 0, 0, 1))
            unit, kind, until = UNITS[units][1], draw.choice(tuple(TTL)), draw.choice(("value", "key", "all"))
            size, life = draw.choice((1, 2, 3, 4, 9)), draw.choice((1, 2, 5, 10)) * (1 + step * 4)
            steps = [(draw.choice(NAMES), draw.choice(KEYS), draw.choice(VALUES), draw.randrange(8)) for _ in range(40)]
            typed, bound = draw.random() < 0.5, draw.choice((size, None))

            def ttl():
                return TTL[kind](size, life * unit, timer=Clock(units, step))

            def tlru():
                return TLRU[kind](size, Until(until, unit), timer=Clock(units, step))

            def ready_made(clock):
                return func.ttl_cache(bound, ttl=life * unit, timer=clock, typed=typed)

            def by_default(clock):
                return func.ttl_cache(timer=clock)

            def over_cache(clock):
                return cached(TLRUCache(size, Until(until, unit), timer=clock), info=True)

            call("ttl", (units, step, kind, size, life, steps), lambda: session(ttl, steps))
            call("tlru", (units, step, kind, size, until, steps), lambda: session(tlru, steps))
            wanted = [each for each in steps if isinstance(each[1], (str, int, float))]
            call("ready-made", (units, step, bound, life, typed, wanted), lambda: decorated(ready_made, Clock(units, step), wanted))
            call("default", wanted, lambda: decorated(by_default, Clock("int", step), wanted * 2))
            call("over a cache", (units, step, size, until, wanted), lambda: decorated(over_cache, Clock(units, step), wanted))
