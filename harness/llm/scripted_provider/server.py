"""The scripted provider itself: HTTP on loopback."""

import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from pydantic_core import from_json

from harness.llm.scripted_provider.anthropic_messages import AnthropicMessages, request_text
from harness.llm.scripted_provider.anthropic_request import check as check_anthropic
from harness.llm.scripted_provider.delivery import deliver, error_response
from harness.llm.scripted_provider.dialect import Dialect, Turn
from harness.llm.scripted_provider.failures import ErrorAnswer, ErrorKind, RequestRefused
from harness.llm.scripted_provider.google_generate import GoogleGenerate
from harness.llm.scripted_provider.model_list import anthropic_models, openai_models
from harness.llm.scripted_provider.openai_chat import OpenAIChat
from harness.llm.scripted_provider.openai_responses import OpenAIResponses
from harness.llm.scripted_provider.scenario import Reply, Scenario
from harness.llm.scripted_provider.script import Script, ScriptEnded
from harness.specs.errors import UserError

_MAX_REQUEST_BYTES = 32 * 1024**2
_CHARS_PER_TOKEN = 4
_NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Received:
    """A request as it came. `headers` have small letters; `text` is what rules are matched with, empty where the
    request was refused; `seconds` is monotonic time.
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
    """A server that runs. Anthropic's clients want `url` as their base, OpenAI's `url` + "/v1", and Google's models
    through litellm `url` + "/v1beta".
    """

    url: str = ""
    requests: list[Received] = field(default_factory=list)


@asynccontextmanager
async def serve(
    scenario: Scenario | Answerer, port: int = 0, name: str = "here", observe: Observer | None = None
) -> AsyncIterator[Provider]:
    """Play a scenario on 127.0.0.1, or whatever a function says to each request; `name` is for its complaints.

    Raises UserError where the port can't be had.
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
    """Takes requests, finds their replies and keeps account of them."""

    def __init__(
        self, provider: Provider, scenario: Scenario | Answerer, name: str, observe: Observer | None
    ) -> None:
        self._provider = provider
        self._observe = observe
        self._scenario = scenario if isinstance(scenario, Scenario) else None
        self._answerer = _played(Script(scenario, name)) if isinstance(scenario, Scenario) else scenario

    def app(self) -> web.Application:
        app = web.Application(client_max_size=_MAX_REQUEST_BYTES)
        for dialect in (OpenAIChat(), OpenAIResponses(), AnthropicMessages()):
            app.router.add_post(dialect.path, self._speaker(dialect))
        app.router.add_post(GoogleGenerate.path, self._google)
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
        answer: web.StreamResponse = await self._speaker(GoogleGenerate(), said)(request)
        return answer

    def _speaker(self, dialect: Dialect, said_by_path: Mapping[str, Any] = _NOTHING) -> Callable[[web.Request], Any]:
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
        dialect, body = AnthropicMessages(), await _body(request)
        received = self._note(request, body)
        try:
            dialect.check_headers(request.headers)
            check_anthropic(_object(body), counting=True)
        except RequestRefused as refusal:
            return self._refuse(received, dialect.error(refusal.kind, refusal.message))
        return web.json_response({"input_tokens": len(request_text(body)) // _CHARS_PER_TOKEN + 1})

    async def _models(self, request: web.Request) -> web.Response:
        received = self._note(request, None)
        dialect: Dialect = AnthropicMessages() if "anthropic-version" in request.headers else OpenAIChat()
        try:
            dialect.check_headers(request.headers)
        except RequestRefused as refusal:
            return self._refuse(received, dialect.error(refusal.kind, refusal.message))
        names = self._scenario.models if self._scenario else ("scripted",)
        is_anthropic = isinstance(dialect, AnthropicMessages)
        return web.json_response(anthropic_models(names) if is_anthropic else openai_models(names))

    async def _nowhere(self, request: web.Request) -> web.Response:
        received = self._note(request, await _body(request))
        words = f"Invalid URL ({request.method} {request.path})"
        return self._refuse(received, OpenAIChat().error(ErrorKind.NOT_FOUND, words, code="unknown_url"))

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
    """The JSON of a request; None where it has none."""
    try:
        return from_json(await request.read())
    except ValueError:
        return None


def _object(body: Any) -> dict[str, Any]:
    if not isinstance(body, dict):
        raise RequestRefused("We could not parse the JSON body of your request.")
    return body
