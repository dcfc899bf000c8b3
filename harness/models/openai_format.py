"""The chat format of OpenAI, which litellm speaks for every provider."""

import json
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field

from harness.models.protocol import (
    Completion,
    Message,
    MessageRole,
    StopReason,
    Tool,
    ToolCall,
    sendable_arguments,
)
from harness.specs.usage import Usage
from harness.specs.whole_text import whole_text

_STOPS = {
    "tool_calls": StopReason.TOOL_CALLS,
    "function_call": StopReason.TOOL_CALLS,
    "length": StopReason.LENGTH,
    "content_filter": StopReason.REFUSAL,
    "refusal": StopReason.REFUSAL,
}


def tool_json(tool: Tool) -> dict[str, Any]:
    """Return a tool as chat completions have it."""
    return {"type": "function", "function": tool.model_dump()}


def message_json(message: Message, marked: bool = False) -> dict[str, Any]:
    """Return a message as it is sent.

    Some providers refuse a whole conversation for an empty or malformed part of it.

    `marked` asks the provider to cache the conversation up to it.
    """
    sent: dict[str, Any] = {"role": message.role.value, "content": message.content}
    if message.tool_calls:
        sent["content"] = message.content or None
        sent["tool_calls"] = [_call_json(call) for call in message.tool_calls]
    elif not message.content:
        sent["content"] = "(empty)"
    if message.role is MessageRole.TOOL:
        sent["tool_call_id"] = message.tool_call_id
    if message.signed:
        sent["thinking_blocks"] = list(message.signed)
    if marked and sent["content"]:
        text = {"type": "text", "text": sent["content"], "cache_control": {"type": "ephemeral"}}
        sent["content"] = [text]
    return sent


def _call_json(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": sendable_arguments(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _as_json(arguments: Any) -> Any:
    return json.dumps(arguments) if isinstance(arguments, dict) else arguments


class _Function(BaseModel):
    name: str | None = None
    arguments: Annotated[str | None, BeforeValidator(_as_json)] = None


class _Custom(BaseModel):
    name: str | None = None
    input: str | None = None


class _Call(BaseModel):
    """A call of a function, or of a tool that takes a text (`custom`)."""

    id: str | None = None
    function: _Function | None = None
    custom: _Custom | None = None

    def read(self, number: int) -> ToolCall:
        """Return the call; `number` counts those of one answer, for one without an id."""
        function, custom = self.function or _Function(), self.custom or _Custom()
        return ToolCall(
            id=whole_text(self.id) or f"call-{number}",
            name=whole_text(function.name or custom.name),
            arguments=whole_text(function.arguments or custom.input),
        )


class _Extras(BaseModel):
    refusal: str | None = None


def _joined(content: Any) -> Any:
    """Return the text of a content in parts, as some providers send it."""
    if not isinstance(content, list):
        return content
    return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))


class _Message(BaseModel):
    content: Annotated[str | None, BeforeValidator(_joined)] = None
    tool_calls: list[_Call] | None = None
    thinking_blocks: list[dict[str, Any]] | None = None
    # OpenAI says a refusal in a field of its own, with the finish reason of any other answer; litellm keeps it here.
    provider_specific_fields: _Extras | None = None

    @property
    def refusal(self) -> str | None:
        return self.provider_specific_fields.refusal if self.provider_specific_fields else None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _InputDetails(BaseModel):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_creation_tokens: int | None = None


class _OutputDetails(BaseModel):
    reasoning_tokens: int | None = None


class ChatUsage(BaseModel):
    """Tokens as chat completions count them."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _InputDetails | None = None
    completion_tokens_details: _OutputDetails | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cost: float | None = None

    def counts(self) -> Usage:
        """Return one call's tokens; its cost isn't known here."""
        cached = self.prompt_tokens_details or _InputDetails()
        return Usage(
            calls=1,
            input=self.prompt_tokens or 0,
            output=self.completion_tokens or 0,
            reasoning=(self.completion_tokens_details or _OutputDetails()).reasoning_tokens or 0,
            cache_read=cached.cached_tokens or self.cache_read_input_tokens or 0,
            cache_write=cached.cache_write_tokens
            or cached.cache_creation_tokens
            or self.cache_creation_input_tokens
            or 0,
            cost_usd=None,
        )


class ChatResponse(BaseModel):
    """The part of a response that is read; everything else in it is ignored."""

    choices: list[_Choice] = Field(min_length=1)
    usage: Annotated[ChatUsage, BeforeValidator(lambda usage: usage or {})] = ChatUsage()

    def completion(self, usage: Usage) -> Completion:
        choice = self.choices[0]
        refusal = choice.message.refusal
        calls = tuple(call.read(number) for number, call in enumerate(choice.message.tool_calls or [], start=1))
        return Completion(
            message=Message(
                role=MessageRole.ASSISTANT,
                content=whole_text(choice.message.content or refusal),
                tool_calls=calls,
                signed=tuple(choice.message.thinking_blocks or ()),
            ),
            usage=usage,
            stop=StopReason.REFUSAL if refusal else _stop(choice.finish_reason, bool(calls)),
        )


def _stop(finish: str | None, calls: bool) -> StopReason:
    return _STOPS.get(finish or "", StopReason.TOOL_CALLS if calls else StopReason.END)
