"""The messages format of Anthropic."""

import json
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from harness.models.protocol import (
    Completion,
    Message,
    MessageRole,
    StopReason,
    Tool,
    ToolCall,
    cache_marks,
    sendable_arguments,
)
from harness.specs.usage import Usage
from harness.specs.whole_text import whole_text

_STOPS = {
    "tool_use": StopReason.TOOL_CALLS,
    "max_tokens": StopReason.LENGTH,
    "model_context_window_exceeded": StopReason.LENGTH,
    "refusal": StopReason.REFUSAL,
}
_MARK = {"cache_control": {"type": "ephemeral"}}


def tool_json(tool: Tool) -> dict[str, Any]:
    """Return a tool as Anthropic's messages have it."""
    return {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}


def conversation(messages: Sequence[Message]) -> dict[str, Any]:
    """Return `system` and `messages`: system prompts apart, and neighbours of one role in one message.

    The provider wants the answers to parallel tool calls all in the one user's message that follows them.
    """
    marks = cache_marks(messages)
    system: list[dict[str, Any]] = []
    turns: list[dict[str, Any]] = []
    for index, message in enumerate(messages):
        blocks = _blocks(message)
        if index in marks:
            blocks[-1] = blocks[-1] | _MARK
        role = "assistant" if message.role is MessageRole.ASSISTANT else "user"
        if message.role is MessageRole.SYSTEM:
            system += blocks
        elif turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        else:
            turns.append({"role": role, "content": blocks})
    return {"messages": turns} | ({"system": system} if system else {})


def _blocks(message: Message) -> list[dict[str, Any]]:
    """Return at least one block, and none that is empty, which the provider refuses."""
    if message.role is MessageRole.TOOL:
        answer = {"type": "tool_result", "tool_use_id": message.tool_call_id, "content": message.content or "(empty)"}
        return [answer]
    text = [{"type": "text", "text": message.content}] if message.content.strip() else []
    calls = [
        {
            "type": "tool_use",
            "id": call.id,
            "name": call.name,
            "input": json.loads(sendable_arguments(call.arguments)),
        }
        for call in message.tool_calls
    ]
    return [*message.signed, *text, *calls] or [{"type": "text", "text": "(empty)"}]


class _Block(BaseModel):
    """Any block of an answer: a text, a tool call or, kept as it came, thinking."""

    model_config = {"extra": "allow"}

    type: str
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: Any = None


class _OutputDetails(BaseModel):
    thinking_tokens: int | None = None


class AnthropicUsage(BaseModel):
    """Tokens as Anthropic's messages count them."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    output_tokens_details: _OutputDetails | None = None

    def counts(self) -> Usage:
        """Return one call's tokens; its cost isn't known here.

        The provider doesn't count cached tokens as input, we do.
        """
        read, written = self.cache_read_input_tokens or 0, self.cache_creation_input_tokens or 0
        return Usage(
            calls=1,
            input=(self.input_tokens or 0) + read + written,
            output=self.output_tokens or 0,
            reasoning=(self.output_tokens_details or _OutputDetails()).thinking_tokens or 0,
            cache_read=read,
            cache_write=written,
            cost_usd=None,
        )


class AnthropicResponse(BaseModel):
    """The part of a response that is read; everything else in it is ignored."""

    content: list[_Block]
    stop_reason: str | None = None
    usage: AnthropicUsage = AnthropicUsage()

    def completion(self, usage: Usage) -> Completion:
        calls = tuple(
            ToolCall(
                id=whole_text(block.id) or f"call-{number}",
                name=whole_text(block.name),
                arguments=whole_text(json.dumps(block.input)),
            )
            for number, block in enumerate((block for block in self.content if block.type == "tool_use"), start=1)
        )
        message = Message(
            role=MessageRole.ASSISTANT,
            content="".join(whole_text(block.text) for block in self.content if block.type == "text"),
            tool_calls=calls,
            signed=tuple(
                block.model_dump(exclude_unset=True)
                for block in self.content
                if block.type in ("thinking", "redacted_thinking")
            ),
        )
        stop = _STOPS.get(self.stop_reason or "", StopReason.TOOL_CALLS if calls else StopReason.END)
        return Completion(message=message, usage=usage, stop=stop)
