"""CI does what the README promises a newcomer: `make test`, with an engine, and nothing more."""

import os
import subprocess
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]


def test_ci_is_make_test_with_an_engine_required(tmp_path: Path) -> None:
    make, told = tmp_path / "make", tmp_path / "told"
    make.write_text(f'#!/bin/sh\necho "$TESTWRIGHT_REQUIRE_DOCKER" "$PWD" "$@" >> {told}\n')
    make.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    subprocess.run([CHECKOUT / ".ci" / "run"], cwd=tmp_path, env={**os.environ, "PATH": path}, check=True)
    assert told.read_text() == f"1 {CHECKOUT} test\n"
    # Without what is left to `make test-all`.
    command = ["make", "--no-print-directory", "-n", "test"]
    env = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    done = subprocess.run(command, cwd=CHECKOUT, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "scripts/test"
