"""The protocol of a dialect, as the gateway needs it."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from harness.models.gateway.withholding import Withheld
from harness.models.protocol import Message, StopReason
from harness.specs.errors import ProviderFault
from harness.specs.model_file import ModelFile
from harness.specs.usage import Usage

Json = dict[str, Any]


class DialectName(StrEnum):
    """Names of the dialects."""

    CHAT = "chat"
    """OpenAI's chat completions."""
    RESPONSES = "responses"
    """OpenAI's responses."""
    MESSAGES = "messages"
    """Anthropic's messages."""
    GOOGLE = "google"
    """Google's generateContent."""


@dataclass(frozen=True)
class Asked:
    """A request. `messages` are the whole history that it brings, without the system prompt.

    `continues` names the answer whose conversation goes on, where a request brings only what has come since.
    """

    system: str
    messages: tuple[Message, ...]
    tools: tuple[str, ...] = ()
    tools_sha256: str = ""
    continues: str = ""

    @property
    def system_sha256(self) -> str:
        return hashlib.sha256(self.system.encode()).hexdigest()


@dataclass(frozen=True)
class ModelAnswer:
    """An answer. `usage` has no cost yet; `said_usd` is the provider's own figure.

    `ids` are the names that later requests may call it and its parts by.
    """

    message: Message
    stop: StopReason
    usage: Usage
    said_usd: float | None = None
    ids: tuple[str, ...] = ()


@dataclass
class Heard:
    """A stream as far as it has come. `whole` is the answer as it would have been without streaming.

    `is_over` is set by the event after which an agent needn't wait for more, where there is one.
    `error` is what the provider said where it broke off by itself; `usage` the counts it had given by then.
    """

    whole: Json | None = None
    error: Json | None = None
    usage: Usage = field(default_factory=Usage)
    is_over: bool = False


class Assembler(Protocol):
    """An assembler of the events of one stream to one answer."""

    heard: Heard

    def add(self, event: Json) -> None:
        """Take up one event of the stream."""
        ...


class Dialect(Protocol):
    """A vendor's form of requests and answers.

    Requests come from a program that nobody vouches for: none of these methods raises for any JSON object.
    """

    name: DialectName

    def asked(self, body: Json) -> Asked:
        """Return what a request asks for."""
        ...

    def withhold(self, body: Json, withheld: Withheld) -> None:
        """Take out of a request what would leave the sandbox."""

    def wish(self, body: Json, file: ModelFile) -> None:
        """Set what the model's file asks for: temperature, effort, tokens of an answer."""

    def assembler(self) -> Assembler:
        """Return an assembler for the stream of one answer."""
        ...

    def answer(self, whole: Json) -> ModelAnswer:
        """Return what an answer that doesn't stream says."""
        ...

    def error(self, status: int, message: str, fault: ProviderFault | None = None) -> Json:
        """Return the body of an error."""

    def chat(self, body: Json) -> Json:
        """Return the request as one of chat completions, for a provider that has another dialect."""

    def told(self, whole: Json, body: Json, model: str, number: int) -> Json:
        """Return an answer of chat completions to a request, as this dialect's. `number` tells one from another."""

    def events(self, told: Json, body: Json) -> list[bytes]:
        """Return the same as a stream, for a request that asks for one."""


def digest(value: Any) -> str:
    """Return the sha256 of a JSON value, however it is written."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def objects(value: Any) -> list[Json]:
    """Return the objects of what should be a list of them."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text(value: Any) -> str:
    """Return what should be a text."""
    return value if isinstance(value, str) else ""


def joined(parts: Sequence[str]) -> str:
    """Return texts as one, without those that are empty."""
    return "\n".join(part for part in parts if part)


def media_note(kind: str, data: Any) -> str:
    """Return what a record holds in place of an image or a file."""
    return f"[{kind or 'media'}, {len(text(data))} characters]"
