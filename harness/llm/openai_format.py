"""The chat format of OpenAI, which litellm speaks for every provider."""

import json
from typing import Any

from pydantic import BaseModel, Field

from harness.llm.protocol import Completion, Message, Role, StopReason, Tool, ToolCall
from harness.specs.usage import Usage

_STOPS = {
    "tool_calls": StopReason.TOOL_CALLS,
    "function_call": StopReason.TOOL_CALLS,
    "length": StopReason.LENGTH,
    "content_filter": StopReason.REFUSAL,
    "refusal": StopReason.REFUSAL,
}


def tool_json(tool: Tool) -> dict[str, Any]:
    return {"type": "function", "function": tool.model_dump()}


def message_json(message: Message) -> dict[str, Any]:
    """A message as it is sent. Some providers refuse a whole conversation for an empty or malformed part of it."""
    sent: dict[str, Any] = {"role": message.role.value, "content": message.content}
    if message.tool_calls:
        sent["content"] = message.content or None
        sent["tool_calls"] = [_call_json(call) for call in message.tool_calls]
    elif not message.content:
        sent["content"] = "(empty)"
    if message.role is Role.TOOL:
        sent["tool_call_id"] = message.tool_call_id
    return sent


def _call_json(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": _sendable(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _sendable(arguments: str) -> str:
    try:
        if isinstance(json.loads(arguments), dict):
            return arguments
    except (ValueError, RecursionError):
        pass
    return json.dumps({"malformed": arguments})


class _Function(BaseModel):
    name: str | None = None
    arguments: str | None = None


class _Call(BaseModel):
    id: str | None = None
    function: _Function


class _Message(BaseModel):
    content: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _InputDetails(BaseModel):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_creation_tokens: int | None = None


class _OutputDetails(BaseModel):
    reasoning_tokens: int | None = None


class _Usage(BaseModel):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _InputDetails | None = None
    completion_tokens_details: _OutputDetails | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cost: float | None = None


class ChatResponse(BaseModel):
    """What is read of a response; everything else in it is ignored."""

    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage = _Usage()

    def completion(self, usage: Usage) -> Completion:
        choice = self.choices[0]
        calls = tuple(
            ToolCall(
                id=_text(call.id) or f"call-{number}",
                name=_text(call.function.name),
                arguments=_text(call.function.arguments),
            )
            for number, call in enumerate(choice.message.tool_calls or [], start=1)
        )
        return Completion(
            message=Message(role=Role.ASSISTANT, content=_text(choice.message.content), tool_calls=calls),
            usage=usage,
            stop=_STOPS.get(choice.finish_reason or "", StopReason.TOOL_CALLS if calls else StopReason.END),
        )

    def counts(self) -> Usage:
        """One call's tokens; its cost isn't known here."""
        usage = self.usage
        cached = usage.prompt_tokens_details or _InputDetails()
        return Usage(
            calls=1,
            input=usage.prompt_tokens or 0,
            output=usage.completion_tokens or 0,
            reasoning=(usage.completion_tokens_details or _OutputDetails()).reasoning_tokens or 0,
            cache_read=cached.cached_tokens or usage.cache_read_input_tokens or 0,
            cache_write=cached.cache_write_tokens
            or cached.cache_creation_tokens
            or usage.cache_creation_input_tokens
            or 0,
            cost_usd=None,
        )


def _text(value: str | None) -> str:
    """Half of a surrogate pair, which JSON can hold, fits into no file: it becomes a question mark."""
    return (value or "").encode(errors="replace").decode()
