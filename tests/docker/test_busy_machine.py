"""A loaded machine changes no verdict: a reference of each language is judged while others keep every core busy."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.light_task import LIGHT, light_catalog
from tests.support.load import busy_cores

pytestmark = [pytest.mark.docker, pytest.mark.alone]


def judged(catalog: Path, task: str) -> dict[str, Any]:
    """The verdict of a task's reference, as a new command comes to it."""
    reference = catalog / "tasks" / task / "reference"
    files = ("--patch", str(reference / "tests.patch"), "--manifest", str(reference / "manifest.yaml"))
    verify = ("--catalog", str(catalog), "verify", task, *files, "--sandbox", "docker", "--json")
    done = subprocess.run([sys.executable, "-m", "harness.cli", *verify], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.long
@pytest.mark.parametrize("task", LIGHT)
def test_eight_busy_processes_change_nothing_of_a_verdict(task: str, tmp_path: Path) -> None:
    catalog = light_catalog(tmp_path)
    idle = judged(catalog, task)
    with busy_cores(4):
        busy = judged(catalog, task)
    assert idle["verdict"] == "resolved"
    assert busy == idle
