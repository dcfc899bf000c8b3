"""The tries of one trial: it is tried again if the infrastructure failed, never because of an agent's mistake."""

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Callable
from datetime import datetime
from typing import NamedTuple

from harness.judging.verify.verdict import VerdictRecord
from harness.models.faults import growing_wait
from harness.models.replay import now
from harness.runs.attempts import AttemptEnd, AttemptRecord
from harness.runs.executors.protocol import TrialSpec
from harness.runs.judges import VerdictConditions
from harness.runs.outcome import (
    Progress,
    Stand,
    TrialEvent,
    TrialOutcome,
    ends_run,
    keep_error,
    message_of,
    reason_code,
)
from harness.runs.records import is_there
from harness.runs.run_context import RunContext, make_room
from harness.runs.trial import TrialRun, describe
from harness.runs.trial_store import TrialStore
from harness.specs.errors import (
    BudgetExhausted,
    InfrastructureError,
    JudgeUnavailable,
    NotWritable,
    ProviderError,
    TimeExhausted,
    UserError,
)
from harness.specs.reasons import Reason, ReasonCode, Stage, Verdict
from harness.specs.usage import Usage
from harness.tracks.registry import known_digest

LONGEST_WAIT = 120.0
"""Seconds between two tries of a trial, at most."""

Observe = Callable[[TrialEvent], None]


async def do_trial(context: RunContext, observe: Observe, spec: TrialSpec) -> TrialOutcome:
    """Do what is missing of a trial. Errors of the infrastructure and of the harness are outcomes too.

    Each attempt is written down beside the trial.

    Args:
        context: What the trials of this process share.
        observe: Hears of each try, from the task that does the trial.
        spec: The trial.

    Raises:
        OSError: The run's directory can't be written: then no trial could keep what it came to.
    """
    tries, config = _Tries(context, spec, observe), context.run.config
    while True:
        attempt = tries.begin()
        try:
            record = finished_before(context, spec)
            if record is None:  # what needs nothing needs no room
                await make_room(context)
                async with _at_most(config.trial_seconds):
                    record = await TrialRun(context, context.trial(spec), tries.store, tries.tell).run()
        except (InfrastructureError, BudgetExhausted, JudgeUnavailable) as error:
            is_final = tries.number == config.tries or not _is_retryable(error)
            reason = attempt.failed(error, is_final)
            if is_final:
                return _unscored(spec, tries.store, reason)
        except Exception as error:
            return harness_error(spec, error, attempt)
        except BaseException:
            with contextlib.suppress(OSError):  # we are being ended: what can't be written any more is left
                attempt.interrupted()
            raise
        else:
            attempt.judged(record)
            return _judged(spec, tries.store, record)
        await asyncio.sleep(tries.retry(reason))


def finished_before(context: RunContext, spec: TrialSpec) -> VerdictRecord | None:
    """Return the verdict of a trial that has nothing left to do, where that is known without making its image."""
    store, engine = context.store(spec), context.session.engine
    found, record = store.trial(), store.verdict()
    if found is None or record is None:
        return None
    trial = context.trial(spec)
    digest = known_digest(engine, trial.task)
    if digest is None or found != describe(trial, digest, engine.isolation) or store.agent() is None:
        return None
    rules = context.protocol, context.control
    now = VerdictConditions(trial.task, digest, engine.isolation, context.judge, *rules)
    return record if now.is_done(store) else None


class _Tries:
    """The tries of one trial in this start. `number` is that of the last one."""

    def __init__(self, context: RunContext, spec: TrialSpec, observe: Observe) -> None:
        self.context, self.spec, self.observe = context, spec, observe
        self.store = context.store(spec)
        self.number = 0

    def begin(self) -> "_Attempt":
        """Begin the next try, and tell of it."""
        self.number += 1
        self.observe(TrialEvent(place=self.spec.place, progress=Progress.STARTED, number=self.number))
        return _Attempt.begin(self.store)

    def tell(self, stand: Stand) -> None:
        """Pass on how far the trial is."""
        event = TrialEvent(place=self.spec.place, progress=Progress.AT_WORK, number=self.number, stand=stand)
        self.observe(event)

    def retry(self, reason: Reason) -> float:
        """Tell that the trial is tried again, and return after how many seconds."""
        first = self.context.run.config.retry_seconds
        seconds = growing_wait(first, LONGEST_WAIT, self.number) + random.uniform(0, first)
        fault = f"in {seconds:.0f} s: {reason.words}" if seconds >= 1 else reason.words
        event = TrialEvent(place=self.spec.place, progress=Progress.RETRIED, number=self.number, fault=fault)
        self.observe(event)
        return seconds


def harness_error(spec: TrialSpec, error: Exception, attempt: "_Attempt | None" = None) -> TrialOutcome:
    """Return the outcome of a trial at which the harness failed; the error's traceback is kept in its directory.

    A mistake of the user's has none.

    Raises:
        Exception: `error` itself, where it is that the run's directory can't be written.
    """
    if ends_run(error, spec.run.directory):
        raise error
    store = TrialStore(spec.run.directory / "trials" / spec.place)
    traceback = ""
    if not isinstance(error, UserError):  # whose message says all, and to whom
        with contextlib.suppress(OSError):  # the error may be that nothing can be written just there
            traceback = keep_error(store.directory, error).name
    return _unscored(spec, store, (attempt or _Attempt.begin(store)).failed(error, traceback=traceback))


def try_elsewhere(spec: TrialSpec) -> Callable[[InfrastructureError, bool], TrialOutcome | None]:
    """Begin an attempt that another machine makes and, where it can, writes down.

    Call what is returned where that machine is lost: with the error, and whether nobody tries again. It returns the
    trial's outcome in that case.
    """
    store = TrialStore(spec.run.directory / "trials" / spec.place)
    attempt = _Attempt.begin(store)

    def lost(error: InfrastructureError, is_final: bool) -> TrialOutcome | None:
        reason = attempt.failed(error, is_final)
        return _unscored(spec, store, reason) if is_final else None

    return lost


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
        """Return why the trial has no verdict. What an agent left that didn't come to its end is set aside."""
        words = message_of(error)
        if isinstance(error, BudgetExhausted):
            words = words if isinstance(error, TimeExhausted) else f"the run's --max-cost: {words}"
        if traceback:
            words = f"{words} (traceback in {traceback})"
        code = reason_code(error)
        end = AttemptEnd.HARNESS_ERROR if code is ReasonCode.HARNESS_ERROR else AttemptEnd.FAULT
        usage = self._usage()
        is_lost = not is_final and is_there(self.store.directory) and self.store.agent() is None
        kept = self.store.set_aside("lost") if is_lost else ""
        with contextlib.suppress(OSError):  # whoever is told of the error learns why
            self._add(end, usage, code=code, message=words, is_final=is_final, kept=kept, traceback=traceback)
        return Reason(code=code, stage=Stage.TRIAL, words=words)

    def interrupted(self) -> None:
        self._add(AttemptEnd.INTERRUPTED, self._usage())

    def judged(self, record: VerdictRecord) -> None:
        """Note a verdict, unless an earlier start had judged the trial and this one did nothing."""
        if record != self.had_verdict:
            self._add(AttemptEnd.JUDGED, self._usage())

    def _usage(self) -> Usage:
        return self.store.usage().total - self.paid

    def _add(self, end: AttemptEnd, usage: Usage, **facts: object) -> None:
        known = {"number": self.number, "started": self.started, "end": end, "usage": usage, **facts}
        self.store.attempts.add(AttemptRecord.model_validate(known))


@contextlib.asynccontextmanager
async def _at_most(seconds: float | None) -> AsyncIterator[None]:
    """Raise TimeExhausted in this block after so many seconds."""
    try:
        async with asyncio.timeout(seconds) as timer:
            yield
    except TimeoutError as error:
        if not timer.expired():
            raise
        raise TimeExhausted(f"the run's --trial-seconds: {seconds:g} seconds are over") from error


def _is_retryable(error: BaseException) -> bool:
    """Return whether a new container and a new conversation can help.

    They can't where a key is refused or a disk is read-only.
    """
    if isinstance(error, ProviderError):
        return error.fault.is_retryable
    return isinstance(error, InfrastructureError) and not isinstance(error, NotWritable)


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
    """Return a trial without a verdict; what it has cost all the same is kept."""
    usage, agent = store.usage(), store.agent()
    if is_there(store.directory):
        with contextlib.suppress(OSError):
            store.keep_usage(usage)
    return TrialOutcome(
        place=spec.place,
        verdict=Verdict.UNSCORED,
        reasons=(reason,),
        usage=usage,
        ending=agent.ending if agent else "",
    )
