"""The answer on its way to an agent, which may have left: what it asked for is paid, so it is read to its end."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from aiohttp import web

EVENTS = {"Content-Type": "text/event-stream", "Cache-Control": "no-cache"}


class Downstream:
    """`status` is 0 until the answer has begun."""

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
