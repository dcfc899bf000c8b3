import os
import pathlib
import random
import threading
import time

import redis
from redis.lock import Lock

NAMES = ("one", "two", "два")
TOKENS = (None, "mine", b"\x00\xff", "ключ")
KNOWN = (b"mine", b"\x00\xff", "ключ".encode(), b"of another")
LIFETIMES = (None, 0, 100, 250.5, 400)


def shown_error(error: BaseException) -> str:
    return f"{type(error).__name__} {error} {getattr(error, 'lock_name', '')!r} {error.__cause__!r}"


def left(client, name):
    """How long a key will last, to ten seconds; no step takes as long."""
    return round(client.pttl(name) / 10000)


def within(lock, fails):
    with lock as entered:
        seen = entered is lock, lock.owned()
        if fails:
            raise ValueError(seen)
    return seen, lock.owned()


def handed_over(client, lock, name):
    """What a caller gets who waits while the lock becomes free."""
    waiting = Lock(client, name, sleep=0.01, blocking_timeout=30)
    client.pexpire(name, 40)
    return waiting.acquire(), waiting.owned(), lock.owned(), waiting.release()


def given_up(client, name, limit):
    """Whether a caller who waits in vain gives up about when it said."""
    began = time.monotonic()
    got = Lock(client, name, sleep=0.01).acquire(blocking_timeout=limit)
    return got, limit - 0.1 < time.monotonic() - began < limit + 2


def in_a_thread(lock):
    told = []

    def look():
        try:
            told.append(lock.acquire(blocking=False))
            told.append(lock.owned())
            told.append(lock.release())
        except Exception as error:
            told.append(shown_error(error))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    return told


OPERATIONS = {
    "get": lambda client, lock, name, token, amount: lock.acquire(blocking=False, token=token),
    "get at once": lambda client, lock, name, token, amount: lock.acquire(0.01, blocking_timeout=0, token=token),
    "free": lambda client, lock, name, token, amount: lock.release(),
    "locked": lambda client, lock, name, token, amount: lock.locked(),
    "owned": lambda client, lock, name, token, amount: lock.owned(),
    "more": lambda client, lock, name, token, amount: lock.extend(amount),
    "other": lambda client, lock, name, token, amount: lock.extend(amount, replace_ttl=True),
    "again": lambda client, lock, name, token, amount: lock.reacquire(),
    "shorten": lambda client, lock, name, token, amount: client.pexpire(name, 50000),
    "run out": lambda client, lock, name, token, amount: client.delete(name),
    "taken": lambda client, lock, name, token, amount: client.set(name, "of another", px=300000),
    "with": lambda client, lock, name, token, amount: within(lock, False),
    "with error": lambda client, lock, name, token, amount: within(lock, True),
    "hand over": lambda client, lock, name, token, amount: handed_over(client, lock, name),
    "give up": lambda client, lock, name, token, amount: given_up(client, name, 0.04),
    "thread": lambda client, lock, name, token, amount: in_a_thread(lock),
}
OFTEN = ("get", "get", "get", "free", "more", "owned")


def session(client, lifetimes, steps, local):
    """What each step with two callers' locks gives, and what is at the server after it."""
    client.flushdb()
    told = []
    for name in NAMES:
        told.append((name, Lock(client, name, timeout=100).acquire(blocking=False), left(client, name)))
    client.flushdb()
    locks = {
        (name, who): Lock(client, name, life, sleep=0.01, blocking_timeout=0.02, thread_local=local)
        for name in NAMES
        for who, life in enumerate(lifetimes)
    }
    for step, name, who, token, amount in steps:
        lock = locks[name, who]
        try:
            result = OPERATIONS[step](client, lock, name, token, amount)
        except Exception as error:
            result = shown_error(error)
        told.append((step, who, result, client.exists(name), left(client, name)))
        held = client.get(name)
        told.append(held if held in KNOWN else held is None)
        told.append([each.local.token is None for each in locks.values()])
    return told


def test_fuzz_shared_lock():
    """Calls the code on drawn inputs, each of them twice, and writes down what it answers."""
    draw = random.Random(int(os.environ["TESTWRIGHT_FUZZ_SEED"]))
    clients = [redis.Redis(), redis.Redis(db=1)]
    lines = []
    for _ in range(12):
        number, local = draw.randrange(2), draw.random() < 0.5
        lifetimes = draw.choices(LIFETIMES, k=2)
        steps = [
            (
                draw.choice((*OPERATIONS, *OFTEN)),
                draw.choice(NAMES),
                draw.randrange(2),
                draw.choice(TOKENS),
                draw.choice((30, 60, 120.5)),
            )
            for _ in range(20)
        ]
        for _ in range(2):
            try:
                result = repr(session(clients[number], lifetimes, steps, local))
            except Exception as error:
                result = shown_error(error)
            lines.append(f"session{ascii((number, lifetimes, steps, local))} => {ascii(result)}\n")

    with open(pathlib.Path(os.environ["TESTWRIGHT_REPORT_DIR"]) / "fuzz.txt", "a", encoding="utf-8") as report:
        report.writelines(lines)
