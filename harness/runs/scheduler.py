"""Many trials side by side, their retries, and what a start in an old directory finds done."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from harness.llm.build import Models
from harness.llm.spending import Spending
from harness.runs.plan import RunConfig, Trial, scaffold_digest
from harness.runs.store import RunStore
from harness.runs.trial import Workshop, reason_code, run_trial
from harness.runs.trial_store import TrialStore, UsageFile
from harness.sandbox.protocol import Engine
from harness.specs.errors import BudgetExhausted, InfrastructureError, ProviderError, first_error
from harness.specs.reasons import Reason, ReasonCode, Stage, Verdict
from harness.specs.usage import NO_USAGE
from harness.verify.arms import arm_slots
from harness.verify.judge.judge import Judge
from harness.verify.verdict import VerdictRecord

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
    """A trial's end for tables: `reasons` are of the verdict, or of the fault where there is none.

    `record` is the verdict in full, `beside` the published verifier's where both were asked for.
    """

    trial: Trial
    verdict: Verdict
    reasons: tuple[Reason, ...]
    usage: UsageFile | None
    remarks: tuple[str, ...] = ()
    record: VerdictRecord | None = None
    beside: VerdictRecord | None = None


async def run_all(
    engine: Engine,
    models: Models,
    config: RunConfig,
    trials: list[Trial],
    store: RunStore,
    observe: Observer,
    judge: Judge | None = None,
) -> list[Outcome]:
    """Run what is missing of `trials`, at most `config.jobs` at a time, in their order.

    However this ends (also by cancellation), no container of the run is left.
    """
    digests = {trial.scaffold.name: scaffold_digest(trial.scaffold) for trial in trials}
    run = store.describe(config, trials, engine.isolation, digests)
    labels = {"testwright.run": run.id}
    # What earlier starts in this directory have spent counts: the cap is the run's, however often it is started.
    spending = Spending(config.max_cost_usd, usage=store.spent() if config.max_cost_usd else NO_USAGE)
    workshop = Workshop(engine, arm_slots(engine), run.id, models, spending, judge, config.protocol)
    turns = asyncio.Semaphore(config.jobs)
    await engine.reap(labels)
    try:
        with first_error():
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(_turn(workshop, trial, store, observe, turns)) for trial in trials]
        return [task.result() for task in tasks]
    finally:
        await asyncio.shield(engine.reap(labels))


async def _turn(
    workshop: Workshop, trial: Trial, store: RunStore, observe: Observer, turns: asyncio.Semaphore
) -> Outcome:
    async with turns:
        outcome = await _tries(workshop, trial, store, observe)
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
            if number == MAX_TRIES or not _may_heal(error):
                return _unscored(trial, mine, reason_code(error), str(error))
            observe(trial, Progress.RETRIED, str(error))
            if mine.directory.exists() and mine.agent() is None:
                mine.set_aside("lost")
        except BudgetExhausted as error:
            store.event("fault", trial=str(trial.place), number=number, error=str(error))
            return _unscored(trial, mine, ReasonCode.BUDGET_EXHAUSTED, f"the run's --max-cost: {error}")
        else:
            agent = mine.agent()
            remarks = agent.remarks if agent else ()
            return Outcome(
                trial, record.verdict, record.reasons, mine.usage(), remarks, record, mine.verdict_beside()
            )
    raise AssertionError("unreachable: the last try returns or raises")


def _may_heal(error: InfrastructureError) -> bool:
    """Whether a new container and a new conversation can help: not against a key that is refused, say."""
    return not isinstance(error, ProviderError) or error.fault.is_retryable


def _unscored(trial: Trial, store: TrialStore, code: ReasonCode, words: str) -> Outcome:
    """A trial without a verdict; what it has cost all the same is kept."""
    usage = store.spent()
    if store.directory.exists():
        store.keep_usage(usage)
    reason = Reason(code=code, stage=Stage.TRIAL, words=words)
    return Outcome(trial, Verdict.UNSCORED, (reason,), usage)
