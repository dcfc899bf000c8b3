"""Hands a run's trials to an executor, and collects their outcomes in order."""

from collections.abc import Iterable
from pathlib import Path

from harness.llm.rate_limits import LimiterService
from harness.llm.recording import now
from harness.llm.spending import Spending
from harness.runs.additions import Asked
from harness.runs.attempts import AttemptEnd, AttemptRecord
from harness.runs.executors.protocol import Executor, RunSpec, Services, TrialSpec
from harness.runs.interruption import FirstInterrupt
from harness.runs.outcome import Observer, Outcome, Progress, TrialEvent, TrialOutcome
from harness.runs.plan import RunConfig, RunFile, Trial
from harness.runs.store import RunStore
from harness.runs.timings import keep_timing, longest_first
from harness.specs.catalog import Catalog
from harness.specs.reasons import Reason, ReasonCode, Stage, Verdict
from harness.specs.usage import NO_USAGE


def trial_specs(
    catalog: Catalog, config: RunConfig, run_id: str, directory: Path, trials: Iterable[Trial]
) -> list[TrialSpec]:
    """The trials as data, for processes that have the same catalog and the same run directory."""
    run = RunSpec(id=run_id, directory=directory.absolute(), catalog=catalog.directory, config=config)
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


async def run_all(
    executor: Executor,
    catalog: Catalog,
    asked: Asked,
    run: RunFile,
    store: RunStore,
    observe: Observer,
    limiters: LimiterService,
    interrupt: FirstInterrupt,
) -> list[Outcome]:
    """Run what is missing of the trials that are asked for; an outcome for each, in their order.

    After `config.fail_on_error` harness errors, or an interrupt, no trial is begun any more; those have no outcome.
    """
    config, trials = asked.config, asked.trials
    # What earlier starts in this directory have spent counts: the cap is the run's, however often it is started.
    budget = Spending(config.max_cost_usd, usage=store.spent() if config.max_cost_usd else NO_USAGE)
    watch = _Watch(store, config.fail_on_error, trials, observe, interrupt)
    services = Services(budget, limiters, watch.done, watch.observe, watch.may_begin, interrupt)
    order = longest_first(trials) if config.jobs > 1 else trials
    await executor.run(trial_specs(catalog, config, run.id, store.directory, order), services)
    return watch.outcomes()


class _Watch:
    """Writes down and passes on what trials do, and says when enough have failed."""

    def __init__(
        self,
        store: RunStore,
        most_errors: int | None,
        trials: list[Trial],
        observe: Observer,
        interrupt: FirstInterrupt,
    ) -> None:
        self._interrupt = interrupt
        self._store = store
        self._most_errors = most_errors
        self._trials = {str(trial.place): trial for trial in trials}
        self._observe = observe
        self._ends: dict[str, TrialOutcome] = {}

    def observe(self, event: TrialEvent) -> None:
        if event.stand:  # too many to be written down
            pass
        elif event.fault:
            self._store.event("fault", trial=event.place, number=event.number, error=event.fault)
        else:
            self._store.event(event.progress, trial=event.place, number=event.number)
        self._observe(self._trials[event.place], event.progress, event.fault, event.stand)

    def done(self, end: TrialOutcome) -> None:
        self._ends[end.place] = end
        if end.record and end.usage:
            keep_timing(self._trials[end.place], end.usage)
        codes = list(dict.fromkeys(reason.code for reason in end.reasons))
        self._store.event("finished", trial=end.place, verdict=end.verdict, reasons=codes)
        self._observe(self._trials[end.place], Progress.FINISHED, end.verdict, None)

    def may_begin(self) -> bool:
        if self._interrupt.happened:
            return False
        errors = sum(end.is_harness_error for end in self._ends.values())
        return self._most_errors is None or errors < self._most_errors

    def outcomes(self) -> list[Outcome]:
        """In the trials' order. A trial that an executor has lost is said to be lost."""
        if self.may_begin():
            for place in self._trials.keys() - self._ends.keys():
                self.done(self._lost(place))
        return [Outcome(trial, self._ends[place]) for place, trial in self._trials.items() if place in self._ends]

    def _lost(self, place: str) -> TrialOutcome:
        words = "the executor has ended without an outcome of this trial"
        reason = Reason(code=ReasonCode.HARNESS_ERROR, stage=Stage.TRIAL, words=words)
        log, end = self._store.trial(self._trials[place]).attempts, AttemptEnd.HARNESS_ERROR
        record = AttemptRecord(number=log.next_number(), started=now(), end=end, code=reason.code, message=words)
        log.add(record)
        return TrialOutcome(place=place, verdict=Verdict.UNSCORED, reasons=(reason,))
