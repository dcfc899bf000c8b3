"""A loaded machine changes no verdict: honest work in each language is judged while others keep every core busy.

With few arms, a control round and own runs: there are clocks in each kind of arm, not in their number.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.specs.reasons import Verdict
from tests.support.corpora import submissions
from tests.support.few_arms import few_arms_elsewhere
from tests.support.light_task import LIGHT, light_catalog
from tests.support.load import busy_cores

pytestmark = [pytest.mark.docker, pytest.mark.alone, pytest.mark.long, pytest.mark.timeout(3000)]

HONEST = Path(__file__).parents[1] / "honest"


def thorough(task: str) -> Path:
    """The folder of the shortest honest suite for a task that must be resolved."""
    sizes = {
        case.name: len(case.submission.patch)
        for case in submissions("honest")
        if case.task.id == task and case.submission and case.expected and case.expected.verdict is Verdict.RESOLVED
    }
    return HONEST / min(sizes, key=sizes.__getitem__)


def printed(catalog: Path, task: str, suite: Path) -> bytes:
    """The verdict on a suite, as a new command prints it."""
    files = ("--patch", str(suite / "patch.diff"), "--manifest", str(suite / "manifest.yaml"))
    verify = ("--catalog", str(catalog), "verify", task, *files, "--sandbox", "docker", "--json")
    env = {**os.environ, **few_arms_elsewhere(catalog.parent, 1)}
    done = subprocess.run([sys.executable, "-m", "harness.cli", *verify], env=env, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.mark.parametrize("task", LIGHT)
def test_four_busy_processes_for_each_core_change_no_byte_of_a_verdict(task: str, tmp_path: Path) -> None:
    catalog, suite = light_catalog(tmp_path / "light"), thorough(task)
    idle = printed(catalog, task, suite)
    assert json.loads(idle)["verdict"] == "resolved"
    with busy_cores(4) as are_busy:
        busy = printed(catalog, task, suite)
        assert are_busy(), "for the last part of it the machine was idle"
    assert busy == idle
