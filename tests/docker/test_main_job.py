"""The main job as a user starts it: whole processes, real repositories, every stage."""

import json
import os
import subprocess
import sys
from pathlib import Path

import docker
import pytest

from tests.support.few_arms import few_arms_elsewhere
from tests.support.light_task import TASK, light_catalog

CHECKOUT = Path(__file__).parents[2]


def run(*options: str, cwd: Path, **env: str) -> dict[tuple[str, str], str]:
    """Verdicts by (task, scaffold), of light tasks."""
    catalog = ("--catalog", str(light_catalog(cwd / "light")))
    command = [sys.executable, "-m", "harness.cli", *catalog, "run", *options, "-o", "out", "--json"]
    done = subprocess.run(command, cwd=cwd, env={**os.environ, **env}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {(trial["task"], trial["scaffold"]): trial["verdict"] for trial in json.loads(done.stdout)["trials"]}


@pytest.mark.long
@pytest.mark.docker
@pytest.mark.timeout(1800)  # a whole demo, on a machine that may be busy
def test_the_demo_shows_an_agent_at_work_and_both_controls(tmp_path):
    env = {**os.environ, **few_arms_elsewhere(tmp_path)}
    done = subprocess.run(["scripts/demo"], cwd=CHECKOUT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    shown = [row for row in rows if row[:1] == ["aiosmtpd-proxy-tlv"] and {"resolved", "failed"} & set(row)]
    verdicts = {row[1]: next(word for word in row if word in ("resolved", "failed")) for row in shown}
    assert verdicts == {"mini": "resolved", "oracle": "resolved", "nop": "failed"}
    assert "isolation docker" in done.stdout
    assert "answers differently" not in done.stdout
    told, _, pasted = done.stdout.partition("    source .venv/bin/activate\n")
    named = [line for line in told.splitlines() if "testwright show" in line]
    assert named
    assert all(".venv/bin/testwright show runs/demo-" in line for line in named)
    commands = [line.strip() for line in pasted.splitlines()][:2]
    script = "\n".join(["set -e", "source .venv/bin/activate", *commands])
    after = subprocess.run(["bash", "-c", script], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert after.returncode == 0, after.stderr
    assert "aiosmtpd-proxy-tlv" in after.stdout


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_without_an_engine_the_local_sandbox_judges_the_same(tmp_path):
    env = {"DOCKER_HOST": f"unix://{tmp_path}/none.sock", **few_arms_elsewhere(tmp_path, 1)}
    verdicts = run("-t", TASK, "-s", "oracle", "-s", "nop", cwd=tmp_path, **env)
    assert verdicts == {(TASK, "oracle"): "resolved", (TASK, "nop"): "failed"}
    assert "isolation: docker" not in (tmp_path / "out" / "run.yaml").read_text()


@pytest.mark.docker
@pytest.mark.alone
def test_clean_removes_what_was_left_and_nothing_of_others():
    client = docker.from_env()
    labels = {"ours": {"testwright": "1", "testwright.run": "left-behind"}, "theirs": {"somebody": "else"}}
    made = {}
    try:
        for name, label in labels.items():
            made[name] = client.containers.run(
                "debian:bookworm-slim", ["sleep", "600"], labels=label, network_mode="none", detach=True
            )
        clean = [sys.executable, "-m", "harness.cli", "clean", "--json"]
        planned = json.loads(subprocess.run(clean, capture_output=True, text=True, check=True).stdout)
        assert planned["containers"] >= 1
        assert {container.id for container in made.values()} <= {each.id for each in client.containers.list()}
        done = subprocess.run([*clean, "--yes"], capture_output=True, text=True, check=True)
        assert json.loads(done.stdout)["containers"] >= 1
        alive = {container.id for container in client.containers.list()}
        assert {name for name, container in made.items() if container.id in alive} == {"theirs"}
    finally:
        for container in client.containers.list(all=True, filters={"label": ["somebody=else"]}):
            container.remove(force=True)
        client.close()
