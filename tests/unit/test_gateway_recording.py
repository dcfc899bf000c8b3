"""What the gateway records: each message once, each conversation apart, answers with what they cost."""

import hashlib
import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from harness.agents.trajectory import Trajectory, paid, read_trajectory
from harness.models.allowance import Allowance
from harness.models.gateway import access
from harness.models.gateway.access import CallLog
from harness.models.gateway.dialects.protocol import DialectName
from harness.models.gateway.records import CallRecord, GatewayRecord, PromptRecord
from harness.models.gateway.server import serve_gateway
from harness.models.protocol import Message, MessageRole, StopReason, ToolCall
from harness.models.replay import MessageRecord
from harness.plugins.scripted_provider.scenario import Call, Reply, Tokens
from tests.support.gateways import (
    ANTHROPIC,
    GENEROUS,
    NATIVE,
    OPENAI,
    Trial,
    asking,
    opened,
    path_of,
    post,
    send,
    served_by,
)
from tests.support.provider import failing, playing

PROMPT = Message(role=MessageRole.USER, content="write tests")
LOOK = Reply(text="I look.", tool_calls=(Call(name="bash", arguments={"command": "ls"}),))


def said(text: str, *calls: ToolCall) -> Message:
    return Message(role=MessageRole.ASSISTANT, content=text, tool_calls=calls)


def result(text: str, call_id: str) -> Message:
    return Message(role=MessageRole.TOOL, content=text, tool_call_id=call_id)


def call(call_id: str) -> ToolCall:
    return ToolCall(id=call_id, name="bash", arguments='{"command": "ls"}')


async def say(trial: Trial, dialect: DialectName, *history: Message, system: str = "be brief") -> None:
    got = await send(trial, dialect, asking(dialect, *history, system=system, tools=("bash",)), streaming=True)
    assert got.status == 200, got.body


@pytest.mark.parametrize("dialect", DialectName)
async def test_a_history_that_is_sent_again_is_recorded_once(dialect: DialectName) -> None:
    async with playing(LOOK, LOOK, Reply(text="done")) as provider, opened(provider, NATIVE[dialect]) as trial:
        await say(trial, dialect, PROMPT)
        one = trial.answers[0].message.tool_calls[0].id
        history = [PROMPT, said("I look.", call(one)), result("a.py", one)]
        await say(trial, dialect, *history)
        two = trial.answers[1].message.tool_calls[0].id
        await say(trial, dialect, *history, said("I look.", call(two)), result("a.py", two))
    assert trial.messages == [
        ("", MessageRole.SYSTEM, "be brief"),
        ("", MessageRole.USER, "write tests"),
        ("", MessageRole.ASSISTANT, "I look."),
        ("", MessageRole.TOOL, "a.py"),
        ("", MessageRole.ASSISTANT, "I look."),
        ("", MessageRole.TOOL, "a.py"),
        ("", MessageRole.ASSISTANT, "done"),
    ]
    assert [(record.step, record.stop) for record in trial.answers] == [
        (1, StopReason.TOOL_CALLS),
        (2, StopReason.TOOL_CALLS),
        (3, StopReason.END),
    ]
    assert trial.summary.conversations == 1


async def test_the_system_prompt_and_the_tools_are_recorded_once_with_their_hashes() -> None:
    async with playing(Reply(text="hi")) as provider, opened(provider, ANTHROPIC) as trial:
        for _ in range(2):
            await say(trial, DialectName.MESSAGES, PROMPT)
        await say(trial, DialectName.MESSAGES, PROMPT, said("hi"), PROMPT, system="be long")
    first, second = trial.prompts
    assert first.sha256 == hashlib.sha256(b"be brief").hexdigest()
    assert (first.chars, first.tools, len(first.tools_sha256)) == (8, ("bash",), 64)
    assert second.sha256 == hashlib.sha256(b"be long").hexdigest()
    assert [text for _, role, text in trial.messages if role is MessageRole.SYSTEM] == ["be brief", "be long"]
    assert trial.summary.prompts == 2


async def test_a_prompt_that_changes_with_each_call_is_not_written_out_each_time() -> None:
    async with playing(Reply(text="hi")) as provider, opened(provider, ANTHROPIC) as trial:
        for number in range(6):
            await say(trial, DialectName.MESSAGES, PROMPT, system=f"call {number}")
    assert len([role for _, role, _ in trial.messages if role is MessageRole.SYSTEM]) == 3
    assert len(trial.prompts) == 6


async def test_what_is_recorded_of_requests_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "_MOST_RECORDED", 5_000)
    failures = [failing("bad-request")] * 9
    async with playing(*failures, Reply(text="an answer")) as provider, opened(provider, OPENAI) as trial:
        for number in range(10):
            asked = Message(role=MessageRole.USER, content=str(number) * 2_000)
            await send(trial, DialectName.CHAT, asking(DialectName.CHAT, asked, tools=("bash",)))
    contents = [content for _, _, content in trial.messages]
    assert [len(content) >= 2_000 for content in contents[:5]] == [True, True, False, False, False]
    assert "characters, not recorded" in contents[2]
    assert contents[-1] == "an answer"


@pytest.mark.parametrize("dialect", DialectName)
async def test_subagents_and_side_calls_are_conversations_of_their_own(dialect: DialectName) -> None:
    """They come in between, with a prompt of their own, or with the same one and no tools."""
    sub = Message(role=MessageRole.USER, content="look for fixtures")
    async with playing(Reply(text="hi")) as provider, opened(provider, NATIVE[dialect]) as trial:
        await say(trial, dialect, PROMPT)
        assert (await send(trial, dialect, asking(dialect, PROMPT, system="make a title"))).status == 200
        await say(trial, dialect, sub)
        await say(trial, dialect, PROMPT, said("hi"), Message(role=MessageRole.USER, content="go on"))
        await say(trial, dialect, sub, said("hi"), Message(role=MessageRole.USER, content="look further"))
    by_name: dict[str, list[str]] = {}
    for name, _, text in trial.messages:
        by_name.setdefault(name, []).append(text)
    assert by_name == {
        "": ["be brief", "write tests", "hi", "go on", "hi"],
        "2": ["make a title", "write tests", "hi"],
        "3": ["be brief", "look for fixtures", "hi", "look further", "hi"],
    }
    assert trial.summary.conversations == 3


async def test_of_a_rewritten_history_only_what_is_new_is_recorded() -> None:
    """Old output is taken out, a reminder comes and goes, spaces and ids change."""
    dialect = DialectName.MESSAGES
    async with playing(LOOK, LOOK, Reply(text="done")) as provider, opened(provider, ANTHROPIC) as trial:
        await say(trial, dialect, PROMPT)
        history = [PROMPT, said("I look.\n", call("t1")), result("a long output", "t1")]
        await say(trial, dialect, *history)
        cleared = [PROMPT, said("I look.", call("x1")), result("[cleared]", "x1")]
        await say(trial, dialect, *cleared, said("I look.", call("x2")), result("b.py", "x2"))
    assert [text for _, _, text in trial.messages] == [
        "be brief",
        "write tests",
        "I look.",
        "a long output",
        "I look.",
        "[cleared]",
        "b.py",
        "done",
    ]


async def test_a_request_that_is_repeated_after_a_fault_is_recorded_once() -> None:
    async with playing(failing("overloaded"), Reply(text="hi")) as provider, opened(provider, OPENAI) as trial:
        for _ in range(2):
            await send(trial, DialectName.CHAT, asking(DialectName.CHAT, PROMPT))
    assert [text for _, _, text in trial.messages] == ["write tests", "hi"]


async def test_thinking_is_kept_with_its_answer() -> None:
    thinking = Reply(text="hi", thinking="hm")
    async with playing(thinking) as provider, opened(provider, ANTHROPIC) as trial:
        await say(trial, DialectName.MESSAGES, PROMPT)
    assert trial.answers[0].message.signed == ({"type": "thinking", "thinking": "hm", "signature": "scripted"},)


async def test_a_native_agents_trajectory_reads_as_the_common_ones_does(tmp_path: Path) -> None:
    path = tmp_path / "trajectory.jsonl"
    allowance = Allowance(GENEROUS)
    dear = Reply(text="hi", usage=Tokens(input=1000, output=100, cache_read=400))
    with Trajectory(path) as trajectory:
        async with playing(dear) as provider, serve_gateway(port=0) as gateway:
            served = served_by(provider, ANTHROPIC)
            async with gateway.open(served, allowance, trajectory.add) as access:
                url = access.base_url(DialectName.MESSAGES, gateway.url) + path_of(DialectName.MESSAGES)
                body = asking(DialectName.MESSAGES, PROMPT, system="be brief")
                assert (await post(url, body, access.token, {"anthropic-version": "1"})).status == 200
    kinds = [type(record) for record in read_trajectory(path)]
    assert kinds == [MessageRecord, PromptRecord, MessageRecord, MessageRecord, GatewayRecord]
    assert paid(path) == allowance.spending.usage
    assert paid(path).cost_usd == pytest.approx(0.02)


def test_the_log_of_calls_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    record = CallRecord(dialect="chat", path="/", model="m", stream=False, status=200, seconds=1, request_bytes=1)
    size = len(record.model_dump_json()) + 1
    log = CallLog(path, most_bytes=2 * size)
    for _ in range(5):
        log.add(record)
    log.close()
    assert len(path.read_bytes().splitlines()) == 2


async def test_an_answer_is_recorded_before_the_agent_can_ask_again() -> None:
    """Agents go on at the last event; the end of the connection may come much later."""
    for dialect, last in ((DialectName.MESSAGES, b"message_stop"), (DialectName.RESPONSES, b"response.completed")):
        slow = Reply(text="hi", chunk_delay_seconds=0.05)
        async with playing(slow) as provider, opened(provider, NATIVE[dialect]) as trial:
            headers = {"Authorization": f"Bearer {trial.access.token}", "anthropic-version": "1"}
            body = {**asking(dialect, PROMPT), "stream": True}
            path = trial.url(dialect) + path_of(dialect)
            async with aiohttp.ClientSession() as http, http.post(path, json=body, headers=headers) as got:
                seen = b""
                while last not in seen:
                    seen += await got.content.readany()
                assert [text for _, _, text in trial.messages] == ["write tests", "hi"]
                assert trial.allowance.steps == 1


CUSTOM = {"id": "c1", "type": "custom", "custom": {"name": "apply_patch", "input": "*** Begin"}}
PIECES = [{"index": 0, "id": "c1", "type": "custom", "custom": {"name": "apply_patch", "input": ""}}]
PIECES += [{"index": 0, "custom": {"input": text}} for text in ("*** ", "Begin")]


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streaming"])
async def test_a_call_of_a_tool_that_takes_a_text_is_a_step_as_any_other(streaming: bool) -> None:
    """An answer that reached its agent without being counted would cost it nothing."""
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    whole = {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [CUSTOM]}}], "usage": usage}
    deltas = [{"choices": [{"index": 0, "delta": {"tool_calls": [piece]}}]} for piece in PIECES]
    ends = [{"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}, {"choices": [], "usage": usage}]
    stream = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in [*deltas, *ends]) + "data: [DONE]\n\n"
    reply = Reply(body=stream if streaming else json.dumps(whole))
    async with playing(reply) as provider, opened(provider, OPENAI) as trial:
        await send(trial, DialectName.CHAT, asking(DialectName.CHAT, PROMPT), streaming)
    assert (trial.failed, trial.allowance.steps, trial.allowance.spending.usage.input) == ([], 1, 10)
    [call] = trial.answers[0].message.tool_calls
    assert (call.id, call.name, call.arguments) == ("c1", "apply_patch", "*** Begin")


@pytest.mark.parametrize(
    ("message", "usage", "content"),
    [
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, {}, "ab"),
        ({"content": "ab"}, None, "ab"),
        ({"content": "ab", "tool_calls": [{"function": {"name": "n", "arguments": {"a": 1}}}]}, {}, "ab"),
    ],
    ids=["parts", "no usage", "arguments as an object"],
)
async def test_answers_in_the_forms_of_compatible_servers_are_steps(message: Any, usage: Any, content: str) -> None:
    said = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage})
    async with playing(Reply(body=said)) as provider, opened(provider, OPENAI) as trial:
        await send(trial, DialectName.CHAT, asking(DialectName.CHAT, PROMPT))
    assert (trial.failed, trial.answers[0].message.content) == ([], content)
    assert [call.arguments for call in trial.answers[0].message.tool_calls] in ([], ['{"a": 1}'])
