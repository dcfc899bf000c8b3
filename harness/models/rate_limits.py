"""Requests and tokens per minute, and requests at once, for all who share a model.

The time that waits and limits are counted in.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from harness.models.protocol import Message
from harness.specs.model_file import RateLimits


class Clock(Protocol):
    """A clock that tells the time and waits. Tests bring one whose minutes take no time."""

    def now(self) -> float:
        """Return seconds since some fixed moment; never goes backwards."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait for so many seconds."""
        ...


class SystemClock:
    """The machine's own clock, whatever the date is set to."""

    def now(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


SYSTEM_CLOCK = SystemClock()


_CHARS_PER_TOKEN = 4


def about_tokens(messages: Sequence[Message]) -> int:
    """Return a guess, until the provider has counted."""
    texts = [message.content for message in messages]
    texts += [call.arguments for message in messages for call in message.tool_calls]
    return sum(map(len, texts)) // _CHARS_PER_TOKEN


@dataclass
class RateTurn:
    """One request's place in the minute. Its tokens are a guess until its answer has come."""

    began: float
    tokens: int


class Limiter(Protocol):
    """The rate limits of one model, for all who ask it. Its clock also times their retries."""

    @property
    def clock(self) -> Clock:
        """The clock by which it waits, and retries with it."""
        ...

    def turn(self, tokens: int) -> AbstractAsyncContextManager[RateTurn]:
        """Wait until a request of about so many tokens may be sent. Set the turn's tokens once they are known."""
        ...


class LimiterService(Protocol):
    """Rate limits that several share, wherever they are. In this process it is `RateLimiters`."""

    def limiter(self, model: str, limits: RateLimits) -> Limiter:
        """Return the same one for everybody who asks the same model."""
        ...


class RateLimiters:
    """The limiters of this process, by the model's name."""

    def __init__(self, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._limiters: dict[str, RateLimiter] = {}

    def limiter(self, model: str, limits: RateLimits) -> "RateLimiter":
        return self._limiters.setdefault(model, RateLimiter(limits, clock=self._clock))


class RateLimiter:
    """See `Limiter`. First come, first served.

    `clock` also times the retries of whoever keeps these limits. `minute` is in seconds; only tests make it shorter.
    """

    def __init__(self, limits: RateLimits, minute: float = 60, clock: Clock = SYSTEM_CLOCK) -> None:
        self.clock = clock
        self._limits = limits
        self._minute = minute
        self._turns: deque[RateTurn] = deque()
        self._door = asyncio.Lock()
        self._seats = asyncio.Semaphore(limits.concurrent_requests) if limits.concurrent_requests else None

    @asynccontextmanager
    async def turn(self, tokens: int) -> AsyncIterator[RateTurn]:
        """Wait until a request of about so many tokens may be sent. Set the turn's tokens once they are known."""
        if self._seats is None:
            yield await self._enter(tokens)
            return
        async with self._seats:
            yield await self._enter(tokens)

    async def _enter(self, tokens: int) -> RateTurn:
        async with self._door:
            while (wait := self._wait(tokens)) > 0:
                await self.clock.sleep(wait)
            turn = RateTurn(self.clock.now(), tokens)
            if self._limits.requests_per_minute or self._limits.tokens_per_minute:
                self._turns.append(turn)
            return turn

    def _wait(self, tokens: int) -> float:
        """Return seconds until the oldest request must leave the minute; a large request goes when it is alone."""
        now = self.clock.now()
        while self._turns and self._turns[0].began + self._minute <= now:
            self._turns.popleft()
        if not self._turns:
            return 0
        requests, most = self._limits.requests_per_minute, self._limits.tokens_per_minute
        full = requests is not None and len(self._turns) >= requests
        full |= most is not None and sum(turn.tokens for turn in self._turns) + tokens > most
        return self._turns[0].began + self._minute - now if full else 0
