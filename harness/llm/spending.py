"""Counts spending, and stops the next call at a cap."""

from collections.abc import Sequence
from typing import Protocol

from harness.llm.protocol import Completion, Message, Model, Tool
from harness.specs.errors import BudgetExhausted, ProviderError
from harness.specs.usage import NO_USAGE, Usage


class Budget(Protocol):
    """Money that several spend together, wherever they are. In this process it is a `Spending`."""

    async def check(self) -> None:
        """Raises BudgetExhausted where the next call may not be made."""
        ...

    async def charge(self, usage: Usage) -> None:
        """Count what a call has cost."""
        ...


class Spending:
    """Tokens and money of one role (a trial's agent, its judge) or of a whole run, which is the `within` of both.

    `limit` is in USD. Calls that are under way at the same time are not foreseen: a cap is passed by their cost at
    most. `known_usd` sums up the calls whose cost is known.
    """

    def __init__(self, limit: float | None = None, within: Budget | None = None, usage: Usage = NO_USAGE) -> None:
        self.usage = usage
        self.known_usd = usage.cost_usd or 0.0
        self._limit = limit
        self._within = within

    async def check(self) -> None:
        """Raises BudgetExhausted where the next call may not be made, here or in what this is part of."""
        cost = self.usage.cost_usd
        if self._limit is not None and cost is None:
            raise BudgetExhausted(
                f"the cost of a call is unknown, so the cap of ${self._limit:g} can't be held; "
                "give the model's prices in a model file"
            )
        if self._limit is not None and cost is not None and cost >= self._limit:
            raise BudgetExhausted(f"${cost:.4f} of ${self._limit:g} are spent")
        if self._within:
            await self._within.check()

    async def charge(self, usage: Usage) -> None:
        self.usage += usage
        self.known_usd += usage.cost_usd or 0.0
        if self._within:
            await self._within.charge(usage)


class MeteredModel:
    """A model whose calls are counted, and made only while there is money left. Raises BudgetExhausted."""

    def __init__(self, model: Model, spending: Spending) -> None:
        self.name = model.name
        self.spending = spending
        self._model = model

    async def complete(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Completion:
        await self.spending.check()
        try:
            completion = await self._model.complete(messages, tools)
        except ProviderError as error:
            await self.spending.charge(error.usage)
            raise
        await self.spending.charge(completion.paid)
        return completion
