"""Trials side by side in this process, on the engine of this machine."""

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from harness.runs.concurrency import side_by_side
from harness.runs.executors.protocol import Services, TrialSpec
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
        at_work = _AtWork(services.observer.observe)
        services.interrupt.wind_down = at_work.wind_down
        async with run_context(run, services, alone=True) as context:
            for trial in trials:
                context.trial(trial)

            async def work(trial: TrialSpec) -> TrialOutcome:
                with at_work.on(trial):
                    return await do_trial(context, trial, at_work.observe)

            await side_by_side(
                trials, work, harness_error, run.config.jobs, services.observer.done, services.observer.may_begin
            )


class _AtWork:
    """The trials at work and what each is about. What judges a submission is cheap; what agents do is dear."""

    def __init__(self, observe: Callable[[TrialEvent], None]) -> None:
        self._observe = observe
        self._tasks: dict[str, asyncio.Task[Any]] = {}
        self._phases: dict[str, Phase] = {}

    @contextmanager
    def on(self, trial: TrialSpec) -> Iterator[None]:
        task = asyncio.current_task()
        assert task is not None, "a coroutine runs in a task"
        self._tasks[trial.place] = task
        try:
            yield
        finally:
            del self._tasks[trial.place]
            self._phases.pop(trial.place, None)

    def observe(self, event: TrialEvent) -> None:
        if event.stand:
            self._phases[event.place] = event.stand.phase
        else:
            self._phases.pop(event.place, None)
        self._observe(event)

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
