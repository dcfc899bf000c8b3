"""The tries of one trial: it is tried again if the infrastructure failed, never because of an agent's mistake."""

import contextlib
from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from harness.llm.recording import now
from harness.runs.attempts import AttemptEnd, AttemptRecord
from harness.runs.executors.protocol import TrialSpec
from harness.runs.faults import is_below, keep_error, message_of, reason_code
from harness.runs.outcome import Progress, TrialEvent, TrialOutcome
from harness.runs.run_context import RunContext
from harness.runs.trial import run_trial
from harness.runs.trial_store import TrialStore
from harness.specs.errors import BudgetExhausted, InfrastructureError, ProviderError
from harness.specs.reasons import Reason, ReasonCode, Stage, Verdict
from harness.specs.usage import Usage
from harness.verify.verdict import VerdictRecord

MAX_TRIES = 3
"""Of one trial, where the infrastructure failed. What an agent did wrong is never tried again."""

Observe = Callable[[TrialEvent], None]


async def do_trial(context: RunContext, spec: TrialSpec, observe: Observe) -> TrialOutcome:
    """Do what is missing of a trial. Errors of the infrastructure and of the harness are outcomes too.

    Each attempt is written down beside the trial. Raises OSError where the run's directory can't be written: then no
    trial could keep what it came to.
    """
    store = context.store(spec)
    for number in range(1, MAX_TRIES + 1):
        observe(TrialEvent(place=spec.place, progress=Progress.STARTED, number=number))
        attempt = _Attempt.begin(store)
        try:
            record = await run_trial(context, context.trial(spec), store)
        except InfrastructureError as error:
            is_final = number == MAX_TRIES or not _is_retryable(error)
            reason = attempt.failed(error, is_final)
            if is_final:
                return _unscored(spec, store, reason)
            observe(TrialEvent(place=spec.place, progress=Progress.RETRIED, number=number, fault=str(error)))
        except BudgetExhausted as error:
            return _unscored(spec, store, attempt.failed(error))
        except Exception as error:
            return harness_error(spec, error, attempt)
        except BaseException:
            with contextlib.suppress(OSError):  # we are being ended: what can't be written any more is left
                attempt.interrupted()
            raise
        else:
            attempt.judged(record)
            return _judged(spec, store, record)
    raise AssertionError("unreachable: the last try returns or raises")


def harness_error(spec: TrialSpec, error: Exception, attempt: "_Attempt | None" = None) -> TrialOutcome:
    """The outcome of a trial at which the harness failed; the error's traceback is kept in the trial's directory.

    Raises `error` itself where it is that the run's directory can't be written.
    """
    if isinstance(error, OSError) and is_below(error.filename, spec.run.directory):
        raise error
    store = TrialStore(spec.run.directory / "trials" / spec.place)
    traceback = keep_error(store.directory, error).name
    return _unscored(spec, store, (attempt or _Attempt.begin(store)).failed(error, traceback=traceback))


class _Attempt(NamedTuple):
    """One try, to be written down at its end. `paid` is what the trial had cost before it."""

    store: TrialStore
    number: int
    started: datetime
    paid: Usage
    had_verdict: VerdictRecord | None

    @classmethod
    def begin(cls, store: TrialStore) -> "_Attempt":
        return cls(store, store.attempts.next_number(), now(), store.usage().total, store.verdict())

    def failed(self, error: Exception, is_final: bool = True, traceback: str = "") -> Reason:
        """Why the trial has no verdict. What an agent left that didn't come to its end is set aside."""
        words = message_of(error)
        if isinstance(error, BudgetExhausted):
            words = f"the run's --max-cost: {words}"
        if traceback:
            words = f"{words} (traceback in {traceback})"
        code = reason_code(error)
        end = AttemptEnd.HARNESS_ERROR if code is ReasonCode.HARNESS_ERROR else AttemptEnd.FAULT
        usage = self._usage()
        is_lost = not is_final and self.store.directory.exists() and self.store.agent() is None
        kept = self.store.set_aside("lost") if is_lost else ""
        self._add(end, usage, code=code, message=words, is_final=is_final, kept=kept, traceback=traceback)
        return Reason(code=code, stage=Stage.TRIAL, words=words)

    def interrupted(self) -> None:
        self._add(AttemptEnd.INTERRUPTED, self._usage())

    def judged(self, record: VerdictRecord) -> None:
        """Unless an earlier start had judged the trial and this one did nothing."""
        if record != self.had_verdict:
            self._add(AttemptEnd.JUDGED, self._usage())

    def _usage(self) -> Usage:
        return self.store.usage().total - self.paid

    def _add(self, end: AttemptEnd, usage: Usage, **facts: object) -> None:
        known = {"number": self.number, "started": self.started, "end": end, "usage": usage, **facts}
        self.store.attempts.add(AttemptRecord.model_validate(known))


def _is_retryable(error: InfrastructureError) -> bool:
    """Whether a new container and a new conversation can help: not against a key that is refused, say."""
    return not isinstance(error, ProviderError) or error.fault.is_retryable


def _judged(spec: TrialSpec, store: TrialStore, record: VerdictRecord) -> TrialOutcome:
    agent = store.agent()
    return TrialOutcome(
        place=spec.place,
        verdict=record.verdict,
        reasons=record.reasons,
        usage=store.usage(),
        ending=agent.ending if agent else "",
        remarks=agent.remarks if agent else (),
        record=record,
        beside=store.verdict_beside(),
    )


def _unscored(spec: TrialSpec, store: TrialStore, reason: Reason) -> TrialOutcome:
    """A trial without a verdict; what it has cost all the same is kept."""
    usage, agent = store.usage(), store.agent()
    if store.directory.exists():
        store.keep_usage(usage)
    return TrialOutcome(
        place=spec.place,
        verdict=Verdict.UNSCORED,
        reasons=(reason,),
        usage=usage,
        ending=agent.ending if agent else "",
    )
