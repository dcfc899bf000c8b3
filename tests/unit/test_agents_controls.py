"""The controls, and building agents from scaffolds."""

from pathlib import Path

import pytest

from harness.agents.build import build_agent
from harness.agents.controls import Nop, Oracle
from harness.agents.ending import Ending
from harness.agents.mini import Mini
from harness.agents.protocol import AgentResult
from harness.agents.trajectory import EndRecord, HeaderRecord, ObservationRecord, Trajectory, read_trajectory
from harness.llm.scripted import ScriptedModel
from harness.specs.errors import UserError
from harness.specs.scaffold import ScaffoldKind
from harness.specs.task import Task
from harness.specs.usage import Usage
from tests.support.small_task import scaffold, small_task
from tests.support.subprocess_sandbox import SubprocessSandbox

PATCH = """\
diff --git a/tests/test_add.py b/tests/test_add.py
new file mode 100644
--- /dev/null
+++ b/tests/test_add.py
@@ -0,0 +1,2 @@
+def test_add():
+    assert 1 + 1 == 2
"""
MANIFEST = '- file: tests/test_add.py\n  tests:\n    - "test_add"\n'


@pytest.fixture
def task(tmp_path: Path) -> Task:
    reference = tmp_path / "task" / "reference"
    reference.mkdir(parents=True)
    (reference / "tests.patch").write_text(PATCH)
    (reference / "manifest.yaml").write_text(MANIFEST)
    return small_task(tmp_path / "task")


@pytest.fixture
async def sandbox(tmp_path: Path) -> SubprocessSandbox:
    started = SubprocessSandbox(tmp_path / "sandbox")
    await started.start()
    assert (await started.run("git init --quiet", 60)).exit_status == 0
    return started


async def test_the_oracle_leaves_the_reference_and_nothing_else(
    task: Task, sandbox: SubprocessSandbox, tmp_path: Path
) -> None:
    with Trajectory(tmp_path / "t.jsonl") as trajectory:
        result = await build_agent(scaffold("oracle"), task, None).work(sandbox, trajectory)
    assert result == AgentResult(Ending.SUBMITTED, 1, Usage())
    files = [path for path in sandbox.tree.rglob("*") if path.is_file() and ".git" not in path.parts]
    assert files == [sandbox.tree / "tests/test_add.py"]
    assert await sandbox.read("/logs/agent/manifest.yaml") == MANIFEST.encode()
    header, observation, end = read_trajectory(tmp_path / "t.jsonl")
    assert isinstance(header, HeaderRecord)
    assert (header.scaffold, header.model) == ("oracle", "")
    assert isinstance(observation, ObservationRecord)
    assert observation.exit_status == 0
    assert isinstance(end, EndRecord)


async def test_a_reference_that_does_not_apply_shows_in_the_trajectory(
    task: Task, sandbox: SubprocessSandbox, tmp_path: Path
) -> None:
    (sandbox.tree / "tests").mkdir()
    (sandbox.tree / "tests/test_add.py").write_text("other\n")
    with Trajectory(tmp_path / "t.jsonl") as trajectory:
        await Oracle(task, scaffold("oracle")).work(sandbox, trajectory)
    observation = read_trajectory(tmp_path / "t.jsonl")[1]
    assert isinstance(observation, ObservationRecord)
    assert observation.exit_status != 0


async def test_nop_leaves_nothing(task: Task, sandbox: SubprocessSandbox, tmp_path: Path) -> None:
    with Trajectory(tmp_path / "t.jsonl") as trajectory:
        result = await build_agent(scaffold("nop"), task, None).work(sandbox, trajectory)
    assert result == AgentResult(Ending.SUBMITTED, 0, Usage())
    assert list(sandbox.logs.iterdir()) == []
    assert [record.kind for record in read_trajectory(tmp_path / "t.jsonl")] == ["header", "end"]


def test_each_scaffold_of_the_catalog_gets_its_agent(task: Task) -> None:
    model = ScriptedModel([])
    built = {name: type(build_agent(scaffold(name), task, model)) for name in ("mini", "oracle", "nop")}
    assert built == {"mini": Mini, "oracle": Oracle, "nop": Nop}


def test_a_loop_without_a_model_is_the_users_mistake(task: Task) -> None:
    with pytest.raises(UserError, match="scaffold 'mini' needs a model"):
        build_agent(scaffold("mini"), task, None)


def test_a_control_or_kind_that_nobody_knows_is_the_users_mistake(task: Task) -> None:
    with pytest.raises(UserError, match=r"scaffold\.yaml: no control 'other'"):
        build_agent(scaffold("nop").model_copy(update={"name": "other"}), task, None)
    with pytest.raises(UserError, match="not cli"):
        build_agent(scaffold("nop").model_copy(update={"kind": ScaffoldKind.CLI}), task, None)
