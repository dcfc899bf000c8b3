"""One call of an agent, from its request to its answer: limits, what is withheld, the provider, the record."""

import json
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import aiohttp

from harness.models.allowance import AllowanceExhausted
from harness.models.faults import Fault
from harness.models.gateway.access import GatewayAccess
from harness.models.gateway.asking import ProviderCall
from harness.models.gateway.dialects.protocol import Json, ModelAnswer
from harness.models.gateway.records import CallRecord
from harness.models.gateway.transport import Downstream, Incoming
from harness.models.gateway.withholding import RefusedRequest, Withheld
from harness.models.price_table import priced
from harness.models.protocol import FailedRequest
from harness.specs.errors import BudgetExhausted, ProviderFault
from harness.specs.usage import Usage
from harness.specs.whole_text import named

_STATUSES = {
    ProviderFault.RATE_LIMIT: 429,
    ProviderFault.OVERLOADED: 503,
    ProviderFault.TIMEOUT: 504,
    ProviderFault.CONNECTION: 502,
    ProviderFault.MALFORMED: 502,
    ProviderFault.SERVER: 500,
    ProviderFault.AUTH: 401,
    ProviderFault.PERMISSION: 403,
    ProviderFault.NOT_FOUND: 404,
    ProviderFault.TOO_LARGE: 413,
}
"""Statuses that an agent gets where the provider's own can't be had: other faults are no reason to ask again."""
NOT_AGAIN = {"x-should-retry": "false"}
"""Some vendors' clients read it; the others repeat no request that got a 400."""


class GatewayCall:
    """One call of an agent, from its request to its answer."""

    def __init__(
        self, access: GatewayAccess, http: aiohttp.ClientSession, incoming: Incoming, down: Downstream
    ) -> None:
        self._access, self._incoming, self._down = access, incoming, down
        self._asking = ProviderCall(access, http, incoming, down)
        self._began = time.monotonic()
        self._conversation = ""
        self._withheld: Counter[str] = Counter()
        self._usage: Usage | None = None
        self._step = 0
        self._fault = ""

    async def answer(self) -> None:
        """Answer the agent. Whatever ends its trial is told to `access`."""
        with self._access.under_way():
            try:
                await self._answer()
            except RefusedRequest as refused:
                await self._refuse(400, str(refused))
            except RecursionError:
                await self._refuse(400, "the request is nested too deeply")
            except (AllowanceExhausted, BudgetExhausted) as end:
                self._access.finish(end)
                await self._refuse(400, f"the trial is over: {end}")
            except Fault as fault:
                await self._failed(fault)
            except Exception as error:
                # Nobody foresaw it: it costs the trial, as any error of ours does.
                self._access.finish(error)
                await self._refuse(400, f"the trial is over: {type(error).__name__} in the gateway")
            finally:
                self._log()

    async def _answer(self) -> None:
        access, incoming = self._access, self._incoming
        await access.quiet()
        if access.end:
            await self._refuse(400, f"the trial is over: {access.end}")
            return
        with self._reading():
            body = self._allowed()
            asked = incoming.dialect.asked(body)
        await access.allowance.spending.check()
        with access.allowance.call() as call:
            with self._reading():
                conversation = access.asked(incoming.dialect.name, incoming.model, asked)
            self._conversation = conversation.name

            async def settle(answer: ModelAnswer, seconds: float) -> None:
                self._usage = priced(access.served.file, answer.usage, answer.said_usd)
                await access.allowance.spending.charge(self._usage)
                call.answered(seconds)
                self._step = access.allowance.steps
                access.answered(conversation, answer, self._usage)

            try:
                await self._asking.ask(body, settle)
            except Fault as fault:
                await access.allowance.spending.charge(fault.usage)
                await access.failed(fault)
                call.counts = not call.is_answered and access.is_own(fault)
                raise

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Raise RefusedRequest for an error of ours about a request of an agent that has had an answer.

        It would end the trial as one of ours, and so give the agent another try: what an agent asks must not do that.
        """
        try:
            yield
        except (RefusedRequest, RecursionError):
            raise
        except Exception as error:
            if not self._access.allowance.steps:
                raise
            message = f"{type(error).__name__} in the gateway: it can't read this request"
            self._fault = ProviderFault.BAD_REQUEST
            self._access.allowance.failed(FailedRequest(fault=ProviderFault.BAD_REQUEST, message=message))
            raise RefusedRequest(message) from error

    def _allowed(self) -> Json:
        """Return the request without what is withheld. Raises RefusedRequest."""
        body: Json = json.loads(self._incoming.raw)
        withheld = Withheld(self._access.known_ids)
        try:
            self._incoming.dialect.withhold(body, withheld)
        finally:
            self._withheld = withheld.counts
            self._access.withheld(withheld.counts)
        return body

    async def _failed(self, fault: Fault) -> None:
        """Tell the agent of a fault, in the provider's own words where it has any."""
        self._fault = fault.kind
        await self._asking.tell()
        if not self._down.is_complete:
            await self._refuse(_STATUSES.get(fault.kind, 400), f"{fault.kind}: {fault.message}", fault)

    async def _refuse(self, status: int, message: str, fault: Fault | None = None) -> None:
        if self._down.status:
            self._down.cut()
            return
        headers = NOT_AGAIN if status == 400 else {}
        if fault and fault.retry_after is not None:
            headers = {"retry-after": f"{fault.retry_after:g}"}
        body = self._incoming.dialect.error(status, message, fault.kind if fault else None)
        await self._down.json(status, body, headers)

    def _log(self) -> None:
        incoming = self._incoming
        record = CallRecord(
            step=self._step,
            conversation=self._conversation,
            dialect=incoming.dialect.name,
            path=named(incoming.path),
            model=named(incoming.model),
            stream=incoming.streaming,
            status=self._down.status,
            seconds=round(time.monotonic() - self._began, 4),
            request_bytes=len(incoming.raw),
            usage=self._usage,
            fault=self._fault,
            withheld=dict(self._withheld),
        )
        self._access.log(record)
