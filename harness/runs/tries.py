"""The tries of one trial: again where the infrastructure failed, never for what an agent did wrong."""

from collections.abc import Callable

from harness.runs.executors.protocol import TrialSpec
from harness.runs.faults import is_below, keep_error, message_of, reason_code
from harness.runs.outcome import Progress, TrialEvent, TrialOutcome
from harness.runs.plan import Trial
from harness.runs.run_context import RunContext
from harness.runs.trial import run_trial
from harness.runs.trial_store import TrialStore
from harness.specs.errors import BudgetExhausted, InfrastructureError, ProviderError
from harness.specs.reasons import Reason, ReasonCode, Stage, Verdict

MAX_TRIES = 3
"""Of one trial, where the infrastructure failed. What an agent did wrong is never tried again."""


async def do_trial(context: RunContext, spec: TrialSpec, observe: Callable[[TrialEvent], None]) -> TrialOutcome:
    """Do what is missing of a trial. Errors of the infrastructure and of the harness are outcomes too.

    Raises OSError where the run's directory can't be written: then no trial could keep what it came to.
    """
    store = context.store(spec)
    try:
        return await _tries(context, context.trial(spec), spec, store, observe)
    except Exception as error:
        return harness_error(spec, error)


def harness_error(spec: TrialSpec, error: Exception) -> TrialOutcome:
    """The outcome of a trial at which the harness failed; the error's traceback is kept in the trial's directory.

    Raises `error` itself where it is that the run's directory can't be written.
    """
    if isinstance(error, OSError) and is_below(error.filename, spec.run.directory):
        raise error
    store = TrialStore(spec.run.directory / "trials" / spec.place)
    kept = keep_error(store.directory, error)
    return _unscored(spec, store, ReasonCode.HARNESS_ERROR, f"{message_of(error)} (traceback in {kept.name})")


async def _tries(
    context: RunContext, trial: Trial, spec: TrialSpec, store: TrialStore, observe: Callable[[TrialEvent], None]
) -> TrialOutcome:
    for number in range(1, MAX_TRIES + 1):
        observe(TrialEvent(place=spec.place, progress=Progress.STARTED, number=number))
        try:
            record = await run_trial(context, trial, store)
        except InfrastructureError as error:
            is_last = number == MAX_TRIES or not _is_retryable(error)
            if is_last:
                return _unscored(spec, store, reason_code(error), str(error))
            observe(TrialEvent(place=spec.place, progress=Progress.RETRIED, number=number, fault=str(error)))
            if store.directory.exists() and store.agent() is None:
                store.set_aside("lost")
        except BudgetExhausted as error:
            return _unscored(spec, store, ReasonCode.BUDGET_EXHAUSTED, f"the run's --max-cost: {error}")
        else:
            agent = store.agent()
            return TrialOutcome(
                place=spec.place,
                verdict=record.verdict,
                reasons=record.reasons,
                usage=store.usage(),
                remarks=agent.remarks if agent else (),
                record=record,
                beside=store.verdict_beside(),
            )
    raise AssertionError("unreachable: the last try returns or raises")


def _is_retryable(error: InfrastructureError) -> bool:
    """Whether a new container and a new conversation can help: not against a key that is refused, say."""
    return not isinstance(error, ProviderError) or error.fault.is_retryable


def _unscored(spec: TrialSpec, store: TrialStore, code: ReasonCode, words: str) -> TrialOutcome:
    """A trial without a verdict; what it has cost all the same is kept."""
    usage = store.spent()
    if store.directory.exists():
        store.keep_usage(usage)
    reason = Reason(code=code, stage=Stage.TRIAL, words=words)
    return TrialOutcome(place=spec.place, verdict=Verdict.UNSCORED, reasons=(reason,), usage=usage)
