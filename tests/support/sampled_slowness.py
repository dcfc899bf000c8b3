"""How much slower than the reference machine this one is, sampled while something else runs.

A figure from an idle machine says little of a run that keeps all cores busy.

usage: sampled_slowness PARENT FILE

Every ten seconds a line of FILE gets one number: 2.0 where the same work takes twice the CPU time. It ends with its
parent, the process of that number.
"""

import os
import sys
import time
from pathlib import Path

from harness.sandbox.machine_speed import slowness_now

SECONDS = 10.0


def main(parent: int, file: Path) -> None:
    """Write samples as long as the parent is there."""
    with file.open("a") as samples:
        while os.getppid() == parent:
            samples.write(f"{slowness_now():.3f}\n")
            samples.flush()
            time.sleep(SECONDS)


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
