"""How much slower than the reference machine this one is, sampled while something else runs.

A figure from an idle machine says little of a run that keeps all cores busy.

usage: sampled_slowness FILE [SECONDS]

Every ten seconds, or as many, a line of FILE gets one number: 2.0 where the same work takes twice the CPU time. Ends
with the process that has started it.
"""

import os
import sys
import time
from pathlib import Path

from harness.sandbox.machine_speed import slowness_now


def main(file: Path, seconds: float) -> None:
    """Write samples as long as the parent is there."""
    parent = os.getppid()
    with file.open("a") as samples:
        while os.getppid() == parent:
            samples.write(f"{slowness_now():.3f}\n")
            samples.flush()
            time.sleep(seconds)


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 10.0)
