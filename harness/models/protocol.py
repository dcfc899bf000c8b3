"""The protocol of models, and the messages that go in and out.

Marks say up to where a provider is to cache a conversation. Texts are made valid for files and providers.
"""

import json
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict

from harness.specs.errors import ProviderFault
from harness.specs.usage import NO_USAGE, Usage


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class MessageRole(StrEnum):
    """Roles of a message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class ToolCall(_Frozen):
    """A call of a tool. `arguments` is the model's JSON text, unparsed: it may be malformed."""

    id: str
    name: str
    arguments: str


class Message(_Frozen):
    """One message. `tool_calls` only with the assistant's, `tool_call_id` only with a tool's.

    `cache` asks a provider that sells cached prompts to keep everything up to the end of this message.
    `signed` are the assistant's thinking blocks as the provider wants them back, unchanged.
    """

    role: MessageRole
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
    """Reasons why a model's answer ended."""

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
        """Tokens and USD that were paid for this answer, those of failed requests included."""
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
    """Ignore a failed request: the observer of callers that only want the answer."""


class Model(Protocol):
    """A client of a model: it turns messages into the model's next message and what that used."""

    name: str

    async def complete(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Completion:
        """Ask the model for its next message.

        Args:
            messages: The whole conversation, the system's message first.
            tools: Functions that the model may call; none where it may only write.

        Raises:
            ProviderError: The retries of this class of error are used up, or it has none.
            BudgetExhausted: The money is spent; raised before a call, and nothing is paid then.
        """
        ...


_MARKS = 4
"""The most marks that Anthropic takes in one request."""


def with_cache_marks(messages: Sequence[Message]) -> list[Message]:
    """Return a conversation with marks up to which a provider is to keep it.

    One mark is at its end, one where the last request's end was, since that is what the provider has kept.
    """
    answers = [index for index, message in enumerate(messages) if message.role is MessageRole.ASSISTANT]
    ends = {len(messages) - 1, *(index - 1 for index in answers[-1:])}
    return [
        message.model_copy(update={"cache": True}) if index in ends else message
        for index, message in enumerate(messages)
    ]


def cache_marks(messages: Sequence[Message]) -> frozenset[int]:
    """Return the indexes of the messages to mark.

    Where more ask for it than providers take, these are the first and the last ones.
    """
    asked = [index for index, message in enumerate(messages) if message.cache]
    return frozenset(asked if len(asked) <= _MARKS else [asked[0], *asked[1 - _MARKS :]])


def sendable_arguments(arguments: str) -> str:
    """Return a tool call's arguments as a JSON object: some providers refuse a conversation with anything else."""
    try:
        if isinstance(json.loads(arguments), dict):
            return arguments
    except (ValueError, RecursionError):
        pass
    return json.dumps({"malformed": arguments})
