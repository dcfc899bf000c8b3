"""A loaded machine changes no verdict: a reference of each language is judged while others keep every core busy."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.light_task import LIGHT, light_catalog
from tests.support.load import busy_cores

pytestmark = [pytest.mark.docker, pytest.mark.alone]


@pytest.mark.parametrize("task", LIGHT)
def test_a_reference_is_resolved_while_every_core_is_busy(task: str, tmp_path: Path) -> None:
    catalog = light_catalog(tmp_path)
    reference = catalog / "tasks" / task / "reference"
    files = ("--patch", str(reference / "tests.patch"), "--manifest", str(reference / "manifest.yaml"))
    verify = ("--catalog", str(catalog), "verify", task, *files, "--sandbox", "docker", "--json")
    with busy_cores():
        done = subprocess.run(
            [sys.executable, "-m", "harness.cli", *verify], capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["verdict"] == "resolved", done.stdout
