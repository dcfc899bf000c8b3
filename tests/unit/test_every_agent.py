"""What every registered agent keeps to, whichever it is: its limits, its trajectory, its declaration."""

from pathlib import Path

import pytest

from harness.agents.registry import AGENTS
from harness.agents.trajectory import Ending, EndRecord, HeaderRecord, read_trajectory
from harness.models.replay import ScriptedModel, say
from harness.specs.scaffold import Scaffold
from tests.support.agents import let_agent_work
from tests.support.small_task import scaffold, small_task
from tests.support.subprocess_sandbox import SubprocessSandbox


def scaffold_of(agent: str) -> Scaffold:
    """The one that is shipped for it."""
    return scaffold(agent).model_copy(update={"agent": agent})


# A native one needs a gateway and a toolbox: tests/docker/test_native_agents.py.
@pytest.mark.parametrize("name", [name for name in AGENTS.names if name != "native"])
async def test_every_agent_ends_within_its_limits_and_leaves_a_whole_trajectory(tmp_path: Path, name: str) -> None:
    reference = tmp_path / "task" / "reference"
    reference.mkdir(parents=True)
    (reference / "tests.patch").write_text("")
    (reference / "manifest.yaml").write_text("[]\n")
    needs_model = AGENTS.get(name).needs_model
    model = ScriptedModel([say("", "true")] * 9) if needs_model else None
    sandbox = SubprocessSandbox(tmp_path / "sandbox")
    await sandbox.start()
    task, path = small_task(tmp_path / "task", steps=3), tmp_path / "t.jsonl"
    result = await let_agent_work(task, scaffold_of(name), model, sandbox, path)
    assert (result.ending, result.steps) == ((Ending.STEP_LIMIT, 3) if needs_model else (Ending.SUBMITTED, 0))
    header, *_, end = read_trajectory(path)
    assert isinstance(header, HeaderRecord)
    assert isinstance(end, EndRecord)
    assert (header.model, header.scaffold) == ("scripted" if needs_model else "", scaffold_of(name).name)
    assert (end.ending, end.steps, end.usage) == (result.ending, result.steps, result.usage)
