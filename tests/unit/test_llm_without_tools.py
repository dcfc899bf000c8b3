"""Models without tools are asked for text: by their file, by litellm's table, or since the provider says so."""

from pathlib import Path

import pytest

from harness.agents.actions import BASH, parse_actions
from harness.agents.mini import SUBMIT_COMMAND
from harness.agents.trajectory import Ending
from harness.models.allowance import Allowance
from harness.models.protocol import Message, MessageRole, ToolCall
from harness.specs.errors import ProviderError, ProviderFault
from tests.support.agents import faults, let_agent_work
from tests.support.models import CONVERSATION, ask, model_at
from tests.support.provider import Provider, Reply, failing, playing
from tests.support.small_task import scaffold, small_task
from tests.support.subprocess_sandbox import SubprocessSandbox

TEXT = Reply(text="I look.\n```bash\nls\n```\n")
REFUSALS = [
    ("bad-request", "registry.ollama.ai/library/small does not support tools"),
    ("bad-request", '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
    ("not-found", "No endpoints found that support tool use. Try disabling 'bash'."),
    ("bad-request", "Function calling is not enabled for this model"),
    ("unprocessable", "tools are not supported by this model"),
]


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def asked_with_tools(provider: Provider) -> list[bool]:
    return ["tools" in request.body for request in provider.requests]


@pytest.mark.parametrize(("kind", "words"), REFUSALS)
async def test_a_provider_that_refuses_tools_is_asked_without_them_from_then_on(kind: str, words: str) -> None:
    async with playing(failing(kind, words), TEXT) as provider:
        model = model_at(provider, attempts=1)
        first = await model.complete(CONVERSATION, [BASH])
        await model.complete(CONVERSATION, [BASH])
    assert [action.command for action in parse_actions(first.message)] == ["ls\n"]
    assert asked_with_tools(provider) == [True, False, False]


async def test_a_model_that_the_table_knows_to_have_no_tools_is_not_given_any() -> None:
    async with playing(TEXT) as provider:
        await ask(provider, "perplexity/sonar")
        await ask(provider, "openai/gpt-4o-mini")
        await ask(provider, "openai/nobody-knows-it")
    assert asked_with_tools(provider) == [False, True, True]


async def test_the_model_file_has_the_last_word() -> None:
    async with playing(TEXT, failing(*REFUSALS[0])) as provider:
        await model_at(provider, tools=False).complete(CONVERSATION, [BASH])
        with pytest.raises(ProviderError) as caught:
            await model_at(provider, tools=True).complete(CONVERSATION, [BASH])
    assert caught.value.fault is ProviderFault.TOOLS
    assert asked_with_tools(provider) == [False, True]


async def test_a_conversation_with_tool_calls_does_not_go_on_without_tools() -> None:
    call = ToolCall(id="c1", name="bash", arguments='{"command": "ls"}')
    said = [
        Message(role=MessageRole.ASSISTANT, tool_calls=(call,)),
        Message(role=MessageRole.TOOL, tool_call_id="c1", content="x"),
    ]
    async with playing(failing(*REFUSALS[0])) as provider:
        with pytest.raises(ProviderError, match=r"tools: .*does not support tools"):
            await ask(provider, messages=[*CONVERSATION, *said])
    assert asked_with_tools(provider) == [True]


async def test_a_trial_of_a_model_without_tools_goes_on_in_text_to_its_end(tmp_path: Path) -> None:
    replies = [failing(*REFUSALS[0]), TEXT, Reply(text=f"Done.\n```bash\n{SUBMIT_COMMAND}\n```")]
    sandbox = SubprocessSandbox(tmp_path / "sandbox")
    await sandbox.start()
    (sandbox.logs / "manifest.yaml").write_text("[]")
    async with playing(*replies) as provider:
        task, path = small_task(tmp_path / "task"), tmp_path / "trajectory.jsonl"
        allowance = Allowance(task.file.limits)
        model = model_at(provider, attempts=1, observe=allowance.failed)
        result = await let_agent_work(task, scaffold("mini"), model, sandbox, path, allowance)
    assert (result.ending, result.steps) == (Ending.SUBMITTED, 2)
    assert [(item.fault, item.retry_in) for item in faults(path)] == [(ProviderFault.TOOLS, 0)]
    assert asked_with_tools(provider) == [True, False, False]
    assert [message["role"] for message in provider.requests[-1].body["messages"]] == [
        "system", "user", "assistant", "user",
    ]  # fmt: skip
