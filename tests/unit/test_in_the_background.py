"""The suite is as green in the background as at a terminal."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
INTERRUPTS = """
import signal, subprocess, sys

import pytest

SAYS_WHEN = "print(flush=True); import signal; signal.pause()"

@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_program_is_ended(number):
    program = subprocess.Popen([sys.executable, "-c", SAYS_WHEN], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    program.stdout.readline()
    program.send_signal(number)
    assert program.wait(timeout=20) == -number
"""


@pytest.mark.long
@pytest.mark.parametrize(
    "launch",
    ["trap '' INT HUP; exec \"$@\" <&-", 'exec "$@"'],
    ids=["signals ignored, stdin closed", "as it is"],
)
def test_a_test_that_ends_a_program_by_a_signal_passes_however_it_was_started(launch, tmp_path):
    """A shell starts a job in the background with SIGINT ignored, nohup one with SIGHUP ignored."""
    (tmp_path / "test_it.py").write_text(INTERRUPTS)
    suite = [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", "test_it.py"]
    command, env = ["bash", "-c", launch, "bash", *suite], os.environ | {"PYTHONPATH": str(CHECKOUT)}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
