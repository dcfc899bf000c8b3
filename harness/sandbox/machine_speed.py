"""The speed of this machine, by which deadlines are scaled, also those of an engine elsewhere."""

import contextlib
import hashlib
import json
import os
import platform
import sys
import time
import zlib
from functools import cache
from pathlib import Path

from harness.sandbox.host import cache_directory

REFERENCE_SECONDS = 0.016
"""CPU time that `work` takes on the machine that the limits in the catalog were chosen on."""
MAX_SLOWNESS = 10.0
_TIMES = 5
_ROUNDS = 300_000
_DATA = bytes(range(256)) * 4000


def work() -> int:
    """Compute for a few hundredths of a second: interpreted code, and compiled code that moves memory."""
    value = 1
    for number in range(_ROUNDS):
        value = (value * 31 + number) % 1_000_003
    return value + zlib.crc32(zlib.compress(_DATA, 6))


def measure() -> float:
    """Return the CPU seconds of `work` in this thread, the best of a few: other load hardly changes them."""
    return min(seconds_of_work() for _ in range(_TIMES))


def slowness_now() -> float:
    """Return how many times longer `work` takes at present than on the reference machine.

    Cores that share their units or their memory are slower when all are busy. A first round isn't counted: after a
    pause its code and data are in no cache.
    """
    work()
    return seconds_of_work() / REFERENCE_SECONDS


def seconds_of_work() -> float:
    """Return the CPU seconds of `work` in this thread."""
    began = time.thread_time()
    work()
    return time.thread_time() - began


@cache
def slowness() -> float:
    """Return how many times longer this machine takes than the reference, from 1 to MAX_SLOWNESS.

    Measured once per machine and Python, and kept in the cache directory.
    """
    path = cache_directory() / "machine" / f"{_identity()}.json"
    seconds = _read(path)
    if seconds is None:
        seconds = measure()
        with contextlib.suppress(OSError):  # a full disk is no reason to stop here
            path.parent.mkdir(parents=True, exist_ok=True)
            new = path.with_suffix(f".{os.getpid()}")
            new.write_text(json.dumps({"seconds": seconds}))
            new.replace(path)
    return min(MAX_SLOWNESS, max(1.0, seconds / REFERENCE_SECONDS))


def _read(path: Path) -> float | None:
    try:
        seconds = json.loads(path.read_text())["seconds"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return float(seconds) if isinstance(seconds, float) and 0 < seconds < 60 else None


def _identity() -> str:
    """Return an ID for this machine and interpreter: a cache directory may be shared by several."""
    model = ""
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((line for line in lines if line.startswith("model name")), "")
    facts = (platform.node(), platform.machine(), model, os.cpu_count(), sys.version)
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:16]
