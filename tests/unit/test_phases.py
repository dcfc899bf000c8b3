"""`--set phases=2`: a second conversation in the same sandbox, which is told to mend what the first one left."""

from pathlib import Path

import pytest

from harness.agents.mini import SUBMIT_COMMAND
from harness.agents.protocol import AgentResult
from harness.agents.trajectory import Ending, read_trajectory
from harness.models.allowance import Allowance
from harness.models.protocol import Completion, MessageRole
from harness.models.replay import MessageRecord, ReplayModel, ScriptedModel, say
from harness.runs.ablation import chosen_scaffolds
from harness.runs.plan import RunConfig, plan_trials
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from tests.support.agents import let_agent_work
from tests.support.small_task import scaffold
from tests.support.subprocess_sandbox import SubprocessSandbox

BRIEF = "build:link-shortener"
SUBMIT = say("", SUBMIT_COMMAND)
BUILD, MEND = say("", "echo broken > run"), say("", "cat run && echo whole > run")


class Site:
    """A sandbox with a manifest, and where trajectories lie."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.sandbox = directory, SubprocessSandbox(directory / "sandbox")

    async def work(self, model: ScriptedModel | ReplayModel, path: Path, **limits: int) -> AgentResult:
        task = Catalog().task(BRIEF)
        await self.sandbox.start()
        (self.sandbox.logs / "manifest.yaml").write_text("- file: tests/test_x.py\n  tests: [test_x]\n")
        allowance = Allowance(task.file.limits)
        return await let_agent_work(task, scaffold("mini", **limits), model, self.sandbox, path, allowance)

    async def scripted(self, *completions: Completion, **limits: int) -> AgentResult:
        return await self.work(ScriptedModel(completions), self.directory / "trajectory.jsonl", **limits)

    @property
    def messages(self) -> list[MessageRecord]:
        found = read_trajectory(self.directory / "trajectory.jsonl")
        return [record for record in found if isinstance(record, MessageRecord)]


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


async def test_a_second_conversation_mends_what_the_first_one_left(site: Site) -> None:
    result = await site.scripted(BUILD, SUBMIT, MEND, SUBMIT, phases=2)
    assert (result.ending, result.steps) == (Ending.SUBMITTED, 4)
    assert (site.sandbox.tree / "run").read_text() == "whole\n"
    told = [record for record in site.messages if record.message.role is MessageRole.USER]
    assert [(record.step, record.conversation) for record in told] == [(0, ""), (2, "phase-2")]
    first, second = (record.message.content for record in told)
    assert "Build the application that the brief below describes" in first
    assert "mend what doesn't" not in first
    assert "Prove that it boots, and mend what doesn't" in second
    assert "Build the application that the brief below describes" in second
    [shown] = [record for record in site.messages if "broken" in record.message.content and record.step == 3]
    assert shown.conversation == "phase-2"


async def test_without_it_the_first_submission_is_the_last(site: Site) -> None:
    result = await site.scripted(BUILD, SUBMIT, MEND, SUBMIT)
    assert (result.ending, result.steps) == (Ending.SUBMITTED, 2)
    assert (site.sandbox.tree / "run").read_text() == "broken\n"


async def test_a_first_conversation_that_does_not_submit_has_no_second(site: Site) -> None:
    result = await site.scripted(say("I have no command."), MEND, phases=2, format_errors=1)
    assert (result.ending, result.steps) == (Ending.FORMAT_ERRORS, 1)


async def test_both_conversations_are_replayed(site: Site, tmp_path: Path) -> None:
    await site.scripted(BUILD, SUBMIT, MEND, SUBMIT, phases=2)
    again = Site(tmp_path / "again")
    model = ReplayModel(site.directory / "trajectory.jsonl")
    result = await again.work(model, tmp_path / "again.jsonl", phases=2)
    assert (result.ending, result.steps, model.divergences) == (Ending.SUBMITTED, 4, [])


def test_runs_with_one_phase_and_with_two_have_names_of_their_own() -> None:
    for text in ("phases=2", "mini.phases=2", "limits.phases=2", "scaffold.phases=2"):
        [changed] = chosen_scaffolds(Catalog(), ("mini",), (text,))
        assert (changed.name, changed.limits.phases) == ("mini+limits.phases=2", 2)
    with pytest.raises(UserError, match="less than or equal to 2"):
        chosen_scaffolds(Catalog(), ("mini",), ("phases=3",))
    with pytest.raises(UserError, match="unknown key"):
        chosen_scaffolds(Catalog(), ("claude-code",), ("phases=2",))


def test_a_task_of_one_phase_is_refused_before_anything_is_paid() -> None:
    wish = {"scaffolds": ("mini",), "models": ("anthropic/x",), "overrides": ("phases=2",)}
    assert len(plan_trials(Catalog(), RunConfig(tasks=(BRIEF,), **wish))) == 1
    with pytest.raises(UserError, match="phases=2: task aiosmtpd-proxy-tlv has one phase"):
        plan_trials(Catalog(), RunConfig(tasks=("aiosmtpd-proxy-tlv",), **wish))
