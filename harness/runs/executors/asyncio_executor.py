"""Trials side by side in this process, on the engine of this machine."""

import asyncio
import logging
from collections.abc import Sequence
from functools import partial
from typing import Any

from harness.runs.concurrency import side_by_side
from harness.runs.executors.protocol import RunObserver, Services, TrialSpec
from harness.runs.outcome import Phase, TrialEvent, TrialOutcome
from harness.runs.plan import RunConfig
from harness.runs.run_context import run_context
from harness.runs.tries import do_trial, harness_error
from harness.tracks.registry import choose_engine

_log = logging.getLogger(__name__)


class AsyncioExecutor:
    """See `Executor`. At most `config.jobs` trials at a time."""

    async def isolation(self, config: RunConfig) -> str:
        engine = choose_engine(config.sandbox)
        await engine.close()
        return engine.isolation

    async def run(self, trials: Sequence[TrialSpec], services: Services) -> None:
        if not trials:
            return
        run = trials[0].run
        working = _Trials(services.observer)
        services.interrupt.wind_down = working.wind_down
        async with run_context(run, services, alone=True) as context:
            for trial in trials:
                context.trial(trial)
            work = partial(do_trial, context, working.observe)
            await side_by_side(
                trials, work, harness_error, run.config.jobs, working.done, services.observer.may_begin
            )


class _Trials:
    """The trials at work and what each is about. What judges a submission is cheap; what agents do is dear."""

    def __init__(self, observer: RunObserver) -> None:
        self._observer = observer
        self._tasks: dict[str, asyncio.Task[Any]] = {}
        self._phases: dict[str, Phase] = {}

    def observe(self, event: TrialEvent) -> None:
        """Hear of a trial, from the task that does it."""
        task = asyncio.current_task()
        assert task is not None, "a coroutine runs in a task"
        self._tasks.setdefault(event.place, task)
        if event.stand:
            self._phases[event.place] = event.stand.phase
        else:
            self._phases.pop(event.place, None)
        self._observer.observe(event)

    def done(self, outcome: TrialOutcome) -> None:
        self._tasks.pop(outcome.place, None)
        self._phases.pop(outcome.place, None)
        self._observer.done(outcome)

    def wind_down(self) -> bool:
        """Stop the agents. Whether submissions are being judged, which is worth waiting for."""
        judged = {place for place, phase in self._phases.items() if phase in (Phase.ARMS, Phase.JUDGE)}
        if judged:
            words = "agents are stopped, submissions that are being judged (%d) are judged to their end; Ctrl-C again"
            _log.warning(f"{words} stops these too", len(judged))
            for place, task in self._tasks.items():
                if place not in judged:
                    task.cancel()
        return bool(judged)
