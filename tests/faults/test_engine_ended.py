"""An engine of a test's own is ended in the middle of a run and started again, for real.

With `TESTWRIGHT_FAULTS=all`, as in `make faults`, in each way at each moment, and a verdict is compared with that of
an undisturbed run; else in one way at each.
"""

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.plugins.scripted_provider.scenario import Reply
from harness.runs.store import find_trials, spent_in
from harness.sandbox.images.task_images import task_image
from harness.specs.catalog import Catalog
from tests.faults.test_interrupted_runs import ALL, MOMENTS, TASK, command, until, verdicts
from tests.support.own_engine import OwnEngine, own_engine
from tests.support.provider import playing
from tests.support.signals import heed_signals

pytestmark = [pytest.mark.docker, pytest.mark.long]

WAYS = (signal.SIGKILL, signal.SIGTERM)
WHILE_AN_AGENT_WORKS = WAYS if ALL else WAYS[1:]
WHILE_ARMS_RUN = WAYS if ALL else WAYS[:1]
HANDS_IN = ("echo '[]' > /logs/agent/manifest.yaml", "echo TESTWRIGHT_SUBMIT")
TRIES = 6
"""The engine is away for as long as this machine takes to start it."""


@pytest.fixture(scope="module")
def engine() -> Iterator[OwnEngine]:
    """With the image of the one task."""
    with own_engine() as made:
        made.load(asyncio.run(task_image(Catalog().task(TASK))).reference)
        yield made


def start(engine: OwnEngine, output: Path, *arguments: str, **env: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "DOCKER_HOST": engine.host, **env}
    words = command(output, *arguments, "--tries", str(TRIES), "--json")
    return subprocess.Popen(
        words, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=heed_signals
    )


def containers(engine: OwnEngine) -> list[str]:
    """What the engine says of its containers. Nobody else has any on it."""
    with engine.client() as client:
        return [f"{item['Id']} {item['State']} {item['Labels']}" for item in client.api.containers(all=True)]


def ends_and_comes_back(engine: OwnEngine, how: signal.Signals) -> None:
    engine.end(how)
    engine.start()


@pytest.mark.fault(
    "the engine is ended and started again while an agent works",
    "one attempt is lost and kept, each call is counted once, no container is left",
)
@pytest.mark.parametrize("how", WHILE_AN_AGENT_WORKS)
async def test_an_agent_whose_engine_is_started_again_costs_one_attempt(
    engine: OwnEngine, tmp_path: Path, how: signal.Signals
) -> None:
    output, model = tmp_path / "run", tmp_path / "model.yaml"
    replies = (Reply(commands=("true",)), Reply(commands=("sleep 600",)), Reply(commands=HANDS_IN))
    async with playing(*replies) as provider:
        prices = "{input: 1000, output: 0}"
        model.write_text(f"model: openai/scripted\napi_base: {provider.url}/v1\nprices: {prices}\n")
        process = start(
            engine, output, "-s", "mini", "-m", str(model), OPENAI_API_KEY="key-for-tests", NO_PROXY="127.0.0.1"
        )
        await asyncio.to_thread(until, lambda: len(provider.requests) == 2, process)
        await asyncio.to_thread(ends_and_comes_back, engine, how)
        answer, complaint = await asyncio.to_thread(process.communicate, timeout=300)
    assert process.returncode == 0, complaint
    assert [trial["verdict"] for trial in json.loads(answer)["trials"]] == ["failed"]
    [store] = find_trials(output)
    *lost, last = [(record.end, record.usage.calls) for record in store.attempts.read()]
    assert lost[0] == ("fault", 2)
    assert last == ("judged", 1)
    assert {calls for _, calls in lost[1:]} <= {0}, "while the engine was away, nobody was paid"
    assert spent_in(output).calls == len(provider.requests) == 3
    assert len(list(output.rglob("1.lost-1/trajectory.jsonl"))) == 1
    assert not containers(engine)


@pytest.mark.fault(
    "the engine is ended and started again while arms run",
    "the arms that it hit run again, no other does, and the verdict is the same",
)
@pytest.mark.parametrize("how", WHILE_ARMS_RUN)
def test_a_judging_whose_engine_is_started_again_costs_the_arms_that_ran(
    engine: OwnEngine, tmp_path: Path, how: signal.Signals
) -> None:
    output = tmp_path / "run"
    process = start(engine, output, "-s", "oracle")
    until(lambda: MOMENTS["arms run"](output) and bool(containers(engine)), process)
    done = written(output)
    ends_and_comes_back(engine, how)
    answer, complaint = process.communicate(timeout=300)
    assert process.returncode == 0, complaint
    assert [trial["verdict"] for trial in json.loads(answer)["trials"]] == ["resolved"]
    assert [record.end for record in next(find_trials(output)).attempts.read()] == ["judged"], "no attempt was lost"
    after = written(output)
    assert done
    assert {path: after[path] for path in done} == done, "what had been done was done again"
    assert not containers(engine)
    if ALL:
        undisturbed = tmp_path / "undisturbed"
        assert verdicts(undisturbed, "-s", "oracle") == ["resolved"]
        assert verdict(output) == verdict(undisturbed)


def written(output: Path) -> dict[Path, int]:
    """When the agent's result and each arm's were written."""
    found = [*output.rglob("agent.json"), *output.rglob("arm.json")]
    return {path.relative_to(output): path.stat().st_mtime_ns for path in found}


def verdict(output: Path) -> bytes:
    [path] = output.rglob("verdict.json")
    return path.read_bytes()
