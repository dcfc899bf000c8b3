import random

from cachetools import Cache, FIFOCache, LFUCache, LRUCache, TTLCache, cached, cachedmethod, keys
from testwright_drawing import drawn_calls

ARGUMENTS = (0, 1, 1.0, True, "a", "limit", None, (), (1, "a"), -1, "д€")
NAMES = ("a", "b", "limit", "z")
RESULTS = (None, 0, "", "text", "a" * 30, (), [1, 2], 3.5, {"id": 42})


class Lock:
    """Writes down when it is taken and released."""

    def __init__(self):
        self.events = []

    def __enter__(self):
        self.events.append("(")

    def __exit__(self, *exc):
        self.events.append(")" if exc[0] is None else f"{exc[0].__name__})")


def new_cache(draw: random.Random, clock: list):
    kind = draw.choice(("none", "dict", "cache", "fifo", "lru", "lfu", "ttl", "sized", "tiny"))
    size = draw.choice((0, 1, 2, 3, 8))
    makers = {
        "none": lambda: None,
        "dict": dict,
        "cache": lambda: Cache(8),
        "fifo": lambda: FIFOCache(size),
        "lru": lambda: LRUCache(size),
        "lfu": lambda: LFUCache(size),
        "ttl": lambda: TTLCache(size, 5, timer=lambda: clock[0]),
        "sized": lambda: LRUCache(12, getsizeof=lambda value: len(str(value))),
        "tiny": lambda: LRUCache(3, getsizeof=lambda value: len(str(value))),
    }
    return kind, makers[kind]


def arguments(draw: random.Random) -> tuple[tuple, dict]:
    args = tuple(draw.choice(ARGUMENTS) for _ in range(draw.randrange(3)))
    if draw.random() < 0.05:
        args += ([],)
    names = draw.sample(NAMES, draw.choice((0, 0, 1, 2, 3)))
    return args, {name: draw.choice(ARGUMENTS) for name in names}


def calls(draw: random.Random) -> list[tuple[tuple, dict]]:
    """Some calls, with many repetitions, some with their keywords in another order."""
    few = [arguments(draw) for _ in range(4)]
    return [(args, dict(draw.sample(list(kwargs.items()), len(kwargs)))) for args, kwargs in draw.choices(few, k=8)]


def shown_error(error: BaseException) -> str:
    return f"{type(error).__name__} {error} {error.__cause__!r} {error.__context__!r}"


def test_fuzz_results():
    """Calls the code on drawn inputs, each of them twice, and writes down what it answers."""
    with drawn_calls(shown_error) as (draw, call):
        def session(decorate, wanted, results, cache, lock, clock):
            """What a decorated function gives, what is computed, and what its cache and lock have seen, step by step."""
            computed = []

            def compute(*args, **kwargs):
                computed.append((args, kwargs, "".join(lock.events) if lock else ""))
                result = results[len(computed) % len(results)]
                if isinstance(result, Exception):
                    raise type(result)(*result.args)
                if result == "again" and len(computed) < 20:
                    return decorated(*args, **kwargs)
                return result

            decorated = decorate(compute)
            told = []
            for step, (args, kwargs) in enumerate(wanted):
                clock[0] += step % 3
                try:
                    told.append(decorated(*args, **kwargs))
                except Exception as error:
                    told.append(shown_error(error))
                info = getattr(decorated, "cache_info", None)
                told.append((len(computed), info and info(), None if cache is None else sorted(map(repr, cache.items()))))
                if step == 5 and decorated.cache_clear:
                    told.append(decorated.cache_clear())
            return told, computed, lock and lock.events, decorated.__name__, decorated.cache is cache, decorated.cache_lock is lock

        for _ in range(40):
            kind, make = new_cache(draw, clock := [0])
            wanted, info, locked = calls(draw), draw.random() < 0.5, draw.random() < 0.5
            key = draw.choice((keys.hashkey, keys.hashkey, keys.typedkey))
            results = [*draw.choices(RESULTS, k=3), draw.choice((LookupError("away"), KeyError("key"), ValueError("value"), "again", 7))]

            def function():
                cache, lock = make(), Lock() if locked else None
                return session(cached(cache, key=key, lock=lock, info=info), wanted, results, cache, lock, clock)

            def method():
                lock, seen = Lock() if locked else None, []

                class Owner:
                    def __init__(self):
                        self.cache = make()

                    @cachedmethod(lambda self: self.cache, key=method_key, lock=(lambda self: lock) if locked else None)
                    def read(self, *args, **kwargs):
                        seen.append((args, kwargs, "".join(lock.events) if lock else ""))
                        result = results[len(seen) % len(results)]
                        if isinstance(result, Exception):
                            raise type(result)(*result.args)
                        return result

                owners, told = [Owner(), Owner()], []
                for step, (args, kwargs) in enumerate(wanted):
                    owner = owners[step % 3 == 2]
                    try:
                        told.append(owner.read(*args, **kwargs))
                    except Exception as error:
                        told.append(shown_error(error))
                    told.append((len(seen), None if owner.cache is None else sorted(map(repr, owner.cache.items()))))
                    if step == 5:
                        told.append(Owner.read.cache_clear(owner))
                return told, seen, lock and lock.events, Owner.read.__name__, Owner.read.cache_key is method_key

            method_key = draw.choice((keys.methodkey, keys.typedmethodkey))
            how = (kind, info, locked, key.__name__, method_key.__name__, wanted, results)
            clock[0] = 0
            call("function", how, function)
            call("method", how, method)
            for args, kwargs in wanted[:3]:
                call("key", (args, kwargs), lambda: (keys.hashkey(*args, **kwargs), keys.typedkey(*args, **kwargs)))
                call("method key", (args, kwargs), lambda: (keys.methodkey(0, *args, **kwargs), keys.typedmethodkey(0, *args, **kwargs)))
