"""One trial in a process of its own, for executors that start processes: `python -m harness.runs.executors.worker`.

The trial's description comes on stdin, its outcome goes to stdout, both as JSON.
"""

import sys

from harness.models.allowance import Spending
from harness.models.rate_limits import RateLimiters
from harness.runs.concurrency import run_to_end
from harness.runs.executors.protocol import Services, TrialSpec
from harness.runs.outcome import TrialOutcome
from harness.runs.run_context import run_context
from harness.runs.store import spent_in
from harness.runs.tries import do_trial
from harness.specs.signals import end_like_an_interrupt
from harness.specs.usage import NO_USAGE


async def do_one(spec: TrialSpec, services: Services | None = None) -> TrialOutcome:
    """Do a trial with an engine and models of its own.

    Without `services` the money that counts is what the run's directory says has been spent, and rate limits are this
    process's own: right where trials are done one after another.
    """
    limit = spec.run.config.max_cost_usd
    budget = Spending(limit, usage=spent_in(spec.run.directory) if limit else NO_USAGE)
    shared = services or Services(budget, RateLimiters())
    async with run_context(spec.run, shared) as context:
        return await do_trial(context, shared.observer.observe, spec)


def main() -> None:
    """Do the trial that standard input describes; print its outcome."""
    end_like_an_interrupt()
    spec = TrialSpec.model_validate_json(sys.stdin.read())
    print(run_to_end(do_one(spec)).model_dump_json())


if __name__ == "__main__":
    main()
