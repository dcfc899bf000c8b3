"""The controls, and building agents from scaffolds."""

from pathlib import Path

import pytest

from harness.agents.controls import Nop, Oracle
from harness.agents.mini import Mini
from harness.agents.registry import agent_class, agent_context, build_agent
from harness.agents.trajectory import Ending, EndRecord, HeaderRecord, ObservationRecord, read_trajectory
from harness.models.replay import ScriptedModel
from harness.specs.errors import UserError
from harness.specs.scaffold import Scaffold
from harness.specs.task import Task
from harness.specs.usage import NO_USAGE
from harness.specs.yaml_files import load_yaml
from tests.support.agents import let_agent_work
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
    result = await let_agent_work(task, scaffold("oracle"), None, sandbox, tmp_path / "t.jsonl")
    assert (result.ending, result.steps, result.usage) == (Ending.SUBMITTED, 0, NO_USAGE)
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
    await let_agent_work(task, scaffold("oracle"), None, sandbox, tmp_path / "t.jsonl")
    observation = read_trajectory(tmp_path / "t.jsonl")[1]
    assert isinstance(observation, ObservationRecord)
    assert observation.exit_status != 0


async def test_nop_leaves_nothing(task: Task, sandbox: SubprocessSandbox, tmp_path: Path) -> None:
    result = await let_agent_work(task, scaffold("nop"), None, sandbox, tmp_path / "t.jsonl")
    assert (result.ending, result.steps, result.usage) == (Ending.SUBMITTED, 0, NO_USAGE)
    assert list(sandbox.logs.iterdir()) == []
    assert [record.kind for record in read_trajectory(tmp_path / "t.jsonl")] == ["header", "end"]


def test_each_scaffold_of_the_catalog_gets_its_agent(task: Task) -> None:
    model = ScriptedModel([])
    built = {
        name: type(build_agent(agent_context(task, scaffold(name), model))) for name in ("mini", "oracle", "nop")
    }
    assert built == {"mini": Mini, "oracle": Oracle, "nop": Nop}


def test_a_loop_without_a_model_is_the_users_mistake(task: Task) -> None:
    with pytest.raises(UserError, match="scaffold 'mini' needs a model"):
        build_agent(agent_context(task, scaffold("mini")))


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        (
            ["name: mine", "kind: loop", "agent: mnii"],
            r"scaffold\.yaml:4: unknown agent 'mnii'; did you mean 'mini'\?$",
        ),
        (
            ["name: noop", "kind: control"],
            r"scaffold\.yaml:2: unknown agent 'noop'; did you mean 'nop'\?; name one with",
        ),
        (
            ["name: codex", "kind: control"],
            r"scaffold\.yaml:2: unknown agent 'codex'; known: mini, native, nop, oracle; name one with",
        ),
    ],
)
def test_an_agent_that_nobody_registered_is_named_with_file_and_line(
    tmp_path: Path, lines: list[str], complaint: str
) -> None:
    path = tmp_path / "scaffold.yaml"
    path.write_text("\n".join(["schema_version: 1", *lines, "title: Mine", "version: '1'", ""]))
    mine = load_yaml(path, Scaffold).model_copy(update={"directory": tmp_path})
    with pytest.raises(UserError, match=complaint):
        agent_class(mine)


def test_a_loop_is_run_by_mini_under_any_name_and_a_control_by_the_agent_it_names() -> None:
    loop = scaffold("mini").model_copy(update={"name": "mine"})
    control = scaffold("nop").model_copy(update={"name": "mine", "agent": "oracle"})
    assert (agent_class(loop), agent_class(control)) == (Mini, Oracle)
