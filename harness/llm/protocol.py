"""What every model offers, and the messages that go in and out."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict

from harness.specs.errors import ProviderFault
from harness.specs.usage import NO_USAGE, Usage


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
    """A model's answer. `usage` is its own; `lost` is what failed requests on the way to it cost.

    `seconds` is how long the request took that brought it, without retries and waits; None where the model doesn't
    know, which means the whole call.
    """

    message: Message
    usage: Usage
    stop: StopReason = StopReason.END
    lost: Usage = NO_USAGE
    seconds: float | None = None

    @property
    def paid(self) -> Usage:
        """All that was paid for this answer."""
        return self.lost + self.usage


class FailedRequest(_Frozen):
    """A request to a provider that brought no answer. `usage` is what it cost all the same.

    It took `seconds`, and is repeated after `retry_in` seconds; None: it is not repeated.
    """

    fault: ProviderFault
    message: str
    seconds: float = 0.0
    usage: Usage = NO_USAGE
    retry_in: float | None = None


FaultObserver = Callable[[FailedRequest], None]
"""Is told of each failed request as it fails, whether or not it is repeated."""


def ignore_faults(_: FailedRequest) -> None:
    """The observer of whoever only wants the answer."""


class Model(Protocol):
    """Raises ProviderError once the retries of an error's class are used up, BudgetExhausted before a call."""

    name: str

    async def complete(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Completion: ...
