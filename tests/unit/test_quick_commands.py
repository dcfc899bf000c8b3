"""What quick commands must not import: each of these costs more than the command's own work.

Nor may they collect garbage all the time: at Python's own threshold that is a seventh of what litellm's import takes.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

JUDGING = {"harness.judging.verify.judge.judge", "jinja2"}
HEAVY = {"litellm", "matplotlib", "numpy", "scipy", "aiohttp", "pyarrow", "ray", "tree_sitter"}
LEFT_OUT = {
    "--help": {"pydantic", "yaml", "asyncio", "docker", *JUDGING, *HEAVY},
    "task list": {"asyncio", "docker", *JUDGING, *HEAVY},
    "scaffold list": {"docker", "harness.judging.verify.judge.judge", *HEAVY},
    "clean": {*JUDGING, *HEAVY},
    "doctor --help": {"docker", "asyncio", *JUDGING, *HEAVY},
}
_IMPORTED = """
import atexit, gc, json, sys
atexit.register(lambda: print(json.dumps([gc.get_threshold()[0], *sorted(sys.modules)]), file=sys.stderr))
from harness.cli.main import main
sys.argv[0] = "testwright"
main()
"""


@pytest.mark.parametrize("command", LEFT_OUT)
def test_a_quick_command_imports_nothing_heavy(command: str, tmp_path: Path) -> None:
    words = [sys.executable, "-c", _IMPORTED, *command.split()]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    threshold, *imported = json.loads(done.stderr.splitlines()[-1])
    assert threshold >= 10_000
    assert "harness.cli.main" in imported
    assert not {*imported} & LEFT_OUT[command]


def test_packages_are_searched_for_entry_points_once(tmp_path: Path) -> None:
    """By a registry of ours, and not by pydantic as well: opening a file of each package was much of the time."""
    watch = "sys.addaudithook(lambda e, a: e == 'open' and 'entry_points.txt' in str(a[0]) and opened.append(a[0]))"
    code = f"import sys\nopened = []\n{watch}\n{_IMPORTED.replace('sorted(sys.modules)', 'list(map(str, opened))')}"
    words = [sys.executable, "-c", code, "task", "list"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    opened = json.loads(done.stderr.splitlines()[-1])
    assert len(opened) == len(set(opened))
