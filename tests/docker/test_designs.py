"""A design from the agent's work to its verdict in real containers: the task that docs/design.md makes."""

import shutil
from pathlib import Path

import pytest
import yaml

from harness.results.run_rows import load_rows
from harness.specs.catalog_places import default_directory
from tests.support.command import typed
from tests.support.designs import page_task

pytestmark = pytest.mark.docker
LOGS = "${TESTWRIGHT_AGENT_LOGS:-/logs/agent}"


def script(cases: str) -> dict[str, object]:
    """An agent that looks for code to run, hands in a design, and has it validated."""
    write = f"mkdir -p design {LOGS}\ncat > design/cases.yaml <<'END'\n{cases}END\n"
    listed = f"python3 validate.pyz | tail -n +2 > {LOGS}/manifest.yaml; cat {LOGS}/manifest.yaml"
    commands = ("find / -name '*subject*.py' -not -path '/proc/*' 2>/dev/null | grep design; ls -A", write, listed)
    said = [{"text": "Next.", "commands": [command]} for command in (*commands, "echo TESTWRIGHT_SUBMIT")]
    return {"messages": said}


def test_a_design_is_made_and_judged_in_containers(tmp_path: Path) -> None:
    task = page_task(tmp_path / "catalog")
    for folder in ("repos", "scaffolds"):
        shutil.copytree(default_directory() / folder, tmp_path / "catalog" / folder)
    cases = task.patch("reference/cases.yaml").decode()
    (tmp_path / "script.yaml").write_text(yaml.safe_dump(script(cases)))
    asked = ("run", "-t", "design:parcel", "-s", "mini", "-m", "scripted:script.yaml", "-o", "run")
    done = typed("--catalog", "catalog", *asked, cwd=tmp_path)
    assert done.status == 0, done.output + done.complaint
    [row] = load_rows(tmp_path / "run").trials
    assert (row.verdict, row.reasons) == ("resolved", ())
    assert row.signals["design-partitions"] == row.signals["design-boundaries"] == row.signals["design-pairs"] == 1.0
    assert (row.signals["design-wrong-cases"], row.signals["design-redundancy"]) == (0, 1.0)
    [trajectory] = (tmp_path / "run").rglob("trajectory.jsonl")
    told = trajectory.read_text()
    assert "design\\nrequirement.md\\nvalidate.pyz\\nvocabulary.yaml" in told
    assert "tests: [light, heavy, light-of-a-member" in told
    [verdict] = (tmp_path / "run").rglob("verdict.json")
    judged = verdict.stat().st_mtime_ns
    assert typed("--catalog", "catalog", *asked, cwd=tmp_path).status == 0
    assert verdict.stat().st_mtime_ns == judged, "a finished run has nothing to judge again"
