"""The provider's part of a call: its address, dialects and key, the time it takes, what it costs when it fails."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

import aiohttp

from harness.models.build import ServedModel
from harness.models.faults import Fault, no_key
from harness.models.gateway.access import GatewayAccess
from harness.models.gateway.dialects.openai_chat import wants_usage
from harness.models.gateway.dialects.protocol import DialectName, Json, ModelAnswer
from harness.models.gateway.passing import Passing, Settle
from harness.models.gateway.translating import translate
from harness.models.gateway.transport import Downstream, Incoming, sent_on
from harness.models.keys import BEARER, KEY_VARIABLES
from harness.models.price_table import litellm_module, load_litellm, priced
from harness.specs.errors import ProviderFault
from harness.specs.usage import Usage

_CHAT, _RESPONSES = "/chat/completions", "/responses"
_PATHS = {DialectName.CHAT: _CHAT, DialectName.RESPONSES: _RESPONSES, DialectName.MESSAGES: "/v1/messages"}


@dataclass(frozen=True)
class Upstream:
    """The provider of a model.

    `dialects` is empty where litellm has to translate; `model` is the provider's name for it.
    """

    model: str
    dialects: frozenset[DialectName] = frozenset()
    base: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def url(self, dialect: DialectName, method: str = "") -> str:
        """Return the URL of a dialect's calls.

        `method` follows the path of messages, or is Google's method of the model.
        """
        if dialect is DialectName.GOOGLE:
            return f"{self.base}/models/{self.model}:{method}"
        return f"{self.base}{_PATHS[dialect]}{method}"


@dataclass(frozen=True)
class _Vendor:
    base: str
    base_variables: tuple[str, ...]
    key_header: str
    dialects: frozenset[DialectName]


_VENDORS = {
    "anthropic": _Vendor(
        "https://api.anthropic.com",
        ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE"),
        "x-api-key",
        frozenset({DialectName.MESSAGES}),
    ),
    "openai": _Vendor(
        "https://api.openai.com/v1",
        ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
        "authorization",
        frozenset({DialectName.CHAT, DialectName.RESPONSES}),
    ),
    "openrouter": _Vendor(
        "https://openrouter.ai/api/v1",
        ("OPENROUTER_API_BASE",),
        "authorization",
        frozenset({DialectName.CHAT}),
    ),
    "gemini": _Vendor(
        "https://generativelanguage.googleapis.com/v1beta",
        ("GEMINI_API_BASE",),
        "x-goog-api-key",
        frozenset({DialectName.GOOGLE}),
    ),
}
_COMPATIBLE = frozenset(
    {"dashscope", "deepseek", "fireworks_ai", "groq", "hosted_vllm", "lm_studio", "moonshot", "together_ai", "xai"}
)
"""Providers that speak chat completions as OpenAI does."""


def upstream_of(served: ServedModel) -> Upstream:
    """Return the provider behind a model. May import litellm, which takes seconds.

    Raises:
        Fault: There is no key.
    """
    provider, _, model = served.file.model.partition("/")
    if vendor := _VENDORS.get(provider):
        base = served.file.api_base or _first(vendor.base_variables) or vendor.base
        name = next(filter(os.environ.get, KEY_VARIABLES[provider]), "")
        key = served.key or os.environ.get(name)
        if not key:
            raise no_key(f"set {' or '.join(KEY_VARIABLES[provider])}, or api_key_env in a model file")
        header = "authorization" if name in BEARER and not served.key else vendor.key_header
        return Upstream(model, vendor.dialects, base.rstrip("/"), _key_header(header, key))
    return _compatible(served) if provider in _COMPATIBLE else Upstream(model)


def _compatible(served: ServedModel) -> Upstream:
    """Return a provider that speaks chat completions, at litellm's address for it or that of the model's file."""
    model, _, key, base = load_litellm().get_llm_provider(
        model=served.file.model, api_base=served.file.api_base, api_key=served.key
    )
    key = served.key or key
    headers = _key_header("authorization", key) if key else {}
    return Upstream(model, frozenset({DialectName.CHAT}), base.rstrip("/"), headers)


def _key_header(name: str, key: str) -> dict[str, str]:
    return {name: f"Bearer {key}" if name == "authorization" else key}


def _first(variables: Sequence[str]) -> str | None:
    return next((value for name in variables if (value := os.environ.get(name))), None)


_CHARS_PER_TOKEN = 4
_MOST_OUTPUT = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens")
_LONG_ANSWER = 32_000
"""Tokens of an answer, where nobody has said how many it may have."""
Settled = Callable[[ModelAnswer, float], Awaitable[None]]


class ProviderCall:
    """One request to the provider of a trial's model, on behalf of an agent."""

    def __init__(
        self, access: GatewayAccess, http: aiohttp.ClientSession, incoming: Incoming, down: Downstream
    ) -> None:
        self._access, self._http, self._incoming, self._down = access, http, incoming, down
        self._file = access.served.file
        self._passing: Passing | None = None
        self._is_settled = False

    async def ask(self, body: Json, settle: Settled) -> None:
        """Answer the agent.

        `settle` is given the answer, and how long its request took without the queue of our rate limits.

        Raises:
            Fault: The provider failed.
            RefusedRequest: The request can't be translated.
        """
        limiter = self._access.served.limiter
        async with limiter.turn(len(self._incoming.raw) // _CHARS_PER_TOKEN) as turn:
            began = limiter.clock.now()

            async def settled(answer: ModelAnswer) -> None:
                turn.tokens = answer.usage.input + answer.usage.output
                await settle(answer, limiter.clock.now() - began)
                self._is_settled = True

            try:
                upstream = await self._upstream()
                async with asyncio.timeout(self._file.request_seconds):
                    await self._asked(upstream, body, settled)
                return
            except TimeoutError:
                words = f"no answer within {self._file.request_seconds:g} seconds"
                fault = Fault(ProviderFault.TIMEOUT, words, usage=self._passing.usage if self._passing else Usage())
            except Fault as error:
                fault = error
            except asyncio.CancelledError:
                await asyncio.shield(self._cut_off(body, limiter.clock.now() - began))
                raise
            if self._is_settled:
                self._down.cut()  # the answer is whole, and the connection never ended
                return
            fault.usage = self._lost(fault)
            fault.seconds = limiter.clock.now() - began
            raise fault from None

    async def tell(self) -> None:
        """Pass on what the provider has said of its failure, where it has said anything."""
        if self._passing:
            await self._passing.tell()

    async def _upstream(self) -> Upstream:
        if self._file.prices is None:
            await litellm_module()  # for its table
        return await asyncio.to_thread(upstream_of, self._access.served)

    async def _asked(self, upstream: Upstream, body: Json, settle: Settle) -> None:
        access, incoming = self._access, self._incoming
        if incoming.dialect.name not in upstream.dialects:
            access.is_translated = True
            number = access.next_number()
            await translate(access.served, incoming.dialect, body, incoming.streaming, self._down, number, settle)
            return
        keys = tuple(value.removeprefix("Bearer ") for value in upstream.headers.values())
        tells = incoming.dialect.name is not DialectName.CHAT or wants_usage(incoming.body)
        self._passing = Passing(self._http, incoming.dialect, self._down, keys, tells, settle)
        headers = sent_on(incoming.headers, upstream.headers)
        url = upstream.url(incoming.dialect.name, incoming.method)
        sent = await asyncio.to_thread(self._sendable, body, upstream.model)
        await self._passing.send(url, sent, headers, incoming.query)

    def _sendable(self, body: Json, model: str) -> bytes:
        """Return the bytes as they came, where nothing had to change."""
        incoming = self._incoming
        if "model" in incoming.body:
            body["model"] = model
        incoming.dialect.wish(body, self._file)
        if incoming.dialect.name is DialectName.CHAT and incoming.streaming and not wants_usage(body):
            options = body.get("stream_options")
            body["stream_options"] = {**(options if isinstance(options, dict) else {}), "include_usage": True}
        if body == incoming.body:
            return incoming.raw
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")

    def _lost(self, fault: Fault) -> Usage:
        """Return what a failed request cost all the same, with its price."""
        if fault.usage.input + fault.usage.output == 0 or fault.usage.cost_usd is not None:
            return fault.usage
        return priced(self._file, fault.usage)

    def _most(self, body: Json) -> Usage:
        """Return about the most tokens that a call has, by what has come of its answer and by what it asks for."""
        heard = self._passing.usage if self._passing else Usage()
        config = body.get("generationConfig")
        asked = [
            where.get(key) for where in (body, config if isinstance(config, dict) else {}) for key in _MOST_OUTPUT
        ]
        output = max((most for most in asked if isinstance(most, int)), default=self._file.max_tokens or _LONG_ANSWER)
        sent = heard.input or len(self._incoming.raw) // _CHARS_PER_TOKEN
        return heard.model_copy(update={"calls": 1, "input": sent, "output": max(heard.output, output)})

    async def _cut_off(self, body: Json, seconds: float) -> None:
        """Give a call up because the trial's end has waited long enough, and charge about the most that it costs."""
        if self._is_settled:
            return
        most = priced(self._file, self._most(body))
        words = "cut off at the end of the trial; its tokens are an estimate, of the most that it may have had"
        fault = Fault(ProviderFault.TIMEOUT, words, usage=most)
        fault.seconds = seconds
        await self._access.allowance.spending.charge(most)
        self._access.allowance.failed(fault.request(None))
