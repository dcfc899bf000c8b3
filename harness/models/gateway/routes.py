"""Routes of the gateway: tokens, paths, and answers that need no provider.

The models that an agent finds: its trial's one, by whatever name it asks for it.

Tokens of a request, counted for an agent that asks: by the provider where it can, else about.
"""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any

import aiohttp
from aiohttp import web

from harness.models.faults import Fault
from harness.models.gateway.access import GatewayAccess
from harness.models.gateway.asking import upstream_of
from harness.models.gateway.calls import GatewayCall
from harness.models.gateway.dialects.protocol import Dialect, DialectName, Json
from harness.models.gateway.dialects.registry import DIALECTS, dialect_at
from harness.models.gateway.transport import Downstream, Incoming, sent_on, token_of
from harness.models.gateway.withholding import RefusedRequest, Withheld
from harness.models.price_table import litellm_module
from harness.models.protocol import FailedRequest
from harness.specs.errors import ProviderFault
from harness.specs.whole_text import count_name


def model_list(dialect: DialectName, model: str, asked: str | None) -> Json:
    """Return all models, or the one that was asked for."""
    name = asked or model
    match dialect:
        case DialectName.MESSAGES:
            one: Json = {"id": name, "type": "model", "display_name": name, "created_at": "2025-01-01T00:00:00Z"}
            many = {"data": [one], "has_more": False, "first_id": name, "last_id": name}
        case DialectName.GOOGLE:
            name = name.removeprefix("models/")
            methods = ["generateContent", "countTokens"]
            one = {"name": f"models/{name}", "displayName": name, "supportedGenerationMethods": methods}
            many = {"models": [one]}
        case DialectName.CHAT | DialectName.RESPONSES:
            one = {"id": name, "object": "model", "created": 0, "owned_by": "testwright"}
            many = {"object": "list", "data": [one]}
    return one if asked else many


_SECONDS = 30.0
_METHODS = {DialectName.MESSAGES: "/count_tokens", DialectName.GOOGLE: "countTokens"}


async def count_tokens(
    http: aiohttp.ClientSession, access: GatewayAccess, dialect: Dialect, body: Json, headers: Mapping[str, str]
) -> Json:
    """Count tokens at no cost and without a step.

    The count is an estimate where the provider can't be asked or fails, or what is asked is withheld from it.
    """
    asked = dialect.asked(body)
    said = None
    with suppress(RefusedRequest, Fault, aiohttp.ClientError, TimeoutError, ValueError):
        dialect.withhold(body, Withheld(access.known_ids))
        async with asyncio.timeout(_SECONDS):
            said = await _counted(http, access, dialect, body, headers)
    if said is not None:
        return said
    texts = [asked.system, *(f"{message.content} {message.tool_calls}" for message in asked.messages)]
    count = await _about("\n".join(texts) + json.dumps(body.get("tools") or ""))
    return {"totalTokens": count} if dialect.name is DialectName.GOOGLE else {"input_tokens": count}


async def _counted(
    http: aiohttp.ClientSession, access: GatewayAccess, dialect: Dialect, body: Json, headers: Mapping[str, str]
) -> Json | None:
    upstream = await asyncio.to_thread(upstream_of, access.served)
    if dialect.name not in upstream.dialects:
        return None
    if "model" in body:
        body["model"] = upstream.model
    url = upstream.url(dialect.name, _METHODS[dialect.name])
    sent = sent_on(headers, upstream.headers)
    async with http.post(url, data=json.dumps(body), headers=sent, allow_redirects=False) as answer:
        said: Any = await answer.json(content_type=None) if answer.status == 200 else None
    return said if isinstance(said, dict) else None


async def _about(text: str) -> int:
    litellm = await litellm_module()
    return int(await asyncio.to_thread(litellm.token_counter, model="", text=text))


MOST_BYTES = 64 * 1024**2
MOST_VALUES = 1_000_000
"""Strings, keys, commas and opening brackets of a body: what is built of them takes about 130 bytes each at most."""
_VALUE = re.compile(rb'"[^"]*+"?|[\[{,]')
_GOOGLE = re.compile(r"(?P<model>.+):(?P<method>\w+)")
_QUERY = frozenset({("alt", "sse"), ("beta", "true")})
"""Parts of a URL that are passed on: Google's `fields`, for one, leaves out of an answer what it has cost."""
_GENERATING = ("generateContent", "streamGenerateContent")

Handling = Callable[[web.Request], Awaitable[web.StreamResponse]]
Answering = Callable[[web.Request, GatewayAccess, Dialect], Awaitable[web.StreamResponse]]


class Routes:
    """The gateway's routes: who may call what."""

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
        """Wrap a handler so that it asks for the token first."""

        async def answer(request: web.Request) -> web.StreamResponse:
            access = self._access(request)
            if access is None:
                return _error(dialect, 401, "this token is unknown, or its trial is over")
            async with access.room(request.content_length if request.can_read_body else 0):
                return await answering(request, access, dialect)

        return answer

    def _access(self, request: web.Request) -> GatewayAccess | None:
        return self._accesses.get(token_of(request.headers, request.query))

    async def _call(self, request: web.Request, access: GatewayAccess, dialect: Dialect) -> web.StreamResponse:
        body = await _body(request, access, dialect)
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
        body = await _body(request, access, dialect)
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
            query={name: value for name, value in request.query.items() if (name, value) in _QUERY},
            method=method,
        )
        if self._access(request) is not access:  # it ended while this request waited for room, or came
            return _error(dialect, 401, "the trial is over")
        down = Downstream(request)
        await GatewayCall(access, self._http, incoming, down).answer()
        return down.response

    async def _count(self, request: web.Request, access: GatewayAccess, dialect: Dialect) -> web.StreamResponse:
        body = await _body(request, access, dialect)
        if isinstance(body, web.Response):
            return body
        return web.json_response(await count_tokens(self._http, access, dialect, body, request.headers))

    async def _models(self, request: web.Request, access: GatewayAccess, dialect: Dialect) -> web.StreamResponse:
        return web.json_response(model_list(dialect.name, access.model, request.match_info.get("model")))

    async def _nowhere(self, request: web.Request) -> web.StreamResponse:
        access = self._access(request)
        if access:
            access.unknown(f"{request.method} {request.path}")
        else:
            count_name(self._unknown, request.path)
        return _error(dialect_at(request.path), 404, f"there is no {request.method} {request.path} here")


async def _body(request: web.Request, access: GatewayAccess, dialect: Dialect) -> Json | web.Response:
    """Return the JSON object of a request, or what is wrong with it.

    One that is too large counts as the agent's failed request, and never as its provider's fault: none was asked.
    """
    try:
        raw = await request.read()
    except web.HTTPRequestEntityTooLarge:
        return _too_large(access, dialect, f"a request may have {MOST_BYTES} bytes")
    if await asyncio.to_thread(has_too_many_values, raw):
        return _too_large(access, dialect, f"a request may have {MOST_VALUES} values")
    try:
        body: Any = await asyncio.to_thread(json.loads, raw)
    except (ValueError, RecursionError):
        return _error(dialect, 400, "the body is not JSON")
    return body if isinstance(body, dict) else _error(dialect, 400, "the body is not a JSON object")


def _too_large(access: GatewayAccess, dialect: Dialect, message: str) -> web.Response:
    access.allowance.failed(FailedRequest(fault=ProviderFault.TOO_LARGE, message=f"the gateway: {message}"))
    return _error(dialect, 413, message)


def has_too_many_values(raw: bytes, most: int = MOST_VALUES) -> bool:
    """Return whether a JSON text would be built into more than `most` values, without building any.

    What stands in strings isn't counted: a prompt may have any number of commas and brackets.
    """
    if sum(map(raw.count, (b'"', b"[", b"{", b","))) <= most:
        return False
    plain = raw.replace(rb"\\", b"").replace(rb"\"", b"")
    return next(islice(_VALUE.finditer(plain), most, None), None) is not None


def _error(dialect: Dialect, status: int, message: str) -> web.Response:
    return web.json_response(dialect.error(status, message), status=status)
