"""A run's trials as an executor gets them, and their outcomes."""

from collections.abc import Iterable
from pathlib import Path

from harness.models.allowance import Spending
from harness.models.rate_limits import LimiterService
from harness.models.replay import now
from harness.runs.additions import AskedRun
from harness.runs.at_work import AtWork
from harness.runs.attempts import AttemptEnd, AttemptRecord
from harness.runs.concurrency import FirstInterrupt
from harness.runs.executors.protocol import RunObserver, RunSpec, Services, TrialSpec
from harness.runs.outcome import Observer, Progress, RunOutcome, TrialEvent, TrialOutcome
from harness.runs.plan import RunConfig, Trial
from harness.runs.store import RunStore
from harness.runs.timings import keep_timing
from harness.specs.catalog import Catalog
from harness.specs.reasons import Reason, ReasonCode, Stage, Verdict
from harness.specs.usage import NO_USAGE


def trial_specs(
    catalog: Catalog, config: RunConfig, run_id: str, directory: Path, trials: Iterable[Trial]
) -> list[TrialSpec]:
    """Return the trials as data, for processes that have the same catalog and the same run directory."""
    run = RunSpec(id=run_id, directory=directory.absolute(), catalogs=catalog.places, config=config)
    return [
        TrialSpec(
            run=run,
            task=trial.task.address,
            scaffold=trial.scaffold.name,
            model=trial.model,
            attempt=trial.attempt,
            place=str(trial.place),
        )
        for trial in trials
    ]


def run_services(config: RunConfig, store: RunStore, limiters: LimiterService, watch: "RunWatch") -> Services:
    """Return what the trials of one start share.

    What earlier starts in this directory have spent counts: the cap is the run's, however often it is started.
    """
    budget = Spending(config.max_cost_usd, usage=store.spent() if config.max_cost_usd else NO_USAGE)
    return Services(budget, limiters, watch, watch.interrupt)


class RunWatch(RunObserver):
    """An observer that writes down and passes on what trials do, and collects their outcomes.

    After `config.fail_on_error` harness errors, or an interrupt, no trial may begin any more; those have no outcome.
    """

    def __init__(self, store: RunStore, asked: AskedRun, observe: Observer, interrupt: FirstInterrupt) -> None:
        self.interrupt = interrupt
        self._store = store
        self._most_errors = asked.config.fail_on_error
        self._trials = {str(trial.place): trial for trial in asked.trials}
        self._observe = observe
        self._ends: dict[str, TrialOutcome] = {}
        self._at_work = AtWork(store.directory, len(asked.trials))

    def close(self) -> None:
        """Say that nothing is at work any more."""
        self._at_work.close()

    def observe(self, event: TrialEvent) -> None:
        if event.stand:  # too many to be written down
            pass
        elif event.fault:
            self._store.event("fault", trial=event.place, number=event.number, error=event.fault)
        else:
            self._store.event(event.progress, trial=event.place, number=event.number)
        self._at_work.observe(self._trials[event.place], event)
        self._observe(self._trials[event.place], event.progress, event.fault, event.stand)

    def done(self, outcome: TrialOutcome) -> None:
        self._ends[outcome.place] = outcome
        self._at_work.done(outcome)
        if outcome.record and outcome.usage:
            keep_timing(self._trials[outcome.place], outcome.usage)
        codes = list(dict.fromkeys(reason.code for reason in outcome.reasons))
        self._store.event("finished", trial=outcome.place, verdict=outcome.verdict, reasons=codes)
        self._observe(self._trials[outcome.place], Progress.FINISHED, outcome.verdict, None)

    def may_begin(self) -> bool:
        if self.interrupt.happened:
            return False
        errors = sum(end.is_harness_error for end in self._ends.values())
        return self._most_errors is None or errors < self._most_errors

    def outcomes(self) -> list[RunOutcome]:
        """Return the outcomes in the trials' order. A trial that an executor has lost is said to be lost."""
        if self.may_begin():
            for place in self._trials.keys() - self._ends.keys():
                self.done(self._lost(place))
        return [RunOutcome(trial, self._ends[place]) for place, trial in self._trials.items() if place in self._ends]

    def _lost(self, place: str) -> TrialOutcome:
        words = "the executor has ended without an outcome of this trial"
        reason = Reason(code=ReasonCode.HARNESS_ERROR, stage=Stage.TRIAL, words=words)
        log, end = self._store.trial(self._trials[place]).attempts, AttemptEnd.HARNESS_ERROR
        record = AttemptRecord(number=log.next_number(), started=now(), end=end, code=reason.code, message=words)
        log.add(record)
        return TrialOutcome(place=place, verdict=Verdict.UNSCORED, reasons=(reason,))
