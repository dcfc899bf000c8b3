"""The example agents of docs/extending.md, as the page shows them: registered, planned, run and bounded."""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.agents.protocol import AgentResult
from harness.agents.registry import AGENTS
from harness.agents.trajectory import Ending, EndRecord, HeaderRecord, ObservationRecord, read_trajectory
from harness.models.protocol import Model
from harness.models.replay import ScriptedModel, say
from harness.sandbox.host import cache_directory
from harness.specs.catalog_places import default_directory
from harness.specs.errors import UserError
from harness.specs.scaffold import Scaffold
from harness.specs.usage import Usage
from tests.support.agents import let_agent_work
from tests.support.command import testwright
from tests.support.docs import examples
from tests.support.small_task import small_task
from tests.support.subprocess_sandbox import SubprocessSandbox

TASK = "aiosmtpd-proxy-tlv"
FIXED, ONE_ANSWER = examples("extending.md", "An agent")
[REGISTRATION] = examples("extending.md", "An agent", "toml")
[SCAFFOLD] = examples("extending.md", "An agent", "yaml")
TEST = "tests/test_fixed.py"


@pytest.fixture
def registered() -> Iterator[None]:
    names: dict[str, Any] = {}
    exec(FIXED + ONE_ANSWER, names)
    AGENTS.register("fixed", names["FixedAgent"])
    AGENTS.register("one-answer", names["OneAnswerAgent"])
    yield
    AGENTS.unregister("fixed")
    AGENTS.unregister("one-answer")


def package(directory: Path) -> Path:
    """A folder with the example as an installed package; where it is on the path, it is installed."""
    installed = directory / "site"
    facts = installed / "fixed_agent-1.0.dist-info"
    facts.mkdir(parents=True)
    [(group, points)] = tomllib.loads(REGISTRATION)["project"]["entry-points"].items()
    lines = [f"[{group}]", *(f"{name} = {place}" for name, place in points.items()), ""]
    (facts / "entry_points.txt").write_text("\n".join(lines))
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: fixed-agent\nVersion: 1.0\n")
    (installed / "fixed_agent.py").write_text(FIXED)
    return installed


def catalog(directory: Path) -> Path:
    """The catalog that is shipped, with the example's scaffold beside the others."""
    made = directory / "catalog"
    (made / "scaffolds" / "fixed").mkdir(parents=True)
    (made / "scaffolds" / "fixed" / "scaffold.yaml").write_text(SCAFFOLD)
    for name in ("tasks", "repos", "rubrics", "models"):
        (made / name).symlink_to(default_directory() / name)
    return made


async def work(directory: Path, agent: str, model: Model | None = None, **limits: float) -> AgentResult:
    scaffold = Scaffold.model_validate({**yaml.safe_load(SCAFFOLD), "agent": agent})
    sandbox = SubprocessSandbox(directory)
    await sandbox.start()
    task = small_task(directory / "task", **limits)
    return await let_agent_work(task, scaffold, model, sandbox, directory / "t.jsonl")


@pytest.mark.usefixtures("registered")
async def test_the_example_leaves_its_test_and_its_manifest(tmp_path: Path) -> None:
    result = await work(tmp_path, "fixed")
    assert (result.ending, result.steps) == (Ending.SUBMITTED, 0)
    assert (tmp_path / "app" / TEST).read_text() == "def test_one_and_one():\n    assert 1 + 1 == 2\n"
    assert yaml.safe_load((tmp_path / "agent/manifest.yaml").read_text()) == [
        {"file": TEST, "tests": ["test_one_and_one"]}
    ]
    header, observation, end = read_trajectory(tmp_path / "t.jsonl")
    assert isinstance(header, HeaderRecord)
    assert header.scaffold == "fixed"
    assert isinstance(observation, ObservationRecord)
    assert observation.exit_status == 0
    assert isinstance(end, EndRecord)


@pytest.mark.usefixtures("registered")
async def test_the_example_with_a_model_is_metered_whatever_it_does(tmp_path: Path) -> None:
    paid = say("- file: tests/test_x.py\n  tests: [test_x]\n", usage=Usage(calls=1, cost_usd=0.5))
    result = await work(tmp_path / "within", "one-answer", ScriptedModel([paid]))
    assert (result.ending, result.steps, result.usage.cost_usd) == (Ending.SUBMITTED, 1, 0.5)
    assert (tmp_path / "within/agent/manifest.yaml").read_text() == paid.message.content


@pytest.mark.usefixtures("registered")
async def test_the_example_with_a_model_is_refused_without_one(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="needs a model; name one with -m"):
        await work(tmp_path, "one-answer")


@pytest.mark.long
async def test_an_installed_agent_is_planned_by_its_entry_point_and_needs_no_model(tmp_path: Path) -> None:
    arguments = ("--catalog", catalog(tmp_path), "run", "-t", TASK, "-s", "fixed", "--sandbox", "local", "--dry-run")
    planned = await testwright(
        *arguments, "-m", "openai/x", "--json", cwd=tmp_path, PYTHONPATH=str(package(tmp_path))
    )
    assert planned.status == 0, planned.complaint
    assert [(item["scaffold"], item["model"]) for item in json.loads(planned.output)["trials"]] == [("fixed", None)]


async def test_an_agent_that_is_not_installed_is_named_with_file_and_line(tmp_path: Path) -> None:
    arguments = ("--catalog", catalog(tmp_path), "run", "-t", TASK, "-s", "fixed", "--sandbox", "local", "--dry-run")
    planned = await testwright(*arguments, cwd=tmp_path)
    assert planned.status == 2
    assert (
        "scaffolds/fixed/scaffold.yaml:4: unknown agent 'fixed'; known: mini, native, nop, oracle"
        in planned.complaint
    )
    assert "Traceback" not in planned.complaint


@pytest.mark.long
@pytest.mark.docker
async def test_an_installed_agent_works_in_a_run_and_is_judged(tmp_path: Path) -> None:
    arguments = ("--catalog", catalog(tmp_path), "run", "-t", TASK, "-s", "fixed", "--sandbox", "docker", "-o", "out")
    ran = await testwright(
        *arguments, "--json", cwd=tmp_path, PYTHONPATH=str(package(tmp_path)), TESTWRIGHT_CACHE=str(cache_directory())
    )
    assert ran.status == 0, ran.complaint
    [trial] = json.loads(ran.output)["trials"]
    assert trial["verdict"] == "failed"
    [place] = (tmp_path / "out").glob("trials/*/fixed/none/1")
    assert "def test_one_and_one" in (place / "submission/patch.diff").read_text()
    assert json.loads((place / "agent.json").read_text())["ending"] == "submitted"
