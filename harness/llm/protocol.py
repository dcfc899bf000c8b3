"""What every model offers, and the messages that go in and out."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict

from harness.specs.usage import Usage


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Role(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class ToolCall(_Frozen):
    """`arguments` is the model's JSON text, unparsed: it may be malformed, which is the agent's to answer."""

    id: str
    name: str
    arguments: str


class Message(_Frozen):
    """One message. `tool_calls` only with the assistant's, `tool_call_id` only with a tool's.

    `cache` asks a provider that sells cached prompts to keep everything up to the end of this message.
    `signed` are the assistant's thinking blocks as the provider wants them back, unchanged.
    """

    role: Role
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    cache: bool = False
    signed: tuple[dict[str, Any], ...] = ()


class Tool(_Frozen):
    """A function the model may call; `parameters` is a JSON Schema object."""

    name: str
    description: str
    parameters: dict[str, Any]


class StopReason(StrEnum):
    END = "end"
    TOOL_CALLS = "tool-calls"
    LENGTH = "length"
    REFUSAL = "refusal"


class Completion(_Frozen):
    message: Message
    usage: Usage
    stop: StopReason = StopReason.END


class Model(Protocol):
    """Raises ProviderError once the retries of an error's class are used up, BudgetExhausted before a call."""

    name: str

    async def complete(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Completion: ...
