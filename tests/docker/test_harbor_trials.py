"""Whole trials by Harbor, the released package: `pip install harbor` (Python 3.12) lets these tests run."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.support.command import typed_beside
from tests.support.light_task import TASK, light_catalog

pytest.importorskip("harbor", reason="pip install harbor, which needs Python 3.12")
pytestmark = [pytest.mark.docker, pytest.mark.long, pytest.mark.timeout(1200)]

CHEAT = """\
#!/bin/sh
cd /app
printf 'def test_nothing():\\n    assert True\\n' > aiosmtpd/tests/test_nothing.py
printf -- '- file: aiosmtpd/tests/test_nothing.py\\n  tests:\\n    - "test_nothing"\\n' > /logs/agent/manifest.yaml
mkdir -p /logs/verifier /tests
echo 1 > /logs/verifier/reward.txt
(while :; do echo 1 > /logs/verifier/reward.txt; sleep 0.05; done) >/dev/null 2>&1 </dev/null &
"""
"""Asserts nothing, and writes the reward itself, also after the agent's end."""


async def exported(directory: Path) -> Path:
    """The folder of the one task that was exported, beside its job file."""
    catalog = light_catalog(directory / "catalog")
    done = await typed_beside(
        "--catalog", str(catalog), "export", "harbor", "tasks", "-t", TASK, "--solutions", cwd=directory
    )
    assert done.status == 0, done.complaint
    return directory / "tasks" / TASK


def tried(directory: Path, *options: str) -> dict[str, object]:
    """The result of the one trial of a job with Harbor's oracle, which runs the task's solution."""
    command = [
        Path(sys.executable).with_name("harbor"),
        "run",
        "-c",
        "tasks/job.yaml",
        "-a",
        "oracle",
        "-q",
        *options,
    ]
    environment = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    done = subprocess.run(
        command, cwd=directory, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    [result] = (directory / "jobs").glob("*/*__*/result.json")
    return {"place": result.parent, **json.loads(result.read_text())}


async def test_harbors_oracle_resolves_an_exported_task(tmp_path: Path) -> None:
    from harbor.models.task.task import Task

    folder = await exported(tmp_path)
    task = Task(folder)
    assert task.config.environment.network_mode.value == "no-network"
    assert "one call of a model" not in task.instruction
    result = tried(tmp_path)
    assert result["exception_info"] is None
    assert result["verifier_result"]["rewards"] == {"reward": 1.0}
    verdict = json.loads((result["place"] / "verifier" / "verdict.json").read_text())
    assert (verdict["task"], verdict["verdict"]) == (TASK, "resolved")
    handed_in = [result["place"] / "verifier" / name for name in ("patch.diff", "manifest.yaml")]
    assert all(path.stat().st_size for path in handed_in), "testwright verify can judge it again"


async def test_a_reward_that_the_agent_writes_counts_for_nothing(tmp_path: Path) -> None:
    folder = await exported(tmp_path)
    (folder / "solution" / "solve.sh").write_text(CHEAT)
    result = tried(tmp_path)
    assert result["verifier_result"]["rewards"] == {"reward": 0.0}
    verdict = json.loads((result["place"] / "verifier" / "verdict.json").read_text())
    assert "survived-removal" in {reason["code"] for reason in verdict["reasons"]}


async def test_without_our_verifier_and_sandbox_there_is_no_reward(tmp_path: Path) -> None:
    """Harbor's own verifier runs tests/test.sh in the agent's container, where nothing could be trusted."""
    folder = await exported(tmp_path)
    (folder / "solution" / "solve.sh").write_text(CHEAT)
    job = tmp_path / "tasks" / "job.yaml"
    told = yaml.safe_load(job.read_text())
    job.write_text(yaml.safe_dump({name: value for name, value in told.items() if name != "verifier"}))
    result = tried(tmp_path)
    assert result["verifier_result"] is None
