"""The limits of one agent, metered at its model, so that no agent can exceed them.

Counts spending, and stops the next call at a cap.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import NamedTuple, Protocol

from harness.models.protocol import Completion, FailedRequest, FaultObserver, Message, Model, Tool, ignore_faults
from harness.models.rate_limits import SYSTEM_CLOCK, Clock
from harness.specs.errors import BudgetExhausted, ProviderError
from harness.specs.task import TaskLimits
from harness.specs.usage import NO_USAGE, Usage


class Budget(Protocol):
    """Money that several spend together, wherever they are. In this process it is a `Spending`."""

    async def check(self) -> None:
        """Check that the next call may be made.

        Raises:
            BudgetExhausted: It may not: the limit is reached, or the cost so far isn't known.
        """
        ...

    async def charge(self, usage: Usage) -> None:
        """Add the tokens and USD of a call."""
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
        """See `Budget`. Whatever this is `within` is checked too."""
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
        """See `Budget`. Whatever this is `within` is charged too."""
        self.usage += usage
        self.known_usd += usage.cost_usd or 0.0
        if self._within:
            await self._within.charge(usage)


class MeteredModel:
    """A model whose calls are counted, and made only while there is money left."""

    def __init__(self, model: Model, spending: Spending) -> None:
        self.name = model.name
        self.spending = spending
        self._model = model

    async def complete(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Completion:
        """See `Model`. Failed calls are paid as well."""
        await self.spending.check()
        try:
            completion = await self._model.complete(messages, tools)
        except ProviderError as error:
            await self.spending.charge(error.usage)
            raise
        await self.spending.charge(completion.paid)
        return completion


class Limit(StrEnum):
    """The limit of an allowance that is used up."""

    STEPS = "step"
    WALL = "wall"
    COST = "cost"


class AllowanceExhausted(Exception):
    """An agent has used up a limit. Raised before a model is asked and where an agent asks what time is left."""

    def __init__(self, limit: Limit, message: str) -> None:
        super().__init__(message)
        self.limit = limit


class Left(NamedTuple):
    """The rest of an allowance, never below 0. `usd` is None where it isn't known what was spent."""

    steps: int
    seconds: float
    usd: float | None


class StepObserver:
    """An observer of an agent's steps. It does nothing: override what matters."""

    def stepped(self, steps: int, usage: Usage) -> None:
        """Hear that an agent has taken so many steps, and what its model has used so far."""


class Stops:
    """A clock of the time for which this process has stood still since the first beat, by beats that are late."""

    LONGEST = 5.0
    """Seconds between two beats of a process at work, however busy its machine is."""

    def __init__(self) -> None:
        self._last: float | None = None
        self._seconds = 0.0

    def beat(self) -> None:
        """Note that this process is at work now."""
        now = time.monotonic()
        if self._last is not None and now - self._last > self.LONGEST:
            self._seconds += now - self._last
        self._last = now

    def seconds(self) -> float:
        """Return the seconds for which it stood still, up to now: whoever asks may be the first that runs again."""
        if self._last is not None:
            self.beat()
        return self._seconds


class Allowance:
    """Steps, seconds and USD of one agent. A step is one answer of a model.

    The agent's clock, which `limits.wall_seconds` bounds, runs while the agent works in its sandbox and while a model
    composes the answer that it gives. It stands still while the provider makes the agent wait: failed requests, the
    waits before they are repeated, and the queue of our own rate limits. A request under way is never cut off, since
    only its end tells which of the two it was; it has deadlines of its own.

    `within` is the run's money, which ends the call with BudgetExhausted instead: that is nobody's limit but the
    operator's.
    """

    def __init__(
        self,
        limits: TaskLimits,
        within: Budget | None = None,
        clock: Clock = SYSTEM_CLOCK,
        observer: StepObserver | None = None,
    ) -> None:
        self.limits = limits
        self.spending = Spending(within=within)
        self.steps = 0
        self.failed_requests = 0
        self._clock = clock
        self._stops = Stops()
        self._began = clock.now()
        self._calls: list[_Span] = []
        self._answers: list[_Span] = []
        self._under_way: list[float] = []
        self._pause: _Span | None = None
        self._paused = 0.0
        self._observe: FaultObserver = ignore_faults
        self._observer = observer or StepObserver()

    def begin(self) -> None:
        """Start the agent's clock, which otherwise runs since the allowance was made."""
        self._began = self._now()

    def beat(self) -> None:
        """Note that this process is at work: who supervises the agent does so every second.

        Where nobody did for longer than a few seconds, this process was stopped (SIGSTOP, a machine asleep) or got
        no
        core. The agent's clock stood still for that time.
        """
        self._stops.beat()

    def _now(self) -> float:
        """Return the seconds of a clock that stands still while this process does."""
        now = self._clock.now()
        return now - self._stops.seconds()

    def metered(self, model: Model) -> Model:
        """Return the model as an agent gets it, under the limits.

        Its calls raise AllowanceExhausted, BudgetExhausted and ProviderError.
        """
        return _LimitedModel(MeteredModel(model, self.spending), self)

    def check(self) -> None:
        """Check that the agent may ask its model again.

        Raises:
            AllowanceExhausted: Its steps, USD or seconds are used up.
        """
        limits, usd = self.limits, self.spending.known_usd
        if self.steps + len(self._under_way) >= limits.steps:
            raise AllowanceExhausted(Limit.STEPS, f"its limit of {limits.steps} steps")
        if usd >= limits.cost_usd:
            raise AllowanceExhausted(Limit.COST, f"its limit of ${limits.cost_usd:g}; ${usd:.4f} are spent")
        self.seconds_left()

    def seconds_left(self) -> float:
        """Return the seconds that are left on the agent's clock.

        Raises:
            AllowanceExhausted: Nothing is left.
        """
        left = self.limits.wall_seconds - self.counted_seconds
        if left <= 0:
            raise AllowanceExhausted(Limit.WALL, f"its limit of {self.limits.wall_seconds} seconds")
        return left

    @property
    def left(self) -> Left:
        """The steps, seconds and USD that the agent may still use."""
        limits, spent = self.limits, self.spending.usage.cost_usd
        return Left(
            steps=max(0, limits.steps - self.steps - len(self._under_way)),
            seconds=max(0.0, limits.wall_seconds - self.counted_seconds),
            usd=None if spent is None else max(0.0, limits.cost_usd - spent),
        )

    @property
    def counted_seconds(self) -> float:
        """The seconds that the agent's clock shows."""
        return self._now() - self._began - self.waiting_seconds

    @property
    def model_seconds(self) -> float:
        """The part of the agent's seconds in which a model composed an answer."""
        return _length(self._answers)

    @property
    def waiting_seconds(self) -> float:
        """The seconds that don't count. A request under way belongs to them until it has brought an answer."""
        now = self._now()
        spans = [*self._calls, *((began, now) for began in self._under_way)]
        if self._pause:
            spans.append((self._pause[0], min(now, self._pause[1])))
        return _length(spans) - self.model_seconds

    @property
    def is_waiting(self) -> bool:
        """Return whether a model is being asked right now."""
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

    def pause(self, seconds: float) -> None:
        """Stop the agent's clock until its next call, for so many seconds at most.

        For an agent that repeats failed requests by itself, and waits before it does. All its pauses together are no
        longer than the time that it has: it may bring such failures about.
        """
        now = self._now()
        self._end_pause(now)
        self._pause = (now, now + min(seconds, self.limits.wall_seconds - self._paused))

    def _end_pause(self, now: float) -> None:
        if self._pause:
            began, end = self._pause
            self._calls.append((began, min(end, now)))
            self._paused += min(end, now) - began
            self._pause = None

    @contextmanager
    def call(self) -> Iterator["CallUnderWay"]:
        """Provide one call of a model.

        It is a step once it is `answered`; the time of one that never is doesn't count, unless it `counts`.

        Raises:
            AllowanceExhausted: The call may not be made.
        """
        self.check()
        began = self._now()
        self._end_pause(began)
        self._under_way.append(began)
        call = CallUnderWay(lambda seconds: self._answered(began, seconds))
        try:
            yield call
        finally:
            if call.counts:
                self._under_way.remove(began)
            elif not call.is_answered:
                self._end(began)

    def _answered(self, began: float, seconds: float | None) -> None:
        now = self._now()
        own = now - began if seconds is None else min(seconds, now - began)
        self._end(began)
        self._answers.append((now - own, now))
        self.steps += 1
        self._observer.stepped(self.steps, self.spending.usage)

    def _end(self, began: float) -> None:
        self._under_way.remove(began)
        self._calls.append((began, self._now()))

    async def ask(self, model: Model, messages: Sequence[Message], tools: Sequence[Tool]) -> Completion:
        """Make one call of `model` under the limits.

        Raises:
            AllowanceExhausted: The call may not be made.
            ProviderError: The call failed; it is counted and isn't a step.
        """
        with self.call() as call:
            began = self._now()
            try:
                completion = await model.complete(messages, tools)
            except ProviderError as error:
                if not error.requests:  # otherwise the model has told of each
                    took = self._now() - began
                    lost = FailedRequest(fault=error.fault, message=str(error), seconds=took, usage=error.usage)
                    self.failed(lost)
                raise
            call.answered(completion.seconds)
        return completion


class CallUnderWay:
    """A call that is under way. One that `counts` was refused by its agent's own fault: its time is the agent's."""

    def __init__(self, end: Callable[[float | None], None]) -> None:
        self.is_answered = self.counts = False
        self._end = end

    def answered(self, seconds: float | None = None) -> None:
        """Note that the call has brought an answer.

        Args:
            seconds: How long the request took that brought it, without retries; None: the whole call.
        """
        self.is_answered = True
        self._end(seconds)


class _LimitedModel:
    def __init__(self, model: Model, allowance: Allowance) -> None:
        self.name = model.name
        self._model = model
        self._allowance = allowance

    async def complete(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Completion:
        return await self._allowance.ask(self._model, messages, tools)


_Span = tuple[float, float]
"""Beginning and end, on a clock."""


def _length(spans: Sequence[_Span]) -> float:
    """Return seconds that lie in any of the spans: calls may overlap."""
    length, covered = 0.0, float("-inf")
    for begin, end in sorted(spans):
        length += max(0.0, end - max(begin, covered))
        covered = max(covered, end)
    return length
