"""What a provider makes an agent wait for doesn't count against the agent, and every failed request is written down.

The providers are real HTTP servers; the clock of waits and limits is one whose minutes take no time.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness.agents.mini import SUBMIT_COMMAND
from harness.agents.protocol import AgentResult
from harness.agents.trajectory import Ending, EndRecord, paid, read_trajectory
from harness.models.allowance import Allowance
from harness.models.replay import MessageRecord
from harness.runs.outcome import reason_code
from harness.specs.errors import ProviderError, ProviderFault
from harness.specs.reasons import ReasonCode
from tests.support.agents import faults, let_agent_work
from tests.support.clocks import ManualClock
from tests.support.models import ANTHROPIC, OPENAI, model_at
from tests.support.provider import Provider, Reply, failing, playing
from tests.support.small_task import scaffold, small_task
from tests.support.subprocess_sandbox import SubprocessSandbox

pytestmark = pytest.mark.parametrize("name", [OPENAI, ANTHROPIC])
LOOK, SUBMIT = Reply(text="I look.", commands=("ls",)), Reply(commands=(SUBMIT_COMMAND,))


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@dataclass
class Trial:
    """One agent's work below a directory, with 60 seconds to work."""

    directory: Path

    @property
    def trajectory(self) -> Path:
        return self.directory / "trajectory.jsonl"

    async def run(self, provider: Provider, name: str, **wishes: Any) -> AgentResult:
        task = small_task(self.directory / "task", wall_seconds=60)
        clock = ManualClock()
        allowance = Allowance(task.file.limits, clock=clock)
        model = model_at(provider, name, observe=allowance.failed, clock=clock, **wishes)
        sandbox = SubprocessSandbox(self.directory / "sandbox")
        await sandbox.start()
        (sandbox.logs / "manifest.yaml").write_text("[]")
        return await let_agent_work(task, scaffold("mini"), model, sandbox, self.trajectory, allowance)


async def test_an_outage_that_passes_costs_the_agent_no_time_and_stands_in_its_trajectory(
    tmp_path: Path, name: str
) -> None:
    down = [failing("unavailable", retry_after=seconds) for seconds in (100, 200, 400)]
    async with playing(LOOK, *down, SUBMIT) as provider:
        result = await Trial(tmp_path).run(provider, name, attempts=4)
    assert (result.ending, result.steps, result.failed_requests) == (Ending.SUBMITTED, 2, 3)
    assert (result.counted_seconds, result.waiting_seconds) == (0, 700)
    found = faults(Trial(tmp_path).trajectory)
    assert [(item.step, item.fault, item.retry_in) for item in found] == [
        (1, ProviderFault.OVERLOADED, 100),
        (1, ProviderFault.OVERLOADED, 200),
        (1, ProviderFault.OVERLOADED, 400),
    ]
    assert all("unavailable" in item.message for item in found)
    end = read_trajectory(Trial(tmp_path).trajectory)[-1]
    assert isinstance(end, EndRecord)
    assert (end.ending, end.failed_requests, end.waiting_seconds) == (Ending.SUBMITTED, 3, 700)


async def test_an_outage_past_its_limit_is_a_providers_error_and_no_submission(tmp_path: Path, name: str) -> None:
    async with playing(failing("unavailable", retry_after=40)) as provider:
        with pytest.raises(ProviderError, match=r"overloaded: .*longer than the model's total_seconds") as caught:
            await Trial(tmp_path).run(provider, name, attempts=50, total_seconds=100)
    assert reason_code(caught.value) is ReasonCode.PROVIDER_ERROR
    assert len(provider.requests) == 3
    assert [item.retry_in for item in faults(Trial(tmp_path).trajectory)] == [40, 40, None]
    assert not any(isinstance(item, EndRecord) for item in read_trajectory(Trial(tmp_path).trajectory))


async def test_one_request_a_minute_leaves_the_agent_all_its_seconds(tmp_path: Path, name: str) -> None:
    async with playing(*[LOOK] * 5, SUBMIT) as provider:
        result = await Trial(tmp_path).run(provider, name, limits={"requests_per_minute": 1})
    assert (result.ending, result.steps, result.failed_requests) == (Ending.SUBMITTED, 6, 0)
    assert (result.counted_seconds, result.waiting_seconds) == (0, 300)


async def test_a_failed_answer_that_was_paid_is_counted_once(tmp_path: Path, name: str) -> None:
    count = '"usage": {"prompt_tokens": 7, "completion_tokens": 3, "input_tokens": 7, "output_tokens": 3}'
    unreadable = Reply(body=f'{{"choices": [], "content": null, {count}}}')
    async with playing(unreadable, SUBMIT) as provider:
        result = await Trial(tmp_path).run(provider, name, prices={"input": 1_000_000, "output": 0})
    [failed] = faults(Trial(tmp_path).trajectory)
    [said] = [
        item for item in read_trajectory(Trial(tmp_path).trajectory) if isinstance(item, MessageRecord) and item.usage
    ]
    assert said.usage
    assert (failed.usage.cost_usd, said.usage.cost_usd) == (7, 100)
    assert paid(Trial(tmp_path).trajectory) == result.usage == failed.usage + said.usage
