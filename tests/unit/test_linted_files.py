"""Which files the linter reads: a folder that pyproject.toml leaves out by its name is left out everywhere."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_module_is_linted() -> None:
    ruff = Path(sys.executable).with_name("ruff")
    shown = subprocess.run([ruff, "check", "--show-files", "."], cwd=ROOT, capture_output=True, text=True, check=True)
    read = {Path(line) for line in shown.stdout.splitlines()}
    assert set((ROOT / "harness").rglob("*.py")) <= read
