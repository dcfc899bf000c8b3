"""A busy machine."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def busy_cores(processes: int = 1) -> Iterator[None]:
    """So many processes for each core that compute without end, at our own priority; ended at the end."""
    # Each ends by itself as well, should we be killed.
    script = "import time; end = time.monotonic() + 1200\nwhile time.monotonic() < end: pass"
    count = processes * (os.cpu_count() or 1)
    running = [subprocess.Popen([sys.executable, "-c", script]) for _ in range(count)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
        for process in running:
            process.wait()
