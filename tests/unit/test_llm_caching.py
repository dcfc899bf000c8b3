"""Prompt caches: marks go out where the provider wants them, and nowhere else."""

from typing import Any

import pytest

from harness.models.openai_format import message_json
from harness.models.protocol import Message, MessageRole, cache_marks
from tests.support.models import ANTHROPIC, OPENAI, ask
from tests.support.provider import Reply, playing

HI = Reply(text="hi")
MARK = {"type": "ephemeral"}


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def said(*marks: bool) -> list[Message]:
    """A conversation in turns, with a mark behind the messages that are to have one."""
    roles = (MessageRole.USER, MessageRole.ASSISTANT)
    turns = [Message(role=roles[n % 2], content=f"turn {n}", cache=mark) for n, mark in enumerate(marks)]
    return [Message(role=MessageRole.SYSTEM, content="be brief", cache=True), *turns]


def marked_texts(body: Any) -> list[str]:
    contents = [*body.get("system", []), *(part for turn in body["messages"] for part in turn["content"])]
    return [part["text"] for part in contents if isinstance(part, dict) and part.get("cache_control") == MARK]


async def test_anthropic_is_given_a_mark_behind_each_message_that_asks_for_it() -> None:
    async with playing(HI) as provider:
        await ask(provider, ANTHROPIC, said(True, False, True))
    assert marked_texts(provider.requests[0].body) == ["be brief", "turn 0", "turn 2"]


async def test_a_claude_behind_another_door_is_given_marks_too() -> None:
    async with playing(HI) as provider:
        await ask(provider, "openai/anthropic/claude-sonnet-4.5", said(True))
    assert marked_texts(provider.requests[0].body) == ["be brief", "turn 0"]


async def test_a_provider_that_caches_by_itself_gets_no_marks() -> None:
    async with playing(HI) as provider:
        await ask(provider, OPENAI, said(True))
    assert provider.requests[0].body["messages"] == [message_json(message) for message in said(True)]


async def test_an_empty_message_can_be_marked() -> None:
    conversation = [Message(role=MessageRole.USER, cache=True)]
    async with playing(HI) as provider:
        await ask(provider, ANTHROPIC, conversation)
    assert marked_texts(provider.requests[0].body) == ["(empty)"]


def test_of_too_many_marks_the_first_and_the_last_are_kept() -> None:
    assert cache_marks(said(True, True, True, True, False, True)) == {0, 3, 4, 6}
    assert cache_marks(said(False, True)) == {0, 2}
