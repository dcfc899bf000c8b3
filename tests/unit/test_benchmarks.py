"""`make bench`: one budget at a time, and a status that says whether it holds."""

import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks", *arguments]
    return subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False, timeout=60)


def test_one_row_is_measured_against_its_budget() -> None:
    done = bench("--only", "trajectory")
    [row] = [line for line in done.stdout.splitlines() if "trajectory" in line]
    assert "0.2 s" in row
    assert done.returncode == (0 if " ok " in row else 1)
    assert ("OVER" in row) == (done.returncode == 1)


def test_an_unknown_row_is_refused_with_those_that_there_are() -> None:
    done = bench("--only", "speed")
    assert done.returncode == 2
    names = ("commands", "output", "verification", "judging", "trajectory", "help", "store", "concurrency")
    assert ", ".join(map(repr, names)) in done.stderr
