"""A store of 1,000, 10,000 and 100,000 finished trials: what `show`, and a `run` that finds nothing to do, cost.

CPU and memory, each in a process of its own.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.support.finished_run import config, finished_run
from tests.support.many_trials import many_trials

SIZES = (1_000, 10_000, 100_000)
LARGE_SIZES = SIZES[1:]
"""Of which `run` keeps an index."""
_MEASURED = """
import json, os, resource, sys
sys.stdout = open(os.devnull, "w")
from pathlib import Path
from harness.results.large_runs import run_total
from harness.results.report.run_summary import show_large_run
from harness.results.report.run_report import show_run
run, what = Path(sys.argv[1]), sys.argv[2]
before = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
show_large_run(run) if what == "show" else show_run(run, None, as_json=True)
found = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([found[0] + found[1] - before, found.ru_maxrss / 1024]), file=sys.__stdout__)
"""


_STARTED = """
import json, resource, sys
from contextlib import nullcontext
from pathlib import Path
from harness.runs.command import configure, execute
from harness.sandbox.registry import SANDBOXES
from harness.specs.catalog import Catalog
from tests.support.fake_engine import FakeEngine
from tests.support.finished_run import config
run, models = Path(sys.argv[1]), int(sys.argv[2])
engine = FakeEngine(lambda _run, _test: "passes")
engine.isolation = "docker"
SANDBOXES.register("here", lambda _argument, _images: engine)
before = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
options = configure({**config(models).model_dump(), "sandbox": "here"}, None)
silent = lambda _: nullcontext(lambda *_: None)
done = execute(Catalog(run.parent / "catalog"), options, run, silent, lambda _: None)
assert len(done.finished) == models * 100, "something was begun"
found = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([found[0] + found[1] - before, found.ru_maxrss / 1024]))
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


class Started(NamedTuple):
    """Of `run` on a run of `trials` that are finished: `first` makes the index, `again` reads it."""

    trials: int
    first: Cost
    again: Cost


def measure(trials: int) -> Measured:
    with tempfile.TemporaryDirectory(prefix="testwright-") as scratch:
        run = many_trials(Path(scratch), trials, attempts=100)
        return Measured(trials, cost(run, "show"), cost(run, "show"), cost(run, "json"))


def measure_start(trials: int) -> Started:
    """Of as many trials that an index is kept."""
    models = trials // 100
    with tempfile.TemporaryDirectory(prefix="testwright-") as scratch, _cache_in(Path(scratch)):
        finished_run(Path(scratch), config(models))
        command = [sys.executable, "-c", _STARTED, str(Path(scratch) / "run"), str(models)]
        told = [subprocess.run(command, check=True, capture_output=True, text=True).stdout for _ in range(2)]
    first, again = (Cost(*json.loads(line)) for line in told)
    return Started(trials, first, again)


@contextmanager
def _cache_in(scratch: Path) -> Iterator[None]:
    """The cache knows the image of a finished run; keys are there."""
    own = {"TESTWRIGHT_CACHE": str(scratch / "cache"), "OPENAI_API_KEY": "of-nobody"}
    before = dict(os.environ)
    os.environ.update(own)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
