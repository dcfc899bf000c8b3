"""Programs that a package brings along run in a toolbox, which is read-only where it is used."""

import shutil
import subprocess
from pathlib import Path

import pytest

from harness.sandbox.toolboxes.assemble import LOADERS, redirect_program

LOADER = LOADERS["x86_64"]


@pytest.mark.parametrize("needs_loader", [True, False])
def test_a_program_that_came_without_the_right_to_run_may_run(tmp_path, needs_loader):
    """One of another system's loader, or of none, is left as it is otherwise."""
    program = tmp_path / "rg"
    shutil.copy(shutil.which("true") or "/bin/true", program)
    program.chmod(0o644)
    redirect_program(program, LOADER if needs_loader else "/lib/ld-musl.so.1", LOADER)
    assert subprocess.run([program]).returncode == 0


def test_what_is_no_program_gets_no_right_to_run(tmp_path: Path):
    text = tmp_path / "README.md"
    text.write_text("#!/bin/sh\n")
    text.chmod(0o644)
    redirect_program(text, LOADER, LOADER)
    assert text.stat().st_mode & 0o111 == 0
