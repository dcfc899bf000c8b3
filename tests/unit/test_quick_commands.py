"""Commands that answer at once: each may cost half a second of CPU, so none imports what only analysis needs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("scipy", "numpy", "litellm", "pandas", "pyarrow", "harness.runs.trial_store")
PROGRAM = """
import json, resource, sys
from harness.cli.main import _status
sys.argv = ["testwright", *sys.argv[1:]]
status = _status()
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([status, used.ru_utime + used.ru_stime, sorted(sys.modules)]), file=sys.stderr)
"""


@pytest.mark.parametrize("words", [["task", "list"], ["doctor"], ["clean", "--json"]], ids=" ".join)
def test_a_quick_command_imports_nothing_heavy(tmp_path: Path, words: list[str]) -> None:
    no_engine = {"DOCKER_HOST": f"unix://{tmp_path}/none.sock", "TESTWRIGHT_CACHE": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        capture_output=True, text=True, check=True, env={**os.environ, **no_engine}, timeout=120,
    )  # fmt: skip
    _, seconds, modules = json.loads(done.stderr.splitlines()[-1])
    assert [name for name in HEAVY if name in modules] == []
    assert seconds < 1.5, "half a second where nothing else runs; a busy machine gets three times that"
