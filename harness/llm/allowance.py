"""The limits of one agent, metered at its model, so that no agent can exceed them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum

from harness.llm.clock import SYSTEM_CLOCK, Clock
from harness.llm.protocol import Completion, FailedRequest, FaultObserver, Message, Model, Tool, ignore_faults
from harness.llm.spending import Budget, MeteredModel, Spending
from harness.specs.errors import ProviderError
from harness.specs.task import TaskLimits


class Limit(StrEnum):
    """What of an allowance is used up."""

    STEPS = "step"
    WALL = "wall"
    COST = "cost"


class AllowanceExhausted(Exception):
    """An agent has used up a limit. Raised before a model is asked and where an agent asks what time is left."""

    def __init__(self, limit: Limit, message: str) -> None:
        super().__init__(message)
        self.limit = limit


class Allowance:
    """Steps, seconds and USD of one agent. A step is one answer of a model.

    The agent's clock, which `limits.wall_seconds` bounds, runs while the agent works in its sandbox and while a model
    composes the answer that it gives. It stands still while the provider makes the agent wait: failed requests, the
    waits before they are repeated, and the queue of our own rate limits. A request under way is never cut off, since
    only its end tells which of the two it was; it has deadlines of its own.

    `within` is the run's money, which ends the call with BudgetExhausted instead: that is nobody's limit but the
    operator's.
    """

    def __init__(self, limits: TaskLimits, within: Budget | None = None, clock: Clock = SYSTEM_CLOCK) -> None:
        self.limits = limits
        self.spending = Spending(within=within)
        self.steps = 0
        self.failed_requests = 0
        self._clock = clock
        self._began = clock.now()
        self._calls: list[_Span] = []
        self._answers: list[_Span] = []
        self._under_way: list[float] = []
        self._observe: FaultObserver = ignore_faults

    def begin(self) -> None:
        """Start the agent's clock, which otherwise runs since the allowance was made."""
        self._began = self._clock.now()

    def metered(self, model: Model) -> Model:
        """The model as an agent gets it. Its calls raise AllowanceExhausted, BudgetExhausted and ProviderError."""
        return _LimitedModel(MeteredModel(model, self.spending), self)

    def check(self) -> None:
        """Raises AllowanceExhausted where the agent may not ask a model any more."""
        limits, usd = self.limits, self.spending.known_usd
        if self.steps + len(self._under_way) >= limits.steps:
            raise AllowanceExhausted(Limit.STEPS, f"its limit of {limits.steps} steps")
        if usd >= limits.cost_usd:
            raise AllowanceExhausted(Limit.COST, f"its limit of ${limits.cost_usd:g}; ${usd:.4f} are spent")
        self.seconds_left()

    def seconds_left(self) -> float:
        """On the agent's clock. Raises AllowanceExhausted where nothing is left."""
        left = self.limits.wall_seconds - self.counted_seconds
        if left <= 0:
            raise AllowanceExhausted(Limit.WALL, f"its limit of {self.limits.wall_seconds} seconds")
        return left

    @property
    def counted_seconds(self) -> float:
        """What the agent's clock shows."""
        return self._clock.now() - self._began - self.waiting_seconds

    @property
    def model_seconds(self) -> float:
        """The part of the agent's seconds in which a model composed an answer."""
        return _length(self._answers)

    @property
    def waiting_seconds(self) -> float:
        """Time that doesn't count, with that of a request under way until it has turned out well."""
        now = self._clock.now()
        return _length([*self._calls, *((began, now) for began in self._under_way)]) - self.model_seconds

    @property
    def is_waiting(self) -> bool:
        """Whether a model is being asked right now."""
        return bool(self._under_way)

    def failed(self, request: FailedRequest) -> None:
        """Note a request to a provider that failed. A model that is built with this as its observer calls it."""
        self.failed_requests += 1
        self._observe(request)

    @contextmanager
    def observed_by(self, observe: FaultObserver) -> Iterator[None]:
        """Tell `observe` of each failed request."""
        self._observe = observe
        try:
            yield
        finally:
            self._observe = ignore_faults

    async def ask(self, model: Model, messages: Sequence[Message], tools: Sequence[Tool]) -> Completion:
        """One call of `model` under the limits."""
        self.check()
        began = self._clock.now()
        self._under_way.append(began)
        try:
            completion = await model.complete(messages, tools)
        except ProviderError as error:
            if not error.requests:  # otherwise the model has told of each
                took = self._clock.now() - began
                lost = FailedRequest(fault=error.fault, message=str(error), seconds=took, usage=error.usage)
                self.failed(lost)
            raise
        else:
            now = self._clock.now()
            own = now - began if completion.seconds is None else min(completion.seconds, now - began)
            self._answers.append((now - own, now))
            self.steps += 1
        finally:
            self._under_way.remove(began)
            self._calls.append((began, self._clock.now()))
        return completion


class _LimitedModel:
    def __init__(self, model: Model, allowance: Allowance) -> None:
        self.name = model.name
        self._model = model
        self._allowance = allowance

    async def complete(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Completion:
        return await self._allowance.ask(self._model, messages, tools)


_Span = tuple[float, float]
"""From and to, on a clock."""


def _length(spans: Sequence[_Span]) -> float:
    """Seconds that lie in any of the spans: calls may overlap."""
    length, covered = 0.0, float("-inf")
    for begin, end in sorted(spans):
        length += max(0.0, end - max(begin, covered))
        covered = max(covered, end)
    return length
