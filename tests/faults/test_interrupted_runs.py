"""Runs that are ended in the middle, for real: nothing is left behind, nothing is paid twice."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import docker
import pytest
import yaml

pytestmark = pytest.mark.docker

TASK = "aiosmtpd-proxy-tlv"
SLOW = "messages:\n  - text: I wait.\n    commands: ['sleep 600']\n"
QUICK = "messages:\n  - text: I am done.\n    commands: ['echo TESTWRIGHT_SUBMIT']\n"


def command(output: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "harness.cli", "run", "-t", TASK, "-o", str(output), "--sandbox", "docker", *more]


def until(condition: Callable[[], bool], process: subprocess.Popen[str], seconds: float = 120) -> None:
    """Wait for a real condition, and fail where the process ends before it."""
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "the condition has not come"
        os.sched_yield()


def containers(output: Path) -> list[str]:
    run_file = output / "run.yaml"
    if not run_file.exists():
        return []
    label = f"testwright.run={yaml.safe_load(run_file.read_text())['id']}"
    client = docker.from_env()
    try:
        return [item["Id"] for item in client.api.containers(all=True, filters={"label": label})]
    finally:
        client.close()


def verdicts(output: Path, *more: str) -> list[str]:
    done = subprocess.run(command(output, "--json", *more), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [trial["verdict"] for trial in json.loads(done.stdout)["trials"]]


MOMENTS: dict[str, Callable[[Path], bool]] = {
    "the directory is made": lambda output: (output / "run.yaml").exists(),
    "the agent's container is there": lambda output: bool(containers(output)),
    "the agent works": lambda output: bool(list(output.rglob("trajectory.jsonl"))),
    "arms run": lambda output: bool(list(output.glob("trials/*/*/*/*/arms/*"))),
}


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["ctrl-c", "sigkill"])
def test_a_run_that_is_ended_leaves_nothing_and_goes_on_at_the_next_start(tmp_path, moment, how):
    output = tmp_path / "run"
    process = subprocess.Popen(
        command(output, "-s", "oracle"), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    until(lambda: MOMENTS[moment](output), process)
    process.send_signal(how)
    _, complaint = process.communicate(timeout=60)

    if how is signal.SIGINT:
        assert process.returncode == 130
        assert complaint.splitlines()[-1].startswith("testwright: interrupted")
        assert "Traceback" not in complaint
        assert not containers(output)
    trajectories = {path: path.stat().st_mtime_ns for path in output.rglob("trajectory.jsonl")}
    agent_was_done = bool(list(output.rglob("agent.json")))

    assert verdicts(output, "-s", "oracle") == ["resolved"]
    assert not containers(output)
    if agent_was_done:
        assert {path: path.stat().st_mtime_ns for path in output.rglob("trajectory.jsonl")} == trajectories


def test_a_finished_run_is_not_done_again(tmp_path):
    output = tmp_path / "run"
    assert verdicts(output, "-s", "nop") == ["failed"]
    before = {path: path.stat().st_mtime_ns for path in output.glob("trials/**/*.json*")}
    assert verdicts(output, "-s", "nop", "-j", "4") == ["failed"]
    assert {path: path.stat().st_mtime_ns for path in output.glob("trials/**/*.json*")} == before


def test_a_container_that_is_killed_from_outside_is_tried_again_and_the_attempt_kept(tmp_path):
    output, script = tmp_path / "run", tmp_path / "slow.yaml"
    script.write_text(SLOW)
    process = subprocess.Popen(
        command(output, "-s", "mini", "-m", f"scripted:{script}", "--json"),
        text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    client = docker.from_env()
    try:
        until(lambda: MOMENTS["the agent works"](output), process)
        script.write_text(QUICK)  # the attempts after this one submit at once
        for container in containers(output):
            client.api.remove_container(container, force=True)
        answer, complaint = process.communicate(timeout=120)
    finally:
        client.close()
    assert process.returncode == 0, complaint
    assert [trial["verdict"] for trial in json.loads(answer)["trials"]] == ["failed"]
    kept = [path.name for path in output.glob("trials/*/*/*/*")]
    assert sorted(kept) == ["1", "1.lost-1"]


def test_two_starts_in_one_directory_do_not_mix(tmp_path):
    output, script = tmp_path / "run", tmp_path / "slow.yaml"
    script.write_text(SLOW)
    model = f"scripted:{script}"
    first = subprocess.Popen(command(output, "-s", "mini", "-m", model), stderr=subprocess.DEVNULL, text=True)
    try:
        until(lambda: MOMENTS["the directory is made"](output), first)
        second = subprocess.run(command(output, "-s", "nop"), capture_output=True, text=True, check=False)
        assert second.returncode == 2
        assert "another testwright is at work here" in second.stderr
    finally:
        first.send_signal(signal.SIGINT)
        first.wait(timeout=60)
    assert not containers(output)
