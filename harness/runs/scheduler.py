"""Many trials side by side, their retries, and what a start in an old directory finds done."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from harness.runs.plan import RunConfig, Trial, scaffold_digest
from harness.runs.store import RunStore, UsageFile
from harness.runs.trial import Workshop, reason_code, run_trial
from harness.sandbox.protocol import Engine
from harness.specs.errors import InfrastructureError, first_error
from harness.specs.reasons import Reason, Stage, Verdict
from harness.verify.arms import arm_slots

MAX_TRIES = 3
"""Of one trial, where the infrastructure failed. What an agent did wrong is never tried again."""


class Progress(StrEnum):
    STARTED = "started"
    RETRIED = "retried"
    FINISHED = "finished"


Observer = Callable[[Trial, Progress, str], None]
"""Told of each step of each trial: the trial, what happened, and a word about it."""


@dataclass(frozen=True)
class Outcome:
    """A trial's end for tables: `reasons` are of the verdict, or of the fault where there is none."""

    trial: Trial
    verdict: Verdict
    reasons: tuple[Reason, ...]
    usage: UsageFile | None
    remarks: tuple[str, ...] = ()


async def run_all(
    engine: Engine, config: RunConfig, trials: list[Trial], store: RunStore, observe: Observer
) -> list[Outcome]:
    """Run what is missing of `trials`, at most `config.jobs` at a time, in their order.

    However this ends (also by cancellation), no container of the run is left.
    """
    digests = {trial.scaffold.name: scaffold_digest(trial.scaffold) for trial in trials}
    run = store.describe(config, trials, engine.isolation, digests)
    labels = {"testwright.run": run.id}
    workshop = Workshop(engine, arm_slots(engine), run.id)
    turns = asyncio.Semaphore(config.jobs)
    budget = _Budget(config.max_cost_usd)
    await engine.reap(labels)
    try:
        with first_error():
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(_turn(workshop, trial, store, observe, turns, budget)) for trial in trials]
        return [task.result() for task in tasks]
    finally:
        await asyncio.shield(engine.reap(labels))


class _Budget:
    """Money spent so far. Once it is gone no further trial starts; those at work keep their own limits."""

    def __init__(self, limit: float | None) -> None:
        self._limit = limit
        self._spent = 0.0

    def add(self, usage: UsageFile | None) -> None:
        self._spent += (usage.agent.cost_usd or 0.0) if usage else 0.0

    @property
    def exhausted(self) -> bool:
        return self._limit is not None and self._spent >= self._limit


async def _turn(
    workshop: Workshop, trial: Trial, store: RunStore, observe: Observer, turns: asyncio.Semaphore, budget: _Budget
) -> Outcome:
    async with turns:
        if budget.exhausted:
            return _unscored(trial, "budget-exhausted", "the run's --max-cost is spent; this trial was not started")
        outcome = await _tries(workshop, trial, store, observe)
        budget.add(outcome.usage)
    observe(trial, Progress.FINISHED, outcome.verdict)
    store.event("finished", trial=str(trial.place), verdict=outcome.verdict)
    return outcome


async def _tries(workshop: Workshop, trial: Trial, store: RunStore, observe: Observer) -> Outcome:
    mine = store.trial(trial)
    for number in range(1, MAX_TRIES + 1):
        observe(trial, Progress.STARTED, "")
        store.event("started", trial=str(trial.place), number=number)
        try:
            record = await run_trial(workshop, trial, mine)
        except InfrastructureError as error:
            store.event("fault", trial=str(trial.place), number=number, error=str(error))
            if number == MAX_TRIES:
                return _unscored(trial, reason_code(error), str(error))
            observe(trial, Progress.RETRIED, str(error))
            if mine.directory.exists() and mine.agent() is None:
                mine.set_aside("lost")
        else:
            agent = mine.agent()
            remarks = agent.remarks if agent else ()
            return Outcome(trial, record.verdict, record.reasons, mine.usage(), remarks)
    raise AssertionError("unreachable: the last try returns or raises")


def _unscored(trial: Trial, code: str, words: str) -> Outcome:
    reason = Reason.model_validate({"code": code, "stage": Stage.TRIAL, "words": words})
    return Outcome(trial, Verdict.UNSCORED, (reason,), None)
