"""Retries of a request: by the fault's class, within a deadline, with every failed request reported."""

import asyncio
from collections.abc import Awaitable, Callable

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, wait_random_exponential

from harness.llm.faults import Fault
from harness.llm.protocol import Completion, FaultObserver
from harness.llm.rate_limits import Limiter
from harness.specs.errors import ProviderError, ProviderFault
from harness.specs.model_file import ModelFile
from harness.specs.usage import NO_USAGE


async def complete_with_retries(
    file: ModelFile,
    limiter: Limiter,
    tokens: int,
    ask: Callable[[], Awaitable[Completion]],
    observe: FaultObserver,
) -> Completion:
    """The first answer. Its `lost` is what failed requests before it cost, its `seconds` are its own request's.

    `ask` makes one request and raises Fault. `observe` is told of each failed request at once, before the wait that
    follows. `file.total_seconds` limits requests and the waits between them, but not the queue of the rate limits,
    which is our own doing. `tokens` is about the size of the request. The limiter's clock times it all.

    Raises ProviderError.
    """
    return await _RetriedCall(file, limiter, tokens, ask, observe).complete()


class _RetriedCall:
    """`seconds` were spent on requests and the waits between them."""

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
        retries = self.file.retries
        growing = wait_random_exponential(multiplier=retries.first_wait, max=retries.longest_wait)
        retrying = AsyncRetrying(
            sleep=self.pause,
            retry=retry_if_exception(lambda error: isinstance(error, Fault) and self.may_retry(error)),
            stop=lambda state: stop_after_attempt(retries.attempts)(state) or state.upcoming_sleep >= self.left,
            wait=lambda state: _wait_asked_for(state) or growing(state),
            before_sleep=lambda state: self.report(state.upcoming_sleep),
            reraise=True,
        )
        try:
            completion: Completion = await retrying(self.once)
        except Fault as fault:
            self.report(None)
            raise self.given_up(fault) from None
        return completion.model_copy(update={"lost": self.lost})

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
        """The last fault in one line; where the total deadline passed, with the fault before it."""
        message = f"{fault.kind}: {fault.message}"
        if self.is_late and self.earlier:
            message += f"; before: {self.earlier.message}"
        elif fault.retry_after is not None and fault.retry_after >= self.left:
            message += f"; it asks to wait {fault.retry_after:g} seconds, longer than the model's total_seconds allow"
        if self.requests > 1:
            message += f" ({self.requests} requests)"
        return ProviderError(f"{self.file.model}: {message}", fault.kind, self.lost, self.requests)


def _wait_asked_for(state: RetryCallState) -> float | None:
    error = state.outcome.exception() if state.outcome else None
    return error.retry_after if isinstance(error, Fault) else None
