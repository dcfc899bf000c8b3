"""A program on a small disk, full or not: a tmpfs in a namespace of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

_ENTER = ("unshare", "--user", "--map-root-user", "--mount")


def run_on_small_disk(place: Path, kib: int, program: str, *arguments: Path, full: bool = False) -> str:
    """What a Python program prints that finds a disk of `kib` KiB at `place`; `full`: with nothing free on it.

    Skips the test where this machine allows no namespaces.
    """
    if subprocess.run([*_ENTER, "true"], check=False, capture_output=True).returncode:
        pytest.skip("NO NAMESPACES HERE, so a full disk was NOT tested")
    place.mkdir(exist_ok=True)
    script = f'mount -t tmpfs -o size={kib}k none "{place}" || exit 9\n'
    if full:
        script += f'cat /dev/zero > "{place}/filling"\n'
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[2]), "HOME": str(place)}
    done = subprocess.run(
        [*_ENTER, "sh", "-c", script + 'exec "$@"', "sh", sys.executable, "-c", program, *map(str, arguments)],
        capture_output=True, text=True, timeout=120, env=env, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
