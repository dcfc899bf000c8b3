"""The provider's part of a call: its address and key, the time it takes, what it costs when it fails."""

import asyncio
import json
from collections.abc import Awaitable, Callable

import aiohttp

from harness.gateway.access import GatewayAccess
from harness.gateway.dialects.openai_chat_stream import wants_usage
from harness.gateway.dialects.protocol import Answer, DialectName, Json
from harness.gateway.downstream import Downstream
from harness.gateway.headers import sent_on
from harness.gateway.incoming import Incoming
from harness.gateway.passing import Passing, Settle
from harness.gateway.translating import translate
from harness.gateway.upstream import Upstream, upstream_of
from harness.llm.clock import Clock
from harness.llm.faults import Fault
from harness.llm.price_table import litellm_module, priced
from harness.specs.errors import ProviderFault
from harness.specs.usage import Usage

_CHARS_PER_TOKEN = 4
Settled = Callable[[Answer, float], Awaitable[None]]


class Asking:
    """One request to the provider of a trial's model, on behalf of an agent."""

    def __init__(
        self, access: GatewayAccess, http: aiohttp.ClientSession, incoming: Incoming, down: Downstream
    ) -> None:
        self._access, self._http, self._incoming, self._down = access, http, incoming, down
        self._file = access.served.file
        self._passing: Passing | None = None
        self._is_settled = False

    async def ask(self, body: Json, settle: Settled) -> None:
        """Answer the agent. Raises Fault, and RefusedRequest for what can't be translated.

        `settle` is given the answer, and how long its request took without the queue of our rate limits.
        """
        limiter = self._access.served.limiter
        async with limiter.turn(len(self._incoming.raw) // _CHARS_PER_TOKEN) as turn:
            began = limiter.clock.now()

            async def settled(answer: Answer) -> None:
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
                self._cut_off(limiter.clock, began)
                raise
            if self._is_settled:
                self._down.cut()  # the answer is whole, and the connection never ended
                return
            fault.usage = self._lost(fault)
            fault.seconds = limiter.clock.now() - began
            raise fault from None

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
        """The bytes as they came, where nothing had to change."""
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
        """What a failed request cost all the same, with its price."""
        if fault.usage.input + fault.usage.output == 0 or fault.usage.cost_usd is not None:
            return fault.usage
        return priced(self._file, fault.usage)

    def _cut_off(self, clock: Clock, began: float) -> None:
        """The trial's end has waited long enough: nobody will know what this call costs."""
        if self._is_settled:
            return
        unknown = Usage(calls=1, cost_usd=None)
        fault = Fault(ProviderFault.TIMEOUT, "cut off at the end of the trial", usage=unknown)
        fault.seconds = clock.now() - began
        spending = self._access.allowance.spending
        spending.usage += unknown
        self._access.allowance.failed(fault.request(None))
