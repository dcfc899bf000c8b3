"""Requests in which something is of another kind than it should be: nobody vouches for what sends them."""

import asyncio
import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.agents.trajectory import Trajectory, read_trajectory
from harness.models.gateway.dialects.openai_chat import OpenAIChat, wants_usage
from harness.models.gateway.dialects.protocol import DialectName
from harness.models.gateway.dialects.registry import DIALECTS
from harness.models.gateway.withholding import RefusedRequest, Withheld
from harness.models.protocol import Message, MessageRole, StopReason, ToolCall
from harness.models.replay import MessageRecord
from harness.specs.errors import ProviderFault
from harness.specs.model_file import ModelFile
from harness.specs.usage import NO_USAGE
from tests.support.gateways import ANTHROPIC, NATIVE, OPENAI, asking, opened, post, send
from tests.support.gateways import path_of as below
from tests.support.provider import Reply, playing

Place = tuple[str | int, ...]

HALF = "a\ud800b"
ODD = (HALF, None, 1, [], {}, [None], {HALF: HALF})
CALL = ToolCall(id="c1", name="bash", arguments='{"command": "ls"}')
SAID = (
    Message(role=MessageRole.USER, content="hello"),
    Message(role=MessageRole.ASSISTANT, content="I look", tool_calls=(CALL,)),
    Message(role=MessageRole.TOOL, content="a.py", tool_call_id="c1"),
)
FILE = ModelFile.model_validate({"model": "a/b", "temperature": 0.5, "max_tokens": 5})
ANSWER = {
    "id": "i",
    "created": 1,
    "model": "m",
    "choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": HALF}}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 2},
}


def places(value: Any, here: Place = ()) -> Iterator[Place]:
    """Where something stands in a JSON value, and where one more key could stand."""
    if here:
        yield here
    if isinstance(value, dict):
        yield (*here, HALF)
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield from places(part, (*here, key))


def with_other(body: Any, place: Place, value: Any) -> Any:
    changed = inner = copy.deepcopy(body)
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return changed


def read(dialect: DialectName, body: Any) -> None:
    """All that the gateway does with a request before and after it asks."""
    spoken = DIALECTS[dialect]
    spoken.withhold(body, Withheld())
    for message in spoken.asked(body).messages:
        MessageRecord(step=0, message=message).model_dump_json()
    spoken.wish(body, FILE)
    wants_usage(body)
    chat = spoken.chat(body)
    OpenAIChat().wish(chat, FILE)
    told = spoken.told(copy.deepcopy(ANSWER), body, "m", 1)
    spoken.events(told, body)
    answer = spoken.answer(told)
    MessageRecord(step=1, message=answer.message, stop=answer.stop, usage=answer.usage).model_dump_json()


@pytest.mark.parametrize("dialect", DialectName)
def test_no_value_anywhere_in_a_request_is_an_error_of_ours(dialect: DialectName) -> None:
    whole = asking(dialect, *SAID, system="be brief", tools=("bash",))
    tried = 0
    for place in places(whole):
        for value in ODD:
            body = with_other(whole, place, value)
            try:
                read(dialect, body)
            except RefusedRequest:
                continue
            except Exception as error:
                raise AssertionError(f"{dialect}: {value!r} at {place}: {error!r}") from error
            tried += 1
    assert tried > 100


@pytest.mark.usefixtures("few_roots")
@pytest.mark.parametrize(
    "messages",
    [[{}], [{"role": "user", "content": [None]}], [{"role": "user", "content": 5}], [{"role": ["user"]}]],
    ids=["no role", "no part", "no text", "no word"],
)
async def test_what_cannot_be_translated_is_the_agents_failure(messages: list[Any]) -> None:
    async with playing(Reply(text="hi")) as provider, opened(provider, ANTHROPIC) as trial:
        got = await send(trial, DialectName.CHAT, {"model": "m", "messages": messages})
        assert (got.status in (200, 400, 502), trial.access.end) == (True, None), got.body
        assert b"Traceback" not in got.body
    # litellm has no connection where it stumbles over a request: why an outage isn't taken from an agent's own.
    assert {item.fault for item in trial.failed} <= {ProviderFault.BAD_REQUEST, ProviderFault.CONNECTION}


@pytest.mark.parametrize("dialect", [DialectName.CHAT, DialectName.MESSAGES])
async def test_names_that_no_file_can_hold_end_no_trial(dialect: DialectName, tmp_path: Path) -> None:
    calls = tmp_path / "calls.jsonl"
    async with playing(Reply(text="hi")) as provider, opened(provider, NATIVE[dialect], calls=calls) as trial:
        path = trial.url(dialect) + below(dialect)
        heads = {"anthropic-version": "1"}
        for name in (HALF, "n" * 5_000):
            body = asking(dialect, SAID[0]) | {"model": name}
            assert (await post(path, body, trial.access.token, heads)).status == 200
        odd = await post(f"{trial.gateway.url}/google/v1beta/models/{HALF!r}:odd", {}, trial.access.token)
        assert odd.status == 404
    assert trial.summary.models == {"a\ufffdb": 1, "n" * 200: 1}
    assert json.loads(calls.read_text().splitlines()[0])["model"] == "a\ufffdb"
    assert trial.summary.model_dump_json()


@pytest.mark.parametrize("place", ["asked", "withhold"])
async def test_an_error_of_ours_about_a_request_after_an_answer_refuses_that_request(
    monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """Before it, it is one of testwright: after it, an agent would have another try by it."""

    def fail(*_: object) -> None:
        raise KeyError("unforeseen")

    async with playing(Reply(text="hi")) as provider, opened(provider, OPENAI) as trial:
        asked = asking(DialectName.CHAT, SAID[0])
        assert (await send(trial, DialectName.CHAT, asked)).status == 200
        with monkeypatch.context() as patched:
            patched.setattr(DIALECTS[DialectName.CHAT], place, fail)
            got = await send(trial, DialectName.CHAT, asked)
        assert (got.status, trial.access.end) == (400, None)
        assert "KeyError in the gateway: it can't read this request" in got.body.decode()
        assert (await send(trial, DialectName.CHAT, asked)).status == 200
        [told] = trial.failed
        assert told.fault is ProviderFault.BAD_REQUEST
    async with playing(Reply(text="hi")) as provider, opened(provider, OPENAI) as trial:
        monkeypatch.setattr(DIALECTS[DialectName.CHAT], place, fail)
        assert (await send(trial, DialectName.CHAT, asked)).status == 400
        assert isinstance(trial.access.end, KeyError)


async def test_names_beyond_a_hundred_have_one_count() -> None:
    async with playing(Reply(text="hi")) as provider, opened(provider, OPENAI) as trial:
        for number in range(150):
            await post(f"{trial.gateway.url}/openai/v1/{number}", {}, trial.access.token)
    assert (len(trial.summary.unknown), trial.summary.unknown["others"]) == (101, 50)


def test_thoughts_in_halves_of_pairs_can_be_kept(tmp_path: Path) -> None:
    signed = ({"type": "thinking", "thinking": HALF, "signature": "s"},)
    message = Message(role=MessageRole.ASSISTANT, content="\u00e9", signed=signed)
    with Trajectory(tmp_path / "trajectory.jsonl") as records:
        records.add(MessageRecord(step=1, message=message, usage=NO_USAGE, stop=StopReason.END))
    [kept] = read_trajectory(tmp_path / "trajectory.jsonl")
    whole = ({"type": "thinking", "thinking": "a\ufffdb", "signature": "s"},)
    assert kept.message == message.model_copy(update={"signed": whole})


async def test_what_is_no_http_is_refused_and_no_message_for_the_operator(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    async with playing(Reply(text="hi")) as provider, opened(provider, OPENAI) as trial:
        host, port = trial.gateway.url.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"POST /openai/v1/responses HTTP/1.1\r\nx-odd: a\x00b\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.0 400 ")
        writer.close()
        assert trial.access.end is None
    assert (*capfd.readouterr(), caplog.text) == ("", "", "")
