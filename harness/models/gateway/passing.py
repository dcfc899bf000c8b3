"""A call to a provider in its own dialect: bytes go through as they come."""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import aiohttp

from harness.models.faults import Fault, refusal
from harness.models.gateway.dialects.openai_chat import is_only_usage
from harness.models.gateway.dialects.protocol import Dialect, Json, ModelAnswer
from harness.models.gateway.transport import DONE, Downstream, EventReader, data_of, told_back
from harness.specs.errors import ProviderFault
from harness.specs.secrets import without_secrets
from harness.specs.usage import NO_USAGE, Usage

_MOST_BYTES = 64 * 1024**2
_MOST_ERROR_BYTES = 1024**2


Settle = Callable[[ModelAnswer], Awaitable[None]]
"""Counts and records an answer. It is done before an agent can know that the answer is whole, and ask again."""


class Passing:
    """One request. `keys` are what no answer may repeat; without `tells_usage` the agent hasn't asked for counts."""

    def __init__(
        self,
        http: aiohttp.ClientSession,
        dialect: Dialect,
        down: Downstream,
        keys: tuple[str, ...],
        tells_usage: bool,
        settle: Settle,
    ) -> None:
        self._http, self._dialect, self._down = http, dialect, down
        self._keys = keys
        self._tells_usage = tells_usage
        self._assembler = dialect.assembler()
        self._settle = settle
        self._held: Callable[[], Awaitable[None]] | None = None
        self.is_settled = False

    @property
    def usage(self) -> Usage:
        """Return what a stream has told of its cost so far; nothing where it hasn't told anything."""
        usage = self._assembler.heard.usage
        return usage if usage.input + usage.output else NO_USAGE

    async def send(self, url: str, body: bytes, headers: Mapping[str, str], query: Mapping[str, str]) -> None:
        """Ask, and pass the answer on.

        Raises:
            Fault: The provider failed; the agent has half of an answer then, or none. `tell` gives it the rest.
        """
        try:
            async with self._http.post(
                url, data=body, headers=headers, params=query, allow_redirects=False
            ) as answer:
                if answer.status != 200:
                    raise await self._refused(answer)
                if answer.content_type == "text/event-stream":
                    await self._streamed(answer)
                else:
                    await self._whole(answer)
        except (aiohttp.ClientError, TimeoutError) as error:
            if self.is_settled:
                await self._down.end()
                return
            message = self.scrubbed(f"{type(error).__name__}: {error}")
            raise Fault(ProviderFault.CONNECTION, message, usage=self.usage) from None

    async def tell(self) -> None:
        """Pass on what the provider has said of its failure, in its own form."""
        if self._held:
            await self._held()

    async def _refused(self, answer: aiohttp.ClientResponse) -> Fault:
        said = await _beginning(answer)
        text = self.scrubbed(said.decode(errors="replace"))
        status = answer.status if answer.status >= 400 else 502
        heads = told_back(answer.headers)
        self._held = lambda: self._down.whole(status, text.encode(), heads)
        body = _json(text.encode())
        return refusal(status, _message(body) or f"status {answer.status}", body, answer.headers)

    async def _whole(self, answer: aiohttp.ClientResponse) -> None:
        said = b""
        async for chunk in answer.content.iter_any():
            said += chunk
            if len(said) > _MOST_BYTES:
                raise Fault(ProviderFault.MALFORMED, f"an answer of more than {_MOST_BYTES} bytes")
        body = _json(said)
        broken = "the answer is not JSON"
        if isinstance(body, dict):
            broken = await self._settled(body)
        heads = told_back(answer.headers)
        if broken:
            self._held = lambda: self._down.whole(200, said, heads)
            raise Fault(ProviderFault.MALFORMED, broken)
        await self._down.whole(200, said, heads)

    async def _settled(self, whole: Json) -> str:
        """Count an answer; what is wrong with one that can't be read."""
        try:
            said = self._dialect.answer(whole)
        except ValueError as error:
            return str(error)
        await self._settle(said)
        self.is_settled = True
        return ""

    async def _streamed(self, answer: aiohttp.ClientResponse) -> None:
        events = EventReader()
        await self._down.begin(200, told_back(answer.headers))
        try:
            async for chunk in answer.content.iter_any():
                for event in events.feed(chunk):
                    await self._event(event)
        except ValueError as error:
            raise Fault(ProviderFault.MALFORMED, str(error), usage=self.usage) from None
        await self._event(events.rest())
        broken = "" if self.is_settled else await self._over()
        if broken:
            self._held = self._down.end
            raise self._broken(broken)
        await self._down.end()

    async def _event(self, event: bytes) -> None:
        data = data_of(event)
        if data is not None:
            self._assembler.add(data)
            if not self._tells_usage and is_only_usage(data):
                return
        is_over = self._assembler.heard.is_over or event.strip() == DONE.strip()
        if is_over and not self.is_settled:
            await self._over()
        await self._down.write(event)

    async def _over(self) -> str:
        """Count the answer that a stream has brought; what is wrong where it hasn't."""
        heard = self._assembler.heard
        if heard.error is not None:
            return _message(heard.error) or "an error"
        return await self._settled(heard.whole) if heard.whole else "the stream ended before the answer did"

    def _broken(self, words: str) -> Fault:
        error = self._assembler.heard.error
        if error is None:
            return Fault(ProviderFault.MALFORMED, words, usage=self.usage)
        fault = refusal(_status(error), self.scrubbed(words), error)
        fault.usage = self.usage
        return fault

    def scrubbed(self, text: str) -> str:
        """Return a text without the key: some providers repeat one that they refuse."""
        for key in self._keys:
            text = text.replace(key, "[key]")
        return without_secrets(text)


def _status(error: Json) -> int:
    """Return the status of an error that came after the status was sent, by the providers' word for it."""
    inner = error.get("error")
    said = inner if isinstance(inner, dict) else error
    code = said.get("code")
    if isinstance(code, int) and 400 <= code < 600:
        return code
    names = {"overloaded": 529, "rate_limit": 429, "invalid": 400, "context_length": 400, "policy": 400}
    kind = f"{said.get('type')} {code}"
    return next((status for name, status in names.items() if name in kind), 500)


async def _beginning(answer: aiohttp.ClientResponse) -> bytes:
    """Return the first bytes of an error, in however many pieces they come."""
    said = b""
    while len(said) < _MOST_ERROR_BYTES and (chunk := await answer.content.read(_MOST_ERROR_BYTES - len(said))):
        said += chunk
    return said


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _message(body: Any) -> str:
    """Return the words of an error; Google's comes as the one item of a list where a stream was asked for."""
    told = body[0] if isinstance(body, list) and body else body
    if not isinstance(told, dict):
        return told if isinstance(told, str) else ""
    error = told.get("error")
    found = error.get("message") if isinstance(error, dict) else error or told.get("message")
    return found if isinstance(found, str) else ""
