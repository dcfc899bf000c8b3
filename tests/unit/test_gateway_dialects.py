"""Each dialect through the gateway: passed on where the provider has it, else translated."""

from typing import Any

import pytest

from harness.models.gateway.dialects.protocol import DialectName
from harness.models.protocol import Message, MessageRole, ToolCall
from harness.plugins.scripted_provider.scenario import Call, Reply, Stop, Tokens
from harness.plugins.scripted_provider.server import serve
from tests.support.gateways import ANTHROPIC, GEMINI, NATIVE, OPENAI, ask, asking, opened, send
from tests.support.provider import playing, scenario

pytestmark = pytest.mark.usefixtures("few_roots")

KINDS = ["text only", "one call", "parallel calls", "refusal", "filtered", "cut", "thinking"]
PLAYED = scenario("every-kind")
REPLIES = {str(rule.when).removeprefix("kind: "): rule.replies[0] for rule in PLAYED.rules}
STOPS: dict[DialectName, dict[Any, str]] = {
    DialectName.CHAT: {None: "stop", "calls": "tool_calls", Stop.LENGTH: "length", Stop.FILTERED: "content_filter"},
    DialectName.RESPONSES: {
        None: "completed",
        "calls": "completed",
        Stop.LENGTH: "max_output_tokens",
        Stop.FILTERED: "content_filter",
    },
    DialectName.MESSAGES: {
        None: "end_turn",
        "calls": "tool_use",
        Stop.LENGTH: "max_tokens",
        Stop.FILTERED: "refusal",
        Stop.REFUSAL: "refusal",
    },
    DialectName.GOOGLE: {
        None: "STOP",
        "calls": "STOP",
        Stop.LENGTH: "MAX_TOKENS",
        Stop.FILTERED: "SAFETY",
        Stop.REFUSAL: "SAFETY",
    },
}
PATHS = {
    DialectName.CHAT: "/v1/chat/completions",
    DialectName.RESPONSES: "/v1/responses",
    DialectName.MESSAGES: "/v1/messages",
    DialectName.GOOGLE: "/v1beta/models/unheard-of:",
}


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streaming"])
@pytest.mark.parametrize("dialect", DialectName)
@pytest.mark.parametrize("kind", KINDS)
async def test_every_kind_of_reply_passes_through_to_the_vendors_client(
    kind: str, dialect: DialectName, streaming: bool
) -> None:
    reply = REPLIES[kind]
    async with serve(PLAYED) as provider, opened(provider, NATIVE[dialect]) as trial:
        heard = await ask(trial, dialect, f"kind: {kind}", streaming)
        assert provider.requests[-1].path.startswith(PATHS[dialect])
    assert (heard.text, heard.thinking) == (reply.text, reply.thinking)
    assert heard.calls == [(call.name, call.arguments) for call in reply.calls]
    stops = {Stop.REFUSAL: "refusal", **STOPS[dialect]}
    assert heard.stop == stops["calls" if reply.calls else reply.stop]
    assert reply.usage
    assert heard.counts == {name: reply.usage.model_dump()[name] for name in heard.counts}
    [answer] = trial.answers
    assert answer.usage
    assert (answer.message.content, answer.usage.output) == (reply.text, reply.usage.output)
    assert [call.name for call in answer.message.tool_calls] == [call.name for call in reply.calls]
    assert not trial.summary.translated


TRANSLATED = [
    (DialectName.CHAT, ANTHROPIC),
    (DialectName.CHAT, GEMINI),
    (DialectName.RESPONSES, ANTHROPIC),
    (DialectName.RESPONSES, GEMINI),
    (DialectName.MESSAGES, OPENAI),
    (DialectName.MESSAGES, GEMINI),
    (DialectName.GOOGLE, OPENAI),
    (DialectName.GOOGLE, ANTHROPIC),
]
ANSWER = Reply(
    text="I look around.",
    tool_calls=(Call(name="bash", arguments={"command": "ls"}), Call(name="bash", arguments={"command": "pwd"})),
    usage=Tokens(input=1000, output=200, cache_read=600),
)


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streaming"])
@pytest.mark.parametrize(("dialect", "model"), TRANSLATED)
async def test_an_answer_of_another_dialect_is_translated(dialect: DialectName, model: str, streaming: bool) -> None:
    async with playing(ANSWER) as provider, opened(provider, model) as trial:
        heard = await ask(trial, dialect, "hello", streaming)
    assert heard.text == "I look around."
    assert heard.calls == [("bash", {"command": "ls"}), ("bash", {"command": "pwd"})]
    assert len(set(heard.ids)) == 2
    assert heard.stop == STOPS[dialect]["calls"]
    assert {name: heard.counts[name] for name in ("input", "output", "cache_read")} == {
        "input": 1000,
        "output": 200,
        "cache_read": 600,
    }
    [answer] = trial.answers
    assert answer.usage
    assert (answer.usage.input, answer.usage.output, answer.usage.cache_read) == (1000, 200, 600)
    assert trial.summary.translated


CALLS = (
    ToolCall(id="call_1", name="bash", arguments='{"command": "ls"}'),
    ToolCall(id="call_2", name="bash", arguments='{"command": "pwd"}'),
)
HISTORY = (
    Message(role=MessageRole.USER, content="write tests"),
    Message(role=MessageRole.ASSISTANT, content="I look.", tool_calls=CALLS),
    Message(role=MessageRole.TOOL, content="a.py", tool_call_id="call_1"),
    Message(role=MessageRole.TOOL, content="/src", tool_call_id="call_2"),
)


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streaming"])
@pytest.mark.parametrize(("dialect", "model"), TRANSLATED)
async def test_a_history_with_tool_calls_is_translated_as_its_provider_wants_it(
    dialect: DialectName, model: str, streaming: bool
) -> None:
    """The scripted provider refuses what the vendors refuse: results without calls, and calls without results."""
    body = asking(dialect, *HISTORY, system="be brief", tools=("bash",))
    if dialect is DialectName.GOOGLE:  # its agents send all results in one turn
        first, second = body["contents"][2:]
        body["contents"][2:] = [{"role": "user", "parts": first["parts"] + second["parts"]}]
    if dialect is DialectName.MESSAGES:
        first, second = body["messages"][2:]
        body["messages"][2:] = [{"role": "user", "content": first["content"] + second["content"]}]
    async with playing(Reply(text="done")) as provider, opened(provider, model) as trial:
        got = await send(trial, dialect, body, streaming)
        assert got.status == 200, got.body
        seen = provider.requests[-1]
    assert all(part in seen.text for part in ("be brief", "write tests", "I look.", "a.py", "/src", "pwd"))
    assert seen.body["tools"]
    assert b"done" in got.body


async def test_a_freeform_tool_of_codex_comes_back_as_one() -> None:
    """Where the provider has only functions the text is their one argument."""
    tool = {"type": "custom", "name": "apply_patch", "description": "patches", "format": {"type": "text"}}
    call = Call(name="apply_patch", arguments={"input": "*** Begin Patch"})
    async with playing(Reply(tool_calls=(call,))) as provider, opened(provider, ANTHROPIC) as trial:
        got = await send(trial, DialectName.RESPONSES, {"model": "m", "input": "patch it", "tools": [tool]})
        item = got.json["output"][0]
        assert (item["type"], item["name"], item["input"]) == ("custom_tool_call", "apply_patch", "*** Begin Patch")
        answered = {"type": "custom_tool_call_output", "call_id": item["call_id"], "output": "patched"}
        prompt = {"role": "user", "content": "patch it"}
        got = await send(trial, DialectName.RESPONSES, {"model": "m", "input": [prompt, item, answered]})
        assert got.status == 200, got.body
    assert (MessageRole.TOOL, "patched") in [message[1:] for message in trial.messages]


async def test_prompts_of_a_translated_conversation_are_marked_for_the_cache() -> None:
    async with playing(Reply(text="done")) as provider, opened(provider, "anthropic/claude-unheard-of") as trial:
        body = asking(DialectName.CHAT, *HISTORY, system="be brief", tools=("bash",))
        assert (await send(trial, DialectName.CHAT, body)).status == 200
        sent = provider.requests[-1].body
    assert sent["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert "cache_control" in str(sent["messages"][-1])


async def test_what_a_model_file_asks_for_is_asked_for() -> None:
    wishes: dict[str, Any] = {"temperature": 0.3, "max_tokens": 77, "effort": "low"}
    async with playing(Reply(text="done")) as provider:
        for dialect, model in NATIVE.items():
            async with opened(provider, model, **wishes) as trial:
                assert (await send(trial, dialect, asking(dialect, HISTORY[0]))).status == 200
        chat, responses, messages, google = (seen.body for seen in provider.requests)
    assert (chat["temperature"], chat["max_completion_tokens"], chat["reasoning_effort"]) == (0.3, 77, "low")
    assert (responses["max_output_tokens"], responses["reasoning"]) == (77, {"effort": "low"})
    assert (messages["max_tokens"], messages["output_config"]) == (77, {"effort": "low"})
    assert (google["generationConfig"]["temperature"], google["generationConfig"]["maxOutputTokens"]) == (0.3, 77)
