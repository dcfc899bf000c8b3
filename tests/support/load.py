"""A busy machine."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_SECONDS = 3600
"""After so long each ends by itself, should we be killed: longer than any test has."""


@contextmanager
def busy_cores(processes: int = 1) -> Iterator[Callable[[], bool]]:
    """So many processes for each core that compute without end, at our own priority; ended at the end.

    Yields a function that tells whether all of them still compute.
    """
    script = f"import time; end = time.monotonic() + {_SECONDS}\nwhile time.monotonic() < end: pass"
    count = processes * (os.cpu_count() or 1)
    running = [subprocess.Popen([sys.executable, "-c", script]) for _ in range(count)]
    try:
        yield lambda: all(process.poll() is None for process in running)
    finally:
        for process in running:
            process.kill()
        for process in running:
            process.wait()
