"""Runs that are ended in the middle, for real: nothing is left behind, nothing is paid twice.

With `TESTWRIGHT_FAULTS=all`, as in `make faults`, judgings are whole; else they have few arms and end with them.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import docker
import pytest
import yaml

from harness.sandbox.host import cache_directory
from harness.specs.catalog_places import default_directory
from tests.support.command import typed
from tests.support.few_arms import few_arms, few_arms_elsewhere
from tests.support.light_task import TASK, light_catalog
from tests.support.signals import heed_signals

pytestmark = pytest.mark.docker

ALL = os.environ.get("TESTWRIGHT_FAULTS") == "all"
IN_DOCKER = ("--sandbox", "docker")
SLOW = "messages:\n  - text: I wait.\n    commands: ['sleep 600']\n"
QUICK = "messages:" + "\n  - text: I am done.\n    commands: ['echo TESTWRIGHT_SUBMIT']" * 2 + "\n"


def words(output: Path, *more: str) -> list[str]:
    catalog = ("--catalog", str(light_catalog(output.parent / "light")))
    return [*catalog, "run", "-t", TASK, "-o", str(output), *IN_DOCKER, *more]


def command(output: Path, *more: str) -> list[str]:
    """For a process that is to be ended."""
    few = {} if ALL else few_arms_elsewhere(output.parent)
    variables = (f"{name}={value}" for name, value in few.items())
    return ["env", *variables, sys.executable, "-m", "harness.cli", *words(output, *more)]


PATIENCE = 250.0
"""Seconds after which what is waited for counts as hung: a machine may stand still for two minutes."""


def until(condition: Callable[[], bool], process: subprocess.Popen[str], seconds: float = PATIENCE) -> None:
    """Wait for a real condition, and fail where the process ends before it."""
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "the condition has not come"
        threading.Event().wait(0.02)  # what works meanwhile needs the processor


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
    done = typed(*words(output, "--json", *more), cwd=output.parent)
    assert done.status == 0, done.complaint
    return [trial["verdict"] for trial in json.loads(done.output)["trials"]]


MOMENTS: dict[str, Callable[[Path], bool]] = {
    "the directory is made": lambda output: (output / "run.yaml").exists(),
    "the agent's container is there": lambda output: bool(containers(output)),
    "the agent works": lambda output: bool(list(output.rglob("trajectory.jsonl"))),
    "arms run": lambda output: bool(list(output.glob("trials/*/*/*/*/arms/*"))),
}


@pytest.mark.fault("a signal while the agent works", "no container is left, and the agent starts afresh")
@pytest.mark.parametrize(
    ("how", "times", "moment"),
    [
        (signal.SIGINT, 1, "the directory is made"),
        (signal.SIGINT, 1, "the agent's container is there"),
        (signal.SIGINT, 3, "the agent works"),
        (signal.SIGTERM, 1, "the agent's container is there"),
        (signal.SIGHUP, 1, "the agent works"),
        (signal.SIGKILL, 1, "the agent works"),
    ],
)
def test_an_agent_that_is_cut_short_leaves_no_container_and_starts_afresh(tmp_path, how, times, moment):
    output, script = tmp_path / "run", tmp_path / "script.yaml"
    arguments = ["-s", "mini", "-m", f"scripted:{script}"]
    script.write_text(SLOW)
    end_at(moment, how, output, *arguments, times=times)
    script.write_text(QUICK)
    assert verdicts(output, *arguments, "--extend") == ["failed"], "the script is another one now"
    assert not containers(output)


@pytest.mark.long
@pytest.mark.fault("a signal while arms run", "no container is left, and the agent is not asked again")
@pytest.mark.parametrize(("how", "times"), [(signal.SIGINT, 3), (signal.SIGKILL, 1)])
def test_a_judging_that_is_cut_short_goes_on_without_the_agent(tmp_path, monkeypatch, how, times):
    if not ALL:  # the second start is as the first one
        few_arms(monkeypatch, 0)
    output = tmp_path / "run"
    end_at("arms run", how, output, "-s", "oracle", times=times)
    before = {path: path.stat().st_mtime_ns for path in output.rglob("trajectory.jsonl")}
    assert verdicts(output, "-s", "oracle") == ["resolved"]
    assert not containers(output)
    assert {path: path.stat().st_mtime_ns for path in output.rglob("trajectory.jsonl")} == before


def end_at(moment: str, how: signal.Signals, output: Path, *arguments: str, times: int = 1) -> None:
    """Start a run and end it at a moment; but for SIGKILL it must answer in one line and leave no container."""
    process = subprocess.Popen(
        command(output, *arguments),
        text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=heed_signals,
    )  # fmt: skip
    until(lambda: MOMENTS[moment](output), process)
    process.send_signal(how)
    if times > 1 and moment == "arms run":  # the first lets the judging end; signals that come at once may be one
        assert process.stderr
        assert any("Ctrl-C again stops these too" in line for line in process.stderr)
    for _ in range(times - 1):
        process.send_signal(how)
    _, complaint = process.communicate(timeout=PATIENCE)
    if how is not signal.SIGKILL:
        assert process.returncode == 130
        assert complaint.splitlines()[-1].startswith("testwright: interrupted")
        assert "Traceback" not in complaint
        assert not containers(output)


def test_a_finished_run_is_not_done_again(tmp_path):
    output = tmp_path / "run"
    assert verdicts(output, "-s", "nop") == ["failed"]
    before = {path: path.stat().st_mtime_ns for path in output.glob("trials/**/*.json*")}
    assert verdicts(output, "-s", "nop", "-j", "4") == ["failed"]
    assert {path: path.stat().st_mtime_ns for path in output.glob("trials/**/*.json*")} == before


@pytest.mark.fault("the agent's container is removed", "the trial is tried again, and the lost attempt is kept")
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
        answer, complaint = process.communicate(timeout=PATIENCE)
    finally:
        client.close()
    assert process.returncode == 0, complaint
    assert [trial["verdict"] for trial in json.loads(answer)["trials"]] == ["failed"]
    kept = [path.name for path in output.glob("trials/*/*/*/*") if path.is_dir()]
    assert sorted(kept) == ["1", "1.lost-1"]


@pytest.mark.long
@pytest.mark.fault("arms' containers are killed from outside", "they run again, and the verdict is the same")
def test_an_arm_that_is_killed_from_outside_is_run_again(tmp_path):
    output = tmp_path / "run"
    process = subprocess.Popen(
        command(output, "-s", "oracle", "--json"), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    client = docker.from_env()
    killed: set[str] = set()

    def kill_an_arm() -> bool:
        for container in containers(output) if MOMENTS["arms run"](output) else []:
            try:
                client.api.kill(container)
                killed.add(container)
            except docker.errors.APIError:
                continue  # it has just ended by itself
        return bool(killed)

    try:
        until(kill_an_arm, process)
        answer, complaint = process.communicate(timeout=PATIENCE)
    finally:
        client.close()
    assert process.returncode == 0, complaint
    assert [trial["verdict"] for trial in json.loads(answer)["trials"]] == ["resolved"]


@pytest.mark.fault("two runners in one directory", "the second is told so, and nothing is mixed")
def test_two_starts_in_one_directory_do_not_mix(tmp_path):
    output, script = tmp_path / "run", tmp_path / "slow.yaml"
    script.write_text(SLOW)
    model = f"scripted:{script}"
    first = subprocess.Popen(
        command(output, "-s", "mini", "-m", model), stderr=subprocess.DEVNULL, text=True, preexec_fn=heed_signals
    )
    try:
        until(lambda: MOMENTS["the directory is made"](output), first)
        second = typed(*words(output, "-s", "nop"), cwd=tmp_path)
        assert second.status == 2
        assert "another testwright is at work here" in second.complaint
    finally:
        first.send_signal(signal.SIGINT)
        first.wait(timeout=PATIENCE)
    assert not containers(output)


@pytest.mark.fault("SIGKILL of a command with containers", "the next start removes them, and nobody else's")
@pytest.mark.dear("starts three commands that judge")
def test_containers_of_a_killed_command_are_removed_by_the_next_start_and_those_of_one_at_work_are_not(tmp_path):
    reference = default_directory() / "tasks" / TASK / "reference"
    verify = [
        sys.executable, "-m", "harness.cli", "verify", TASK, "--sandbox", "docker",
        "--patch", str(reference / "tests.patch"), "--manifest", str(reference / "manifest.yaml"),
    ]  # fmt: skip
    output, script = tmp_path / "run", tmp_path / "slow.yaml"
    script.write_text(SLOW)
    env = {**os.environ, "TESTWRIGHT_CACHE": str(tmp_path / "cache")}
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "images").symlink_to(cache_directory() / "images")
    client = docker.from_env()

    def owned() -> set[str]:
        """The owners that have containers, of those that keep their locks in our cache."""
        found = client.api.containers(all=True, filters={"label": "testwright.owner"})
        owners = {item["Labels"]["testwright.owner"] for item in found}
        return {name for name in owners if list((tmp_path / "cache" / "owners").glob(f"{name}.*"))}

    at_work = subprocess.Popen(
        command(output, "-s", "mini", "-m", f"scripted:{script}"),
        stderr=subprocess.DEVNULL, text=True, env=env, preexec_fn=heed_signals,
    )  # fmt: skip
    try:
        until(lambda: len(owned()) == 1, at_work)
        [mine] = owned()
        killed = subprocess.Popen(verify, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True, env=env)
        until(lambda: len(owned()) == 2, killed)
        killed.kill()
        killed.wait()
        [dead] = owned() - {mine}
        subprocess.run(command(tmp_path / "other", "-s", "nop"), capture_output=True, check=True, env=env)
        left = client.api.containers(all=True, filters={"label": f"testwright.owner={dead}"})
        assert not left
        assert client.api.containers(all=True, filters={"label": f"testwright.owner={mine}"})
    finally:
        at_work.send_signal(signal.SIGINT)
        at_work.wait(timeout=PATIENCE)
        client.close()
