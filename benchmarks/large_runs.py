"""A store of 1,000, 10,000 and 100,000 finished trials: CPU and memory of `testwright show`, each in a process."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.support.many_trials import many_trials

SIZES = (1_000, 10_000, 100_000)
_MEASURED = """
import json, os, resource, sys
sys.stdout = open(os.devnull, "w")
from pathlib import Path
from harness.analysis.large_runs import run_total
from harness.report.large_run_report import show_large_run
from harness.report.run_report import show_run
run, what = Path(sys.argv[1]), sys.argv[2]
before = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
show_large_run(run) if what == "show" else show_run(run, None, as_json=True)
found = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([found[0] + found[1] - before, found.ru_maxrss / 1024]), file=sys.__stdout__)
"""


class Cost(NamedTuple):
    """CPU seconds beyond the imports, and the peak of the process in MB."""

    seconds: float
    megabytes: float


def cost(run: Path, what: str) -> Cost:
    command = [sys.executable, "-c", _MEASURED, str(run), what]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return Cost(*json.loads(done.stdout))


class Measured(NamedTuple):
    """Of a run of `trials`: `first` makes the index, `show` reads it, `as_json` is `show --json`."""

    trials: int
    first: Cost
    show: Cost
    as_json: Cost


def measure(trials: int) -> Measured:
    with tempfile.TemporaryDirectory(prefix="testwright-") as scratch:
        run = many_trials(Path(scratch), trials, attempts=100)
        return Measured(trials, cost(run, "show"), cost(run, "show"), cost(run, "json"))
