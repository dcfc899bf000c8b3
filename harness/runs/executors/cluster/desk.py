"""The run's money and its rate limits, given to a node that asks for them."""

import asyncio
from collections.abc import Callable

from harness.runs.executors.cluster.messages import MayPay, Paid, TurnOver, TurnWanted
from harness.runs.executors.protocol import Services
from harness.specs.errors import BudgetExhausted

Question = MayPay | Paid | TurnWanted | TurnOver


class Desk:
    """Of one node. `answer` sends an answer to it, empty for a yes."""

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
        """The node asks no more: nobody waits for the turns that it has."""
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
