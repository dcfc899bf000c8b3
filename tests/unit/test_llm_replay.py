"""Replaying a recorded trial, scripts, and models by name."""

from pathlib import Path

import pytest

from harness.agents.mini import SUBMIT_COMMAND
from harness.agents.protocol import AgentResult
from harness.agents.trajectory import Ending, ObservationRecord, read_trajectory
from harness.models.build import Models
from harness.models.litellm_model import LiteLLMModel
from harness.models.protocol import Model
from harness.models.replay import ReplayModel, ScriptedModel, normalise, say
from harness.specs.catalog import Catalog
from harness.specs.errors import ProviderError, UserError
from harness.specs.usage import Usage
from tests.support.agents import let_agent_work
from tests.support.small_task import scaffold, small_task
from tests.support.subprocess_sandbox import SubprocessSandbox

PAID = Usage(calls=1, input=100, output=10, cache_read=50, cost_usd=0.5)


def build_model(name: str) -> Model:
    return Models(Catalog()).build(name)


async def trial(directory: Path, model: Model, file: str = "the same\n") -> AgentResult:
    """`file` is what the command of the first step finds in the tree."""
    sandbox = SubprocessSandbox(directory / "sandbox")
    await sandbox.start()
    (sandbox.logs / "manifest.yaml").write_text("[]")
    (sandbox.tree / "file").write_text(file)
    path = directory / "trajectory.jsonl"
    return await let_agent_work(small_task(directory / "task"), scaffold("mini"), model, sandbox, path)


def commands(directory: Path) -> list[str]:
    records = read_trajectory(directory / "trajectory.jsonl")
    return [record.command for record in records if isinstance(record, ObservationRecord)]


@pytest.fixture
async def recorded(tmp_path: Path) -> Path:
    """A trial with tool calls, a block in text and a format error."""
    in_text = "```bash\nmktemp -u\n```"
    script = [say("", "cat file", "ls", usage=PAID), say("hm"), say(in_text), say("", SUBMIT_COMMAND)]
    await trial(tmp_path / "recorded", ScriptedModel(script))
    return tmp_path / "recorded"


async def test_a_replay_gives_the_same_commands_and_tokens_for_nothing(recorded: Path, tmp_path: Path) -> None:
    model = ReplayModel(recorded / "trajectory.jsonl")
    result = await trial(tmp_path / "again", model)
    assert (result.ending, result.steps) == (Ending.SUBMITTED, 4)
    assert result.usage == PAID.model_copy(update={"calls": 4, "cost_usd": 0.0})
    assert commands(tmp_path / "again") == commands(recorded) == ["cat file", "ls", "mktemp -u\n"]
    assert model.divergences == []


async def test_a_world_that_answers_differently_is_told_with_step_and_line(recorded: Path, tmp_path: Path) -> None:
    model = ReplayModel(recorded / "trajectory.jsonl")
    await trial(tmp_path / "again", model, file="another\n")
    assert model.divergences == [(1, "line 3: recorded 'the same', now 'another'")]
    assert str(model.divergences[0]).startswith("replay differs after step 1: line 3")


async def test_a_recording_that_was_cut_short_ends_with_a_provider_error(recorded: Path, tmp_path: Path) -> None:
    lines = (recorded / "trajectory.jsonl").read_bytes().splitlines(keepends=True)
    cut = tmp_path / "cut.jsonl"
    cut.write_bytes(b"".join(lines[:8]) + lines[8][:40])
    with pytest.raises(ProviderError, match="the recording ends here"):
        await trial(tmp_path / "again", ReplayModel(cut))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("===== 5 passed in 0.12s =====", "==== 5 passed in 11.3s ===="),
        ("Exit status: 0 (9 answers, 50 seconds, $1.75 left)", "Exit status: 0 (1 answer, 51 seconds left)"),
        ("Exit status: 0 (9 answers, 50 seconds, $1.75 left)", "Exit status: 0"),
        ("took 3 ms", "took 0.4 seconds"),
        ("/tmp/pytest-of-me/pytest-3/x", "/tmp/pytest-of-you/pytest-4/x"),
        ("<X object at 0x7f00aa>", "<X object at 0x7f11bb>"),
        ("-rw-r--r-- 1 me me 5 Nov 20 08:25 f", "-rw-r--r-- 1 me me 5 Jan  2 11:00 f"),
        ("2026-01-02T03:04:05.678Z x", "2025-12-31 23:59:59 x"),
    ],
)
def test_what_changes_from_run_to_run_is_no_divergence(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("5 passed in 0.12s", "4 passed in 0.12s"),
        ("Exit status: 0", "Exit status: 1"),
        ("/tmp/a/one.py", "/tmp/a/two.py"),
        ("/app/a", "/app/b"),
        ("x.py:12: error", "x.py:13: error"),
    ],
)
def test_what_a_model_would_act_upon_is_a_divergence(one: str, other: str) -> None:
    assert normalise(one) != normalise(other)


async def test_a_script_is_a_model(tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    path.write_text(f"messages:\n  - text: I look.\n    commands: [cat file]\n  - commands: [{SUBMIT_COMMAND}]\n")
    result = await trial(tmp_path, build_model(f"scripted:{path}"))
    assert (result.ending, commands(tmp_path)) == (Ending.SUBMITTED, ["cat file"])


def test_a_model_is_built_from_its_name(recorded: Path) -> None:
    assert isinstance(build_model(f"replay:{recorded / 'trajectory.jsonl'}"), ReplayModel)
    built = build_model("openrouter/vendor/model:free")
    assert isinstance(built, LiteLLMModel)
    assert built.name == "openrouter/vendor/model:free"


@pytest.mark.parametrize("name", ["", "gpt", "replay:", "openai/", "/x", "a b/c", "Openai/x"])
def test_a_name_of_no_form_is_told_the_forms(name: str) -> None:
    with pytest.raises(UserError, match=r"PROVIDER/MODEL, .*replay:TRAJECTORY\.jsonl or scripted:SCRIPT\.yaml"):
        build_model(name)


@pytest.mark.parametrize("kind", ["replay", "scripted"])
def test_a_file_that_is_not_there_is_named(kind: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"gone: No such file"):
        build_model(f"{kind}:{tmp_path / 'gone'}")
