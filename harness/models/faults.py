"""Classifies a provider's errors by status, code and text, the same for every client.

Retries of a request: by the fault's class, within a deadline, with every failed request reported.
"""

import asyncio
import random
import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from harness.models.protocol import Completion, FailedRequest, FaultObserver
from harness.models.rate_limits import Limiter
from harness.models.replay import now
from harness.specs.errors import ProviderError, ProviderFault
from harness.specs.model_file import ModelFile
from harness.specs.secrets import without_secrets
from harness.specs.usage import NO_USAGE, Usage

_MESSAGE_CHARS = 300
_BY_STATUS = {
    401: ProviderFault.AUTH,
    402: ProviderFault.QUOTA,
    403: ProviderFault.PERMISSION,
    404: ProviderFault.NOT_FOUND,
    408: ProviderFault.TIMEOUT,
    409: ProviderFault.SERVER,
    413: ProviderFault.TOO_LARGE,
    425: ProviderFault.OVERLOADED,
    429: ProviderFault.RATE_LIMIT,
    503: ProviderFault.OVERLOADED,
    504: ProviderFault.TIMEOUT,
    529: ProviderFault.OVERLOADED,
}
_QUOTA = re.compile(r"insufficient_quota|billing_error|billing_not_active|credit balance is too low")
_CONTEXT = re.compile(r"context_length_exceeded|maximum context length|prompt is too long|context window")
_POLICY = re.compile(r"content_policy_violation|content_filter|content management policy|content filtering policy")
_TOOLS = re.compile(
    r"not support.*\btools?\b|\btools?\b.*not support|support tool use|tool choice requires|function.?call",
    re.IGNORECASE,
)
REMEDIES = {
    ProviderFault.AUTH: "the provider refuses the key, or there is none; check the environment variable for it",
    ProviderFault.PERMISSION: "the provider refuses the key for this model; check what the key may use",
    ProviderFault.QUOTA: "the account has no money or quota left; waiting won't help",
}


class Fault(Exception):
    """A request that failed after so many `seconds`. `usage` is what it cost all the same."""

    def __init__(
        self, kind: ProviderFault, message: str, retry_after: float | None = None, usage: Usage = NO_USAGE
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = REMEDIES.get(kind) or one_line(message)
        self.retry_after = retry_after
        self.usage = usage
        self.seconds = 0.0

    @property
    def is_retryable(self) -> bool:
        return self.kind.is_retryable

    def request(self, retry_in: float | None) -> FailedRequest:
        """Return the failed request for its observer; `retry_in` is None where the request isn't repeated."""
        return FailedRequest(
            fault=self.kind, message=self.message, seconds=self.seconds, usage=self.usage, retry_in=retry_in
        )


def no_key(message: str) -> Fault:
    """Return the fault of a client that has no key to send; its own message often names the variable."""
    fault = Fault(ProviderFault.AUTH, message)
    fault.message = f"there is no key: {one_line(message)}"
    return fault


def refusal(status: int, message: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Fault:
    """Return the fault of an HTTP answer that isn't a success. `body` is its JSON, in which a code may hide."""
    return Fault(classify(status, f"{message} {body or ''}"), message, wait_asked_for(headers or {}))


def classify(status: int, text: str) -> ProviderFault:
    """Return the class of a provider's error, by status, and where one status has several causes by `text`."""
    if status in (400, 402, 403, 429) and _QUOTA.search(text):
        return ProviderFault.QUOTA
    if status in (400, 413, 422) and _CONTEXT.search(text):
        return ProviderFault.CONTEXT
    if status in (400, 403, 422) and _POLICY.search(text):
        return ProviderFault.POLICY
    if status in (400, 404, 422, 501) and _TOOLS.search(text):
        return ProviderFault.TOOLS
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    return ProviderFault.SERVER if status >= 500 else ProviderFault.BAD_REQUEST


def wait_asked_for(headers: Mapping[str, str]) -> float | None:
    """Return seconds from `retry-after-ms` or `retry-after`, which holds seconds or a date.

    A date is counted from the answer's own `date`, so that our clock doesn't matter; without one by our clock.
    """
    found = {name.lower(): value for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(found[name]) * unit
        except (KeyError, ValueError):
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    until = _date(found.get("retry-after", ""))
    return max(0.0, (until - (_date(found.get("date", "")) or now())).total_seconds()) if until else None


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return date.replace(tzinfo=date.tzinfo or UTC)


def one_line(text: str) -> str:
    """Return a provider's message without control characters and without any key, which it may repeat."""
    printable = "".join(char if char.isprintable() else " " for char in without_secrets(text))
    return " ".join(printable.split())[:_MESSAGE_CHARS]


async def complete_with_retries(
    file: ModelFile,
    limiter: Limiter,
    tokens: int,
    ask: Callable[[], Awaitable[Completion]],
    observe: FaultObserver,
) -> Completion:
    """Return the first answer.

    Its `lost` is what failed requests before it cost, its `seconds` are its own request's.

    Args:
        ask: Makes one request, and raises Fault.
        observe: Told of each failed request at once, before the wait that follows.
        file: `total_seconds` limits requests and the waits between them, but not the queue of our own rate limits.
        tokens: About the size of the request.
        limiter: Its clock times it all.

    Raises:
        ProviderError: The retries are used up, or can't help.
    """
    return await _RetriedCall(file, limiter, tokens, ask, observe).complete()


def growing_wait(first: float, longest: float, failures: int) -> float:
    """Return the seconds to wait after so many failures: `first`, then twice as long each time, up to `longest`."""
    return min(longest, first * 2.0 ** min(failures - 1, 60))


class _RetriedCall:
    """A call with its retries. `seconds` were spent on requests and the waits between them."""

    def __init__(
        self,
        file: ModelFile,
        limiter: Limiter,
        tokens: int,
        ask: Callable[[], Awaitable[Completion]],
        observe: FaultObserver,
    ) -> None:
        self.file, self.limiter, self.tokens, self.ask, self.observe = file, limiter, tokens, ask, observe
        self.clock = limiter.clock
        self.seconds = 0.0
        self.lost = NO_USAGE
        self.requests = 0
        self.earlier: Fault | None = None
        self.last: Fault | None = None
        self.is_late = False

    async def complete(self) -> Completion:
        while True:
            try:
                completion = await self.once()
            except Fault as fault:
                wait = self.wait_after(fault)
                self.report(wait)
                if wait is None:
                    raise self.given_up(fault) from None
            else:
                return completion.model_copy(update={"lost": self.lost})
            await self.pause(wait)

    def wait_after(self, fault: Fault) -> float | None:
        """Return the provider's seconds until the next request, else a random number; None where there is none."""
        retries = self.file.retries
        if not self.may_retry(fault) or self.requests >= retries.attempts:
            return None
        longest = growing_wait(retries.first_wait, retries.longest_wait, self.requests)
        wait = fault.retry_after or random.uniform(0, longest)
        return wait if wait < self.left else None

    @property
    def left(self) -> float:
        return self.file.total_seconds - self.seconds

    async def once(self) -> Completion:
        async with self.limiter.turn(self.tokens) as turn:
            self.requests += 1
            started = self.clock.now()
            deadline = min(self.file.request_seconds, self.left)
            try:
                async with asyncio.timeout(deadline):
                    completion = await self.ask()
            except TimeoutError:
                self.is_late = deadline < self.file.request_seconds
                seconds = self.file.total_seconds if self.is_late else deadline
                fault = Fault(ProviderFault.TIMEOUT, f"no answer within {seconds:g} seconds")
            except Fault as error:
                fault = error
                turn.tokens = fault.usage.input + fault.usage.output
            else:
                turn.tokens = completion.usage.input + completion.usage.output
                return completion.model_copy(update={"seconds": self.clock.now() - started})
            fault.seconds = self.clock.now() - started
            self.seconds += fault.seconds
            self.lost += fault.usage
            self.earlier, self.last = self.last, fault
            raise fault

    async def pause(self, seconds: float) -> None:
        await self.clock.sleep(seconds)
        self.seconds += seconds

    def may_retry(self, fault: Fault) -> bool:
        return fault.is_retryable and not self.is_late

    def report(self, retry_in: float | None) -> None:
        """Tell the observer of the last request, and in how many seconds it is repeated, if it is."""
        assert self.last is not None, "only a failed request is reported"
        self.observe(self.last.request(retry_in))

    def given_up(self, fault: Fault) -> ProviderError:
        """Return the last fault in one line; where the total deadline passed, with the fault before it."""
        message = f"{fault.kind}: {fault.message}"
        if self.is_late and self.earlier:
            message += f"; before: {self.earlier.message}"
        elif fault.retry_after is not None and fault.retry_after >= self.left:
            message += f"; it asks to wait {fault.retry_after:g} seconds, longer than the model's total_seconds allow"
        if self.requests > 1:
            message += f" ({self.requests} requests)"
        return ProviderError(f"{self.file.model}: {message}", fault.kind, self.lost, self.requests)
