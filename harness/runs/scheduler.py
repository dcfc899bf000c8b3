"""A run's trials as an executor gets them, in which order, and their outcomes.

How long trials took on this machine, so that the longest of a run begin first.
"""

import contextlib
import json
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean

from harness.models.allowance import Spending
from harness.models.rate_limits import LimiterService
from harness.models.replay import now
from harness.runs.additions import AskedRun
from harness.runs.at_work import AtWork
from harness.runs.concurrency import FirstInterrupt
from harness.runs.executors.protocol import RunObserver, RunSpec, Services, TrialSpec
from harness.runs.outcome import Observer, Progress, RunOutcome, TrialEvent, TrialOutcome
from harness.runs.plan import RunConfig, Trial
from harness.runs.records import AttemptEnd, AttemptRecord, write_whole
from harness.runs.store import RunStore
from harness.runs.trial_store import UsageFile
from harness.sandbox.host import cache_directory
from harness.specs.catalog import Catalog
from harness.specs.reasons import Reason, ReasonCode, Stage, Verdict
from harness.specs.usage import NO_USAGE


def keep_timing(trial: Trial, usage: UsageFile) -> None:
    """Note what a trial took; where the cache can't be written, nobody knows."""
    seconds = usage.agent_seconds + usage.verify_seconds
    known = _known(trial.task.id)
    if seconds > 0 and known.get(trial.system) != seconds:
        with contextlib.suppress(OSError):
            path = _file(trial.task.id)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, json.dumps({**known, trial.system: round(seconds, 1)}, indent=1) + "\n")


def longest_first(trials: Iterable[Trial]) -> list[Trial]:
    """Return trials by the time that the same task took the same system, else other systems.

    Those of unknown tasks are in the middle. Trials of the same length stay in their order.
    """
    trials = list(trials)
    known = {task: _known(task) for task in {trial.task.id for trial in trials}}
    means = [fmean(times.values()) for times in known.values() if times]
    middle = fmean(means) if means else 0.0

    def seconds(trial: Trial) -> float:
        times = known[trial.task.id]
        return times.get(trial.system) or (fmean(times.values()) if times else middle)

    return sorted(trials, key=lambda trial: -seconds(trial))


def _known(task: str) -> dict[str, float]:
    """Return system -> seconds."""
    try:
        found = json.loads(_file(task).read_text())
        return {str(system): float(seconds) for system, seconds in found.items()}
    except (OSError, ValueError, TypeError, AttributeError):  # absent, or another process's torn file
        return {}


def _file(task: str) -> Path:
    return cache_directory() / "timings" / f"{task}.json"


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
