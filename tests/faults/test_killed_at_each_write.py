"""The runner is killed at its n-th write, for every n of a small run; another start finishes it.

The agent costs a cent. It hands in nothing, or tests that are judged in arms, on an engine without containers. With
`TESTWRIGHT_FAULTS=all`, as in `make faults`, every n is taken, otherwise every few; some n also with real containers,
where a judging ends with its arms unless all is asked for.
"""

import json
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import docker
import pytest

from harness.agents.controls import Oracle
from harness.agents.protocol import Finish
from harness.agents.registry import AGENTS
from harness.agents.trajectory import Ending, Trajectory
from harness.models.protocol import Message, MessageRole
from harness.models.replay import MessageRecord
from harness.runs.store import find_trials, spent_in
from harness.sandbox.protocol import Sandbox
from harness.specs.reasons import Verdict
from harness.specs.usage import Usage
from tests.support.ended_arms import times_of_ended_arms
from tests.support.few_arms import few_arms_elsewhere
from tests.support.killed_at import die_at
from tests.support.light_task import TASK, light_catalog
from tests.support.scenes import Scene, scenes

ALL = os.environ.get("TESTWRIGHT_FAULTS") == "all"
EVERY, IN_ARMS = (1, 1) if ALL else (3, 113)
WITH_CONTAINERS = (9, 16, 40, 90) if ALL else (9, 16, 90)
"""Twice an agent's sandbox is there; then arms run, of which some have ended at the last."""
CENT = Usage(calls=1, cost_usd=0.01)
KILLED, DONE = -signal.SIGKILL, 0


class PaidOracle(Oracle):
    """Hands in the reference, or nothing, and costs a cent; each time it works is a line of the file `paid`."""

    paid = Path()
    hands_in = True

    async def work(self, sandbox: Sandbox, trajectory: Trajectory) -> Finish:
        with self.paid.open("a") as file:
            file.write("1\n")
        trajectory.add(
            MessageRecord(step=1, message=Message(role=MessageRole.ASSISTANT, content="I work."), usage=CENT)
        )
        await self.context.allowance.spending.charge(CENT)
        return await super().work(sandbox, trajectory) if self.hands_in else Finish(Ending.SUBMITTED)


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Scene]]:
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "cache"))
    AGENTS.register("paid-oracle", PaidOracle)
    try:
        with scenes(tmp_path, {"paid-oracle": "paid-oracle"}) as made:
            yield made
    finally:
        AGENTS.unregister("paid-oracle")


def in_child(work: Callable[[], object]) -> int:
    """The status of a process that does this work: a fork, so that nothing is imported again."""
    child = os.fork()
    if not child:
        status = 1
        try:
            work()
            status = DONE
        except BaseException:
            traceback.print_exc()  # the parent only learns the status
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def start(scene: Scene, trials: int, number: int = 0) -> int:
    """A start of the run that dies at its `number`-th write, 0: that doesn't."""

    def work() -> None:
        if number:
            die_at(scene.output, number)
        outcomes = scene.run(scaffolds=("paid-oracle",), attempts=trials).outcomes
        verdict = Verdict.RESOLVED if PaidOracle.hands_in else Verdict.FAILED
        assert [outcome.verdict for outcome in outcomes] == [verdict] * trials

    return in_child(work)


@pytest.mark.fault("SIGKILL of the runner at its n-th write", "nothing is lost, nothing is done or paid twice")
@pytest.mark.parametrize(
    ("hands_in", "trials", "every"), [(False, 1, EVERY), (True, 2, IN_ARMS)], ids=["nothing", "tests"]
)
@pytest.mark.dear("starts the command at each of many writes")
def test_after_a_kill_at_any_write_the_next_start_finishes_and_nobody_is_paid_twice(
    make, tmp_path, monkeypatch, hands_in, trials, every
):
    monkeypatch.setattr(PaidOracle, "hands_in", hands_in)
    number, deaths, arms = 1, 0, 0
    while True:
        scene = make(output=f"run-{number}")
        PaidOracle.paid = tmp_path / f"paid-{number}"
        status = start(scene, trials, number)
        if status == DONE:
            break
        assert status == KILLED
        deaths += 1
        done = (
            {store.directory for store in find_trials(scene.output)} if (scene.output / "run.yaml").exists() else ()
        )
        finished = {folder for folder in done if (folder / "agent.json").exists()}
        times = {folder: (folder / "agent.json").stat().st_mtime_ns for folder in finished}
        ended = times_of_ended_arms(scene.output)
        arms += len(ended)
        paid = len(PaidOracle.paid.read_text().split()) if PaidOracle.paid.exists() else 0
        assert start(scene, trials) == DONE, f"the start after a death at write {number} came to something else"
        assert {folder: (folder / "agent.json").stat().st_mtime_ns for folder in finished} == times
        assert {path: path.stat().st_mtime_ns for path in ended} == ended, "an arm that had ended ran again"
        worked = len(PaidOracle.paid.read_text().split())
        assert worked <= paid + trials - len(finished), "an agent that had finished was paid again"
        assert_whole(scene.output, trials, worked)
        number += every
    assert deaths >= (100 if hands_in else 20) // every, "the run writes more than this"
    assert bool(arms) == hands_in, "some deaths leave a judging with some of its arms"


def assert_whole(run: Path, trials: int, worked: int) -> None:
    """Trials with verdicts; each cent that was spent is counted once; no half-written file is left."""
    stores = list(find_trials(run))
    assert [store.directory.name for store in stores] == ["1", "2"][:trials]
    assert all(store.verdict() and not store.damaged() for store in stores)
    counted = round((spent_in(run).cost_usd or 0) / 0.01)
    # Who is killed between the work's begin and its first line of trajectory has cost nothing yet.
    assert worked - 1 <= counted <= worked
    events = (run / "events.jsonl").read_bytes().splitlines()
    assert all(isinstance(json.loads(line), dict) for line in events)


@pytest.mark.long
@pytest.mark.docker
@pytest.mark.fault(
    "SIGKILL of the runner at its n-th write, containers at work", "the next start leaves no container"
)
@pytest.mark.parametrize("number", WITH_CONTAINERS)
def test_with_containers_the_next_start_finishes_and_leaves_none(tmp_path, number):
    output = tmp_path / "run"
    words = ["--catalog", str(light_catalog(tmp_path / "light")), "run", "-t", TASK, "--sandbox", "docker"]
    words += ["-s", "nop" if number < 20 else "oracle", "-o", str(output), "--json"]
    env = {**os.environ, **({} if ALL else few_arms_elsewhere(tmp_path, few_variants=False))}
    killed = [sys.executable, "-m", "tests.support.killed_at", str(output), str(number)]
    first = subprocess.run([*killed, *words], env=env, capture_output=True, text=True, check=False, timeout=300)
    assert first.returncode == KILLED, first.stderr
    ended = times_of_ended_arms(output)
    assert ended or number < 90, "by then some arms have come to their end"
    again = [sys.executable, "-m", "harness.cli", *words]
    done = subprocess.run(again, env=env, capture_output=True, text=True, check=False, timeout=500)
    assert done.returncode == 0, done.stderr
    [trial] = json.loads(done.stdout)["trials"]
    assert trial["verdict"] == ("failed" if number < 20 else "resolved")
    assert {path: path.stat().st_mtime_ns for path in ended} == ended, "an arm that had ended ran again"
    assert not list(output.rglob("arms.jsonl"))
    client = docker.from_env()
    try:
        for path in output.glob("run.yaml"):
            run_id = path.read_text().split("id: ")[1].split()[0]
            assert not client.api.containers(all=True, filters={"label": f"testwright.run={run_id}"})
    finally:
        client.close()
