"""Retries of a request: by the fault's class, within a deadline, with every paid reply counted."""

import asyncio
from collections.abc import Awaitable, Callable

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, wait_random_exponential

from harness.llm.faults import Fault
from harness.llm.protocol import Completion
from harness.llm.rate_limits import RateLimiter
from harness.specs.errors import ProviderError, ProviderFault
from harness.specs.model_file import ModelFile
from harness.specs.usage import Usage


async def complete_with_retries(
    file: ModelFile, limiter: RateLimiter, tokens: int, ask: Callable[[], Awaitable[Completion]]
) -> Completion:
    """A completion whose usage has all that was paid on the way to it. Raises ProviderError.

    `ask` raises Fault. The total deadline counts requests and the waits between them; the queue of the rate
    limits, which is our own doing, stands outside it. `tokens` is about the size of the request.
    """
    return await _RetriedCall(file, limiter, tokens, ask).complete()


class _RetriedCall:
    def __init__(
        self, file: ModelFile, limiter: RateLimiter, tokens: int, ask: Callable[[], Awaitable[Completion]]
    ) -> None:
        self.file, self.limiter, self.tokens, self.ask = file, limiter, tokens, ask
        self.paid = Usage()
        self.requests = 0
        self.last: Fault | None = None
        self.deadline = asyncio.timeout(file.total_seconds)

    async def complete(self) -> Completion:
        retries = self.file.retries
        growing = wait_random_exponential(multiplier=retries.first_wait, max=retries.longest_wait)
        retrying = AsyncRetrying(
            retry=retry_if_exception(lambda error: isinstance(error, Fault) and error.is_retryable),
            stop=lambda state: stop_after_attempt(retries.attempts)(state) or state.upcoming_sleep >= self.left(),
            wait=lambda state: _wait_asked_for(state) or growing(state),
            reraise=True,
        )
        try:
            async with self.deadline:
                completion: Completion = await retrying(self.once)
        except Fault as fault:
            raise self.given_up(fault) from None
        except TimeoutError:
            words = f"no answer within {self.file.total_seconds:g} seconds"
            raise self.given_up(Fault(ProviderFault.TIMEOUT, words)) from None
        return completion.model_copy(update={"usage": self.paid + completion.usage})

    async def once(self) -> Completion:
        left = self.left()
        self.deadline.reschedule(None)
        async with self.limiter.turn(self.tokens) as turn:
            self.deadline.reschedule(asyncio.get_running_loop().time() + left)
            self.requests += 1
            try:
                async with asyncio.timeout(self.file.request_seconds):
                    completion = await self.ask()
            except TimeoutError:
                words = f"no answer within {self.file.request_seconds:g} seconds"
                self.last = Fault(ProviderFault.TIMEOUT, words)
                raise self.last from None
            except Fault as fault:
                self.last = fault
                self.paid += fault.usage
                turn.tokens = fault.usage.input + fault.usage.output
                raise
            turn.tokens = completion.usage.input + completion.usage.output
            return completion

    def left(self) -> float:
        end = self.deadline.when()
        return self.file.total_seconds if end is None else end - asyncio.get_running_loop().time()

    def given_up(self, fault: Fault) -> ProviderError:
        """The last fault in one line; that of a deadline with what was in the way before it."""
        words = f"{fault.kind}: {fault.message}"
        if self.last and self.last is not fault:
            words += f"; before: {self.last.message}"
        elif fault.retry_after is not None and fault.retry_after >= self.left():
            words += f"; it asks to wait {fault.retry_after:g} seconds, longer than the model's total_seconds allow"
        if self.requests > 1:
            words += f" ({self.requests} requests)"
        return ProviderError(f"{self.file.model}: {words}", fault.kind, self.paid)


def _wait_asked_for(state: RetryCallState) -> float | None:
    error = state.outcome.exception() if state.outcome else None
    return error.retry_after if isinstance(error, Fault) else None
