"""Trials side by side in this process, on the engine of this machine."""

from collections.abc import Sequence

from harness.runs.executors.protocol import Services, TrialSpec
from harness.runs.outcome import TrialOutcome
from harness.runs.plan import RunConfig
from harness.runs.run_context import run_context
from harness.runs.side_by_side import side_by_side
from harness.runs.tries import do_trial, harness_error
from harness.tracks.engines import choose_engine


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
        async with run_context(run, services, alone=True) as context:

            async def work(trial: TrialSpec) -> TrialOutcome:
                return await do_trial(context, trial, services.observe)

            await side_by_side(trials, work, harness_error, run.config.jobs, services.done, services.may_begin)
