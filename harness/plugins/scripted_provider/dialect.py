"""A vendor's protocol as the provider needs it, and the parts that the protocols share."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from harness.plugins.scripted_provider.failures import ErrorAnswer, ErrorKind, Json, RequestRefused
from harness.plugins.scripted_provider.scenario import Call, Reply

_PIECES = 4


@dataclass(frozen=True)
class Turn:
    """One reply to one request. `number` counts requests, so that ids are unique and the same in each playing."""

    reply: Reply
    request: Json
    number: int

    @property
    def model(self) -> str:
        return str(self.request["model"])

    def call_id(self, prefix: str, position: int) -> str:
        return f"{prefix}_{self.number:04d}_{position}"


class ServedDialect(Protocol):
    """A vendor's protocol, as a server speaks it."""

    path: str

    def check_headers(self, headers: Mapping[str, str]) -> None:
        """Check that a request brings a key.

        Raises:
            RequestRefused: It doesn't.
        """

    def read(self, request: Json) -> str:
        """Return the text of a request that is well formed.

        Raises:
            RequestRefused: It isn't.
        """

    def answer(self, turn: Turn) -> Json:
        """Return the body of an answer that doesn't stream."""

    def events(self, turn: Turn) -> list[bytes]:
        """Return the server-sent events of one that does."""

    def error(
        self, kind: ErrorKind, message: str | None = None, param: str | None = None, code: str | None = None
    ) -> ErrorAnswer:
        """Return an error of this kind, with its status."""
        ...


def check_bearer(headers: Mapping[str, str]) -> None:
    """Check that a key comes in OpenAI's way. Any key is a good one.

    Raises:
        RequestRefused: None does.
    """
    if not headers.get("Authorization", "").removeprefix("Bearer").strip():
        raise RequestRefused(
            "You didn't provide an API key. You need to provide your API key in an Authorization header using "
            "Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
            kind=ErrorKind.UNAUTHORIZED,
        )


def sse(data: Json | str, event: str | None = None) -> bytes:
    """Return a server-sent event as bytes."""
    text = data if isinstance(data, str) else json.dumps(data)
    return (f"event: {event}\n" if event else "").encode() + f"data: {text}\n\n".encode()


def pieces(text: str) -> list[str]:
    """Return a text as it is streamed: in a few parts that depend on nothing but the text."""
    size = max(1, -(-len(text) // _PIECES))
    return [text[start : start + size] for start in range(0, len(text), size)]


def content_text(content: Any) -> str:
    """Return all text in a message's content, whichever vendor's: tool calls and results count."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(filter(None, map(content_text, content)))
    if not isinstance(content, dict):
        return ""
    texts = [content_text(content.get(key)) for key in ("text", "content", "output", "arguments", "refusal")]
    if isinstance(content.get("input"), dict):
        texts.append(json.dumps(content["input"]))
    calls = content.get("tool_calls")
    texts.extend(content_text(call.get("function")) for call in calls or [] if isinstance(call, dict))
    return "\n".join(filter(None, texts))


def is_positive(value: Any) -> bool:
    """Return whether a value is a whole number above 0."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def arguments_object(call: Call) -> Any:
    """Return arguments as an object, as Anthropic sends them; other text stays text, for answers that are wrong."""
    try:
        return json.loads(call.text)
    except ValueError:
        return call.text
