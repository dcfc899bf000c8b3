"""A loaded machine changes no verdict: a reference of each language is judged while others keep every core busy."""

import json
import subprocess
import sys

import pytest

from harness.specs.catalog import Catalog
from tests.support.load import busy_cores

pytestmark = [pytest.mark.docker, pytest.mark.alone]


@pytest.mark.parametrize(
    "task", ["aiosmtpd-proxy-tlv", "restic-option-strings", "jansson-object-merge", "zod-stringbool"]
)
def test_a_reference_is_resolved_while_every_core_is_busy(task: str) -> None:
    reference = Catalog().task(task).directory / "reference"
    options = ["--patch", str(reference / "tests.patch"), "--manifest", str(reference / "manifest.yaml")]
    with busy_cores():
        done = subprocess.run(
            [sys.executable, "-m", "harness.cli", "verify", task, *options, "--sandbox", "docker", "--json"],
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["verdict"] == "resolved", done.stdout
