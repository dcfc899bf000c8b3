"""The scripted provider itself: HTTP on loopback, with delays and faults, and each vendor's list of models."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any, NamedTuple, Never

from aiohttp import web
from pydantic_core import from_json

from harness.plugins.scripted_provider.anthropic import ServedAnthropicMessages, request_text
from harness.plugins.scripted_provider.anthropic import check as check_anthropic
from harness.plugins.scripted_provider.dialect import ServedDialect, Turn, sse
from harness.plugins.scripted_provider.failures import ErrorAnswer, ErrorKind, Json, RequestRefused
from harness.plugins.scripted_provider.google import ServedGoogleGenerate
from harness.plugins.scripted_provider.openai_chat import CREATED, ServedOpenAIChat
from harness.plugins.scripted_provider.openai_responses import ServedOpenAIResponses
from harness.plugins.scripted_provider.scenario import (
    Failure,
    Reply,
    RetryAfter,
    Scenario,
    Script,
    ScriptedFault,
    ScriptEnded,
)
from harness.specs.errors import UserError

_JSON, _EVENTS = "application/json", "text/event-stream"
_PARTS = 4
_GARBAGE: dict[ScriptedFault, tuple[str, str]] = {
    ScriptedFault.NOT_JSON: (_JSON, "upstream connect error or disconnect/reset before headers"),
    ScriptedFault.WRONG_SHAPE: (_JSON, '{"result": "ok", "choices": "none", "content": 7}'),
    ScriptedFault.HTML: ("text/html", "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"),
}


class _Payload(NamedTuple):
    """An answer's bytes. `chunks` are sent one after another, with the reply's delay between them."""

    content_type: str
    chunks: list[bytes]


async def deliver(request: web.Request, dialect: ServedDialect, turn: Turn) -> web.StreamResponse:
    """Answer a request as its reply says."""
    reply = turn.reply
    if reply.fault is ScriptedFault.HANG:
        await _wait_for_ever()
    await asyncio.sleep(reply.delay_seconds)
    if reply.fault is ScriptedFault.DROP:
        return _dropped(request, web.Response())
    if reply.error:
        answer = dialect.error(reply.error.kind, reply.error.message)
        return error_response(answer, _retry_headers(reply.error))
    streaming = bool(turn.request.get("stream"))
    payload = _payload(dialect, turn, streaming)
    response = web.StreamResponse(headers={"content-type": payload.content_type, "cache-control": "no-cache"})
    if not streaming:
        response.content_length = sum(map(len, payload.chunks))
    await response.prepare(request)
    return await _send(request, response, payload.chunks, turn)


def error_response(answer: ErrorAnswer, headers: dict[str, str] | None = None) -> web.Response:
    """Return an error answer as an HTTP response."""
    return web.json_response(answer.body, status=answer.status, headers=headers)


async def _send(
    request: web.Request, response: web.StreamResponse, chunks: list[bytes], turn: Turn
) -> web.StreamResponse:
    ends_midway = turn.reply.fault in (ScriptedFault.DROP_MIDWAY, ScriptedFault.STALL)
    for chunk in chunks[: len(chunks) // 2] if ends_midway else chunks:
        await response.write(chunk)
        await asyncio.sleep(turn.reply.chunk_delay_seconds)
    if turn.reply.fault is ScriptedFault.STALL:
        await _wait_for_ever()
    if turn.reply.fault is ScriptedFault.DROP_MIDWAY:
        return _dropped(request, response)
    await response.write_eof()
    return response


def _payload(dialect: ServedDialect, turn: Turn, streaming: bool) -> _Payload:
    reply = turn.reply
    if reply.body is not None:
        return _Payload(_EVENTS if streaming else _JSON, [reply.body.encode()])
    if reply.fault in _GARBAGE:
        content_type, text = _GARBAGE[reply.fault]
        if streaming and content_type == _JSON:
            return _Payload(_EVENTS, [sse(text)])
        return _Payload(content_type, [text.encode()])
    whole = dialect.events(turn) if streaming else _parts(dialect.answer(turn))
    if reply.fault is ScriptedFault.TRUNCATED:
        middle = len(whole) // 2
        whole = [*whole[:middle], whole[middle][: len(whole[middle]) // 2]]
    return _Payload(_EVENTS if streaming else _JSON, whole)


def _parts(answer: Json) -> list[bytes]:
    body = json.dumps(answer).encode()
    size = -(-len(body) // _PARTS)
    return [body[start : start + size] for start in range(0, len(body), size)]


def _retry_headers(failure: Failure) -> dict[str, str]:
    if failure.retry_after is None:
        return {}
    match failure.retry_after_form:
        case RetryAfter.SECONDS:
            return {"retry-after": f"{failure.retry_after:g}"}
        case RetryAfter.MILLISECONDS:
            return {"retry-after-ms": f"{failure.retry_after * 1000:g}"}
        case RetryAfter.DATE:
            when = datetime.now(UTC) + timedelta(seconds=failure.retry_after)
            return {"retry-after": format_datetime(when, usegmt=True)}


def _dropped(request: web.Request, response: web.StreamResponse) -> web.StreamResponse:
    """Close the connection; the part of `response` that isn't on its way already is never sent."""
    if request.transport:
        request.transport.close()
    return response


async def _wait_for_ever() -> Never:
    """Wait until the client leaves or the server ends: either cancels a request's task."""
    await asyncio.get_running_loop().create_future()
    raise AssertionError


_CREATED_AT = "2025-01-01T00:00:00Z"


def openai_models(names: Sequence[str]) -> Json:
    """Return a list of models as OpenAI has it."""
    data = [{"id": name, "object": "model", "created": CREATED, "owned_by": "scripted"} for name in names]
    return {"object": "list", "data": data}


def anthropic_models(names: Sequence[str]) -> Json:
    """Return a list of models as Anthropic has it."""
    data = [{"id": name, "type": "model", "display_name": name, "created_at": _CREATED_AT} for name in names]
    return {"data": data, "has_more": False, "first_id": names[0], "last_id": names[-1]}


_MAX_REQUEST_BYTES = 32 * 1024**2
_CHARS_PER_TOKEN = 4
_NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Received:
    """A request as it came.

    `headers` have small letters; `text` is what rules are matched with, empty where the request was refused;
    `seconds` is monotonic time.
    """

    method: str
    path: str
    headers: dict[str, str]
    body: Any
    text: str
    seconds: float


Answerer = Callable[[Received], Reply]
Observer = Callable[[Received, Reply | ErrorAnswer], None]


@dataclass
class Provider:
    """A server that runs.

    Anthropic's clients want `url` as their base, OpenAI's `url` + "/v1", and Google's models through litellm `url`
    + "/v1beta".
    """

    url: str = ""
    requests: list[Received] = field(default_factory=list)


@asynccontextmanager
async def serve(
    scenario: Scenario | Answerer, port: int = 0, name: str = "here", observe: Observer | None = None
) -> AsyncIterator[Provider]:
    """Play a scenario on 127.0.0.1, or whatever a function says to each request; `name` is for its complaints.

    Raises:
        UserError: The port can't be had.
    """
    provider = Provider()
    front = _Front(provider, scenario, name, observe)
    # Without cancellation a hanging request would outlive the client that has left it.
    runner = web.AppRunner(front.app(), handler_cancellation=True, shutdown_timeout=0.05, access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", port)
        await _start(site, port)
        provider.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield provider
    finally:
        await runner.cleanup()


async def _start(site: web.TCPSite, port: int) -> None:
    try:
        await site.start()
    except OSError as error:
        raise UserError(f"port {port}: {error.strerror or error}; name another one, or none") from None


class _Front:
    """The server's front, which takes requests, finds their replies and keeps account of them."""

    def __init__(
        self, provider: Provider, scenario: Scenario | Answerer, name: str, observe: Observer | None
    ) -> None:
        self._provider = provider
        self._observe = observe
        self._scenario = scenario if isinstance(scenario, Scenario) else None
        self._answerer = _played(Script(scenario, name)) if isinstance(scenario, Scenario) else scenario

    def app(self) -> web.Application:
        app = web.Application(client_max_size=_MAX_REQUEST_BYTES)
        for dialect in (ServedOpenAIChat(), ServedOpenAIResponses(), ServedAnthropicMessages()):
            app.router.add_post(dialect.path, self._speaker(dialect))
        app.router.add_post(ServedGoogleGenerate.path, self._google)
        app.router.add_post("/v1/messages/count_tokens", self._count_tokens)
        app.router.add_get("/v1/models", self._models)
        app.router.add_route("*", "/{path:.*}", self._nowhere)
        return app

    async def _google(self, request: web.Request) -> web.StreamResponse:
        model, _, method = request.match_info["call"].rpartition(":")
        if method == "countTokens":
            received = self._note(request, await _body(request))
            return web.json_response({"totalTokens": len(str(received.body)) // _CHARS_PER_TOKEN + 1})
        if method not in ("generateContent", "streamGenerateContent"):
            return await self._nowhere(request)
        said = {"model": model, "stream": method.startswith("stream")}
        answer: web.StreamResponse = await self._speaker(ServedGoogleGenerate(), said)(request)
        return answer

    def _speaker(
        self, dialect: ServedDialect, said_by_path: Mapping[str, Any] = _NOTHING
    ) -> Callable[[web.Request], Any]:
        async def speak(request: web.Request) -> web.StreamResponse:
            body = await _body(request)
            try:
                dialect.check_headers(request.headers)
                text = dialect.read(_object(body))
                received = self._note(request, body, text)
                reply = self._answerer(received)
            except RequestRefused as refusal:
                answer = dialect.error(refusal.kind, refusal.message, refusal.param, refusal.code)
                return self._refuse(self._note(request, body), answer)
            except ScriptEnded as end:
                return self._refuse(received, dialect.error(ErrorKind.BAD_REQUEST, str(end)))
            self._tell(received, reply)
            turn = Turn(reply, {**body, **said_by_path}, len(self._provider.requests))
            return await deliver(request, dialect, turn)

        return speak

    async def _count_tokens(self, request: web.Request) -> web.Response:
        dialect, body = ServedAnthropicMessages(), await _body(request)
        received = self._note(request, body)
        try:
            dialect.check_headers(request.headers)
            check_anthropic(_object(body), counting=True)
        except RequestRefused as refusal:
            return self._refuse(received, dialect.error(refusal.kind, refusal.message))
        return web.json_response({"input_tokens": len(request_text(body)) // _CHARS_PER_TOKEN + 1})

    async def _models(self, request: web.Request) -> web.Response:
        received = self._note(request, None)
        dialect: ServedDialect = (
            ServedAnthropicMessages() if "anthropic-version" in request.headers else ServedOpenAIChat()
        )
        try:
            dialect.check_headers(request.headers)
        except RequestRefused as refusal:
            return self._refuse(received, dialect.error(refusal.kind, refusal.message))
        names = self._scenario.models if self._scenario else ("scripted",)
        is_anthropic = isinstance(dialect, ServedAnthropicMessages)
        return web.json_response(anthropic_models(names) if is_anthropic else openai_models(names))

    async def _nowhere(self, request: web.Request) -> web.Response:
        received = self._note(request, await _body(request))
        words = f"Invalid URL ({request.method} {request.path})"
        return self._refuse(received, ServedOpenAIChat().error(ErrorKind.NOT_FOUND, words, code="unknown_url"))

    def _note(self, request: web.Request, body: Any, text: str = "") -> Received:
        headers = {name.lower(): value for name, value in request.headers.items()}
        received = Received(request.method, request.path, headers, body, text, time.monotonic())
        self._provider.requests.append(received)
        return received

    def _refuse(self, received: Received, answer: ErrorAnswer) -> web.Response:
        self._tell(received, answer)
        return error_response(answer)

    def _tell(self, received: Received, answer: Reply | ErrorAnswer) -> None:
        if self._observe:
            self._observe(received, answer)


def _played(script: Script) -> Answerer:
    return lambda received: script.reply_to(received.text)


async def _body(request: web.Request) -> Any:
    """Return the JSON of a request; None where it has none."""
    try:
        return from_json(await request.read())
    except ValueError:
        return None


def _object(body: Any) -> dict[str, Any]:
    if not isinstance(body, dict):
        raise RequestRefused("We could not parse the JSON body of your request.")
    return body
