"""The run's money and its rate limits as a node has them: stand-ins that ask the driver."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from harness.llm.clock import SYSTEM_CLOCK, Clock
from harness.llm.rate_limits import Turn
from harness.runs.executors.cluster.messages import MayPay, Message, Paid, TurnOver, TurnWanted
from harness.specs.errors import BudgetExhausted
from harness.specs.model_file import RateLimits
from harness.specs.usage import Usage

Tell = Callable[[Message], None]


class Relay:
    """Questions to the driver that wait for their answers. It is a `Budget` and a `LimiterService`."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[str]] = {}

    def answer(self, number: int, answer: str) -> None:
        """To a question of this number; whoever has asked may have been cancelled."""
        if waiting := self._waiting.pop(number, None):
            waiting.set_result(answer)

    async def check(self) -> None:
        """Raises BudgetExhausted where the next call may not be made anywhere in the cluster."""
        number = next(self._numbers)
        if refusal := await self._ask(number, MayPay(number)):
            raise BudgetExhausted(refusal)

    async def charge(self, usage: Usage) -> None:
        self._tell(Paid(usage))

    def limiter(self, model: str, limits: RateLimits) -> "_RelayedLimiter":
        return _RelayedLimiter(self, model, limits)

    @asynccontextmanager
    async def turn(self, model: str, limits: RateLimits, tokens: int) -> AsyncIterator[Turn]:
        number, turn = next(self._numbers), Turn(SYSTEM_CLOCK.now(), tokens)
        try:
            await self._ask(number, TurnWanted(number, model, limits, tokens))
            yield turn
        finally:
            self._tell(TurnOver(number, turn.tokens))

    async def _ask(self, number: int, question: Message) -> str:
        waiting: asyncio.Future[str]
        waiting = self._waiting[number] = asyncio.Future()
        self._tell(question)
        try:
            return await waiting
        finally:
            self._waiting.pop(number, None)


class _RelayedLimiter:
    """The limits are kept by the driver; waits between retries are this machine's own."""

    def __init__(self, relay: Relay, model: str, limits: RateLimits) -> None:
        self._relay = relay
        self._model = model
        self._limits = limits

    @property
    def clock(self) -> Clock:
        return SYSTEM_CLOCK

    @asynccontextmanager
    async def turn(self, tokens: int) -> AsyncIterator[Turn]:
        if self._limits == RateLimits():
            yield Turn(SYSTEM_CLOCK.now(), tokens)
            return
        async with self._relay.turn(self._model, self._limits, tokens) as turn:
            yield turn
