"""When a job has used up its time. A busy machine must change nothing about that, and a hang must come to an end.

`Job.seconds` are seconds on an idle machine of reference speed. A job is ended when

- its processes have used that much CPU time on each core that they may use: this ends what computes without end; or
- WALL_TIMES as many seconds have passed in which none of them wanted a core: this ends what waits without end.

Time in which a process wants a core, and may not get one since others keep the machine busy, hardly counts for the
second limit: it counts for the first as far as the process got one. Both limits grow with how slow this machine is
(machine.py). Before `seconds` have passed neither can be reached, and nobody is asked anything.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, NamedTuple

from harness.sandbox.machine import slowness
from harness.specs.errors import EndedFromOutside, InfrastructureError

WALL_TIMES = 3
TEST_TIMES = 2
"""A single test may take so many times its seconds: its own clock, in the container, knows nothing of the load."""
BUSY_RATE = 0.1
"""Of the time in which a process wants a core, this much counts as waiting: whatever a job does comes to an end."""
_STEP_SECONDS = 1.0
_LONGEST_STEP_SECONDS = 3.0
"""A longer one counts as this: then this process itself got no core."""
_MAX_FAILURES = 3
"""An engine that says so often on end that it can't tell what a job has used is lost."""


def seconds_per_test(seconds: float) -> int:
    """The limit of a single test by the wall clock of its container, in whole seconds."""
    return round(seconds * TEST_TIMES * slowness() + 0.5)


class Use(NamedTuple):
    """What a job's processes have used so far, those that have ended included, and whether one wants a core now."""

    cpu_seconds: float
    wants_core: bool


@dataclass(frozen=True)
class TimeLimit:
    """Seconds before which nothing can be used up, seconds of CPU time, and seconds of waiting."""

    least: float
    cpu: float
    waiting: float

    @classmethod
    def of(cls, seconds: float, cores: float) -> "TimeLimit":
        """The limit of a job of `seconds` that may use so many cores, on this machine."""
        scaled = seconds * slowness()
        return cls(scaled, scaled * cores, scaled * WALL_TIMES)


async def expire(limit: TimeLimit, ask: Callable[[], Awaitable[Use]]) -> None:
    """Returns once a job that begins now has used up `limit`; `ask` says what it has used.

    Raises EndedFromOutside where `ask` does, and another InfrastructureError where it does so several times on end.
    """
    await asyncio.sleep(limit.least)
    waited, last, failures = limit.least, time.monotonic(), 0
    while True:
        use = Use(0.0, wants_core=False)
        try:
            use, failures = await ask(), 0
        except EndedFromOutside:
            raise
        except InfrastructureError:  # the job may have ended just now; who waits for it learns of that there
            failures += 1
            if failures == _MAX_FAILURES:
                raise
        now = time.monotonic()
        waited += min(now - last, _LONGEST_STEP_SECONDS) * (BUSY_RATE if use.wants_core else 1.0)
        last = now
        if use.cpu_seconds >= limit.cpu or waited >= limit.waiting:
            return
        await asyncio.sleep(min(_STEP_SECONDS, limit.least / 4))


async def ends_before(work: Coroutine[Any, Any, None], expiry: Coroutine[Any, Any, None]) -> bool:
    """Whether `work` ended before `expiry`; the later one is cancelled. Raises what the first one raises."""
    tasks = [asyncio.ensure_future(work), asyncio.ensure_future(expiry)]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        task.result()
    return tasks[0] in done
