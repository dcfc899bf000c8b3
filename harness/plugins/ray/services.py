"""The run's money and its rate limits as a node has them: stand-ins that ask the driver.

The run's money and its rate limits, given to a node that asks for them.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from harness.models.rate_limits import SYSTEM_CLOCK, Clock, RateTurn
from harness.plugins.ray.messages import MayPay, Message, Paid, TurnOver, TurnWanted
from harness.runs.executors.protocol import Services
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
        """Answer the question of this number; whoever has asked may have been cancelled."""
        if waiting := self._waiting.pop(number, None):
            waiting.set_result(answer)

    async def check(self) -> None:
        """See `Budget`: it is asked for the whole cluster."""
        number = next(self._numbers)
        if refusal := await self._ask(number, MayPay(number)):
            raise BudgetExhausted(refusal)

    async def charge(self, usage: Usage) -> None:
        self._tell(Paid(usage))

    def limiter(self, model: str, limits: RateLimits) -> "_RelayedLimiter":
        return _RelayedLimiter(self, model, limits)

    @asynccontextmanager
    async def turn(self, model: str, limits: RateLimits, tokens: int) -> AsyncIterator[RateTurn]:
        number, turn = next(self._numbers), RateTurn(SYSTEM_CLOCK.now(), tokens)
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
    async def turn(self, tokens: int) -> AsyncIterator[RateTurn]:
        if self._limits == RateLimits():
            yield RateTurn(SYSTEM_CLOCK.now(), tokens)
            return
        async with self._relay.turn(self._model, self._limits, tokens) as turn:
            yield turn


Question = MayPay | Paid | TurnWanted | TurnOver


class Desk:
    """The services for one node. `answer` sends an answer to it, empty for a yes."""

    def __init__(self, services: Services, answer: Callable[[int, str], object]) -> None:
        self._services = services
        self._answer = answer
        self._turns: dict[int, asyncio.Task[None]] = {}
        self._over: dict[int, asyncio.Future[int]] = {}

    async def take(self, question: Question) -> None:
        match question:
            case MayPay():
                self._answer(question.number, await self._refusal())
            case Paid():
                await self._services.budget.charge(question.usage)
            case TurnWanted():
                self._over[question.number] = asyncio.get_running_loop().create_future()
                self._turns[question.number] = asyncio.create_task(self._turn(question))
            case TurnOver():
                self._leave(question)

    def close(self) -> None:
        """Give back the node's turns at the rate limits: it asks no more."""
        for turn in self._turns.values():
            turn.cancel()

    async def _refusal(self) -> str:
        try:
            await self._services.budget.check()
        except BudgetExhausted as error:
            return str(error)
        return ""

    async def _turn(self, wanted: TurnWanted) -> None:
        limiter = self._services.rate_limits.limiter(wanted.model, wanted.limits)
        try:
            async with limiter.turn(wanted.tokens) as turn:
                self._answer(wanted.number, "")
                turn.tokens = await self._over[wanted.number]
        finally:
            del self._turns[wanted.number], self._over[wanted.number]

    def _leave(self, over: TurnOver) -> None:
        if (left := self._over.get(over.number)) and not left.done():
            left.set_result(over.tokens)
        # A node that gave up in the queue gets its turn when it comes, and leaves at once.
