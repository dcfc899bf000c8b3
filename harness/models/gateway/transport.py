"""A request of an agent, as it came.

Headers on their way through: keys and what belongs to one connection stay behind.

The answer on its way to an agent, which may have left: what it asked for is paid, so it is read to its end.

Server-sent events: written, and read from bytes that come in any pieces.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from harness.models.gateway.dialects.protocol import Dialect, Json


@dataclass(frozen=True)
class Incoming:
    """A request as an agent sent it. `model` is the name it asks for; `method` is what Google is asked to do."""

    dialect: Dialect
    path: str
    model: str
    streaming: bool
    raw: bytes
    body: Json
    headers: Mapping[str, str]
    query: Mapping[str, str] = field(default_factory=dict)
    method: str = ""


_HOP_BY_HOP = {
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "content-length",
}
_SENT = frozenset(
    {
        "accept",
        "accept-language",
        "anthropic-beta",
        "anthropic-dangerous-direct-browser-access",
        "anthropic-version",
        "content-type",
        "conversation_id",
        "http-referer",
        "idempotency-key",
        "openai-beta",
        "originator",
        "session-id",
        "session_id",
        "thread-id",
        "user-agent",
        "version",
        "x-app",
        "x-client-request-id",
        "x-session-id",
        "x-title",
    }
)
"""Headers of a request that are passed on: who asks, and in which version of a dialect.

Others may say whose account is asked, what it costs (a tier of service), or what an answer is to leave out (Google's
`X-Goog-FieldMask`).
"""
_FAMILIES = ("x-claude-code-", "x-codex-", "x-dashscope-", "x-gemini-", "x-stainless-")
"""Beginnings of more of them, in which clients tell of themselves."""
_NOT_TOLD = _HOP_BY_HOP | {
    "set-cookie",
    "content-encoding",
    "openai-organization",
    "openai-project",
    "anthropic-organization-id",
    "location",
}
"""Headers of an answer that aren't passed on: nothing about the account behind the key."""


def sent_on(headers: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """Return an agent's headers as the provider gets them, with `own`: the key."""
    kept = {name: value for name, value in headers.items() if _is_sent(name.lower())}
    return {**kept, **own, "Accept-Encoding": "identity"}


def _is_sent(name: str) -> bool:
    return name in _SENT or name.startswith(_FAMILIES)


def told_back(headers: Mapping[str, str]) -> dict[str, str]:
    """Return a provider's headers as the agent gets them."""
    return {name: value for name, value in headers.items() if name.lower() not in _NOT_TOLD}


def token_of(headers: Mapping[str, str], query: Mapping[str, str]) -> str:
    """Return the token, wherever an agent puts its key."""
    scheme, _, bearer = headers.get("Authorization", "").partition(" ")
    given = (bearer if scheme.lower() == "bearer" else "", headers.get("x-api-key"), headers.get("x-goog-api-key"))
    return next((value.strip() for value in (*given, query.get("key")) if value), "")


EVENTS = {"Content-Type": "text/event-stream", "Cache-Control": "no-cache"}


class Downstream:
    """The answer to an agent. `status` is 0 until it has begun."""

    def __init__(self, request: web.Request) -> None:
        self.response = web.StreamResponse()
        self.status = 0
        self.is_complete = False
        self._request = request
        self._is_gone = False

    async def begin(self, status: int, headers: Mapping[str, str]) -> None:
        self.response = web.StreamResponse(status=status, headers=headers)
        self.status = status
        try:
            await self.response.prepare(self._request)
        except ConnectionError:
            self._is_gone = True

    async def write(self, chunk: bytes) -> None:
        if self._is_gone or not chunk:
            return
        try:
            await self.response.write(chunk)
        except ConnectionError:
            self._is_gone = True

    async def end(self) -> None:
        self.is_complete = True
        if not self._is_gone:
            with suppress(ConnectionError):
                await self.response.write_eof()

    async def whole(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        await self.begin(status, {**headers, "Content-Length": str(len(body))})
        await self.write(body)
        await self.end()

    async def json(self, status: int, body: Any, headers: Mapping[str, str] | None = None) -> None:
        await self.whole(status, json.dumps(body).encode(), {"Content-Type": "application/json", **(headers or {})})

    def cut(self) -> None:
        """End the connection where it is, so that nobody takes half an answer for a whole one."""
        self.is_complete = True
        if self._request.transport:
            self._request.transport.close()


EventData = dict[str, Any]
DONE = b"data: [DONE]\n\n"
KEEP_ALIVE = b": working\n\n"
"""A comment, which every reader of events passes over."""
_LONGEST = 64 * 1024**2
_LINE_END = re.compile(r"\r\n|\r|\n")
"""Ends of lines in events: JSON may have others as they are, U+2028 for instance, which `splitlines` cuts at."""


def event(data: EventData, name: str | None = None) -> bytes:
    """Return a server-sent event as bytes."""
    return (f"event: {name}\n" if name else "").encode() + f"data: {json.dumps(data)}\n\n".encode()


class EventReader:
    """A reader that cuts a stream at the ends of its events. Its pieces, put together, are the stream as it came."""

    def __init__(self) -> None:
        self._rest = b""
        self._seen = 0

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the events that are whole now, with their ends.

        Raises:
            ValueError: An event is far too long.
        """
        self._rest += chunk
        while (end := self._end()) is not None:
            whole, self._rest, self._seen = self._rest[:end], self._rest[end:], 0
            yield whole
        self._seen = max(0, len(self._rest) - 3)
        if len(self._rest) > _LONGEST:
            raise ValueError(f"an event of more than {_LONGEST} bytes")

    def rest(self) -> bytes:
        """Return what came after the last end of an event."""
        return self._rest

    def _end(self) -> int | None:
        ends = [
            at + len(gap) for gap in (b"\n\n", b"\r\n\r\n", b"\r\r") if (at := self._rest.find(gap, self._seen)) >= 0
        ]
        return min(ends, default=None)


def data_of(raw: bytes) -> EventData | None:
    """Return the JSON object in an event; None for a comment, an end mark and anything else."""
    lines = [line for line in _LINE_END.split(raw.decode(errors="replace")) if line.startswith("data:")]
    try:
        value = json.loads("\n".join(line.removeprefix("data:").removeprefix(" ") for line in lines))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
