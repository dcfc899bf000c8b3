"""Who may call what: tokens, paths, and what is answered without a provider."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import aiohttp
from aiohttp import web

from harness.gateway.access import GatewayAccess
from harness.gateway.calls import GatewayCall
from harness.gateway.counting import count_tokens
from harness.gateway.dialects.protocol import Dialect, DialectName, Json
from harness.gateway.dialects.registry import DIALECTS, dialect_at
from harness.gateway.downstream import Downstream
from harness.gateway.headers import token_of
from harness.gateway.incoming import Incoming
from harness.gateway.model_lists import model_list

MOST_BYTES = 64 * 1024**2
_GOOGLE = re.compile(r"(?P<model>.+):(?P<method>\w+)")
_GENERATING = ("generateContent", "streamGenerateContent")
_MOST_PATHS = 100

Handling = Callable[[web.Request], Awaitable[web.StreamResponse]]
Answering = Callable[[web.Request, GatewayAccess, Dialect], Awaitable[web.StreamResponse]]


class Routes:
    def __init__(
        self, accesses: Mapping[str, GatewayAccess], unknown: Counter[str], http: aiohttp.ClientSession
    ) -> None:
        self._accesses, self._unknown, self._http = accesses, unknown, http

    def add_to(self, app: web.Application) -> None:
        names = DialectName
        for method, path, name, answering in (
            ("POST", "/openai/v1/chat/completions", names.CHAT, self._call),
            ("POST", "/openai/v1/responses", names.RESPONSES, self._call),
            ("POST", "/anthropic/v1/messages", names.MESSAGES, self._call),
            ("POST", "/anthropic/v1/messages/count_tokens", names.MESSAGES, self._count),
            ("POST", "/google/{version}/models/{model:.+}", names.GOOGLE, self._google),
            ("GET", "/openai/v1/models", names.CHAT, self._models),
            ("GET", "/openai/v1/models/{model:.+}", names.CHAT, self._models),
            ("GET", "/anthropic/v1/models", names.MESSAGES, self._models),
            ("GET", "/anthropic/v1/models/{model:.+}", names.MESSAGES, self._models),
            ("GET", "/google/{version}/models", names.GOOGLE, self._models),
            ("GET", "/google/{version}/models/{model:.+}", names.GOOGLE, self._models),
        ):
            app.router.add_route(method, path, self._known(DIALECTS[name], answering))
        app.router.add_route("*", "/{path:.*}", self._nowhere)

    def _known(self, dialect: Dialect, answering: Answering) -> Handling:
        """Asks for the token first."""

        async def answer(request: web.Request) -> web.StreamResponse:
            access = self._access(request)
            if access is None:
                return _error(dialect, 401, "this token is unknown, or its trial is over")
            return await answering(request, access, dialect)

        return answer

    def _access(self, request: web.Request) -> GatewayAccess | None:
        return self._accesses.get(token_of(request.headers, request.query))

    async def _call(self, request: web.Request, access: GatewayAccess, dialect: Dialect) -> web.StreamResponse:
        body = await _body(request, dialect)
        if isinstance(body, web.Response):
            return body
        streaming = bool(body.get("stream"))
        return await self._answered(request, access, dialect, body, str(body.get("model") or ""), streaming)

    async def _google(self, request: web.Request, access: GatewayAccess, dialect: Dialect) -> web.StreamResponse:
        asked = _GOOGLE.fullmatch(request.match_info["model"])
        if asked is None or asked["method"] not in (*_GENERATING, "countTokens"):
            return await self._nowhere(request)
        if asked["method"] == "countTokens":
            return await self._count(request, access, dialect)
        body = await _body(request, dialect)
        if isinstance(body, web.Response):
            return body
        streaming = asked["method"] == "streamGenerateContent"
        if streaming and request.query.get("alt") != "sse":
            return _error(dialect, 400, "a stream is sent as events only; ask with alt=sse")
        return await self._answered(request, access, dialect, body, asked["model"], streaming, asked["method"])

    async def _answered(
        self,
        request: web.Request,
        access: GatewayAccess,
        dialect: Dialect,
        body: Json,
        model: str,
        streaming: bool,
        method: str = "",
    ) -> web.StreamResponse:
        incoming = Incoming(
            dialect=dialect,
            path=request.path,
            model=model,
            streaming=streaming,
            raw=await request.read(),
            body=body,
            headers=request.headers,
            query={name: value for name, value in request.query.items() if name != "key"},
            method=method,
        )
        down = Downstream(request)
        await GatewayCall(access, self._http, incoming, down).answer()
        return down.response

    async def _count(self, request: web.Request, access: GatewayAccess, dialect: Dialect) -> web.StreamResponse:
        body = await _body(request, dialect)
        if isinstance(body, web.Response):
            return body
        return web.json_response(await count_tokens(self._http, access, dialect, body, request.headers))

    async def _models(self, request: web.Request, access: GatewayAccess, dialect: Dialect) -> web.StreamResponse:
        return web.json_response(model_list(dialect.name, access.model, request.match_info.get("model")))

    async def _nowhere(self, request: web.Request) -> web.StreamResponse:
        access = self._access(request)
        if access:
            access.unknown(f"{request.method} {request.path}")
        elif request.path in self._unknown or len(self._unknown) < _MOST_PATHS:
            self._unknown[request.path[:200]] += 1
        return _error(dialect_at(request.path), 404, f"there is no {request.method} {request.path} here")


async def _body(request: web.Request, dialect: Dialect) -> Json | web.Response:
    """The JSON object of a request, or what is wrong with it."""
    try:
        raw = await request.read()
    except web.HTTPRequestEntityTooLarge:
        return _error(dialect, 413, f"a request may have {MOST_BYTES} bytes")
    try:
        body: Any = await asyncio.to_thread(json.loads, raw)
    except (ValueError, RecursionError):
        return _error(dialect, 400, "the body is not JSON")
    return body if isinstance(body, dict) else _error(dialect, 400, "the body is not a JSON object")


def _error(dialect: Dialect, status: int, message: str) -> web.Response:
    return web.json_response(dialect.error(status, message), status=status)
