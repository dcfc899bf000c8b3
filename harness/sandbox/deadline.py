"""Deadlines of jobs. A busy machine must change nothing about them, and a hang must come to an end.

`Job.seconds` are seconds on an idle machine of reference speed. A job is ended when

- its processes have used that much CPU time on each core that they may use: this ends what computes without end; or
- WALL_TIMES as many seconds have passed in which none of them wanted a core: this ends what waits without end.

Time in which a process could run, and may not get a core since others keep the machine busy, counts for neither: it
counts for the first as far as the process got one. A job that gets next to no core for very long is lost (`Starved`):
it shows nothing then. Time in which a process waits for a disk hardly counts for the second limit. Both limits grow
with how slow this machine is (`slowness`). Before `seconds` have passed neither can be reached.
"""

import asyncio
import contextlib
import random
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, NamedTuple

from harness.sandbox.machine_speed import slowness
from harness.specs.errors import EndedFromOutside, InfrastructureError, Starved

WALL_TIMES = 3
TEST_TIMES = 2
"""A single test may take so many times its seconds: its own clock, in the container, knows nothing of the load."""
BUSY_RATE = 0.1
"""Share of the time of a wait for a disk that counts as waiting, and of the time in which a process could run that
counts as starving: so every job comes to an end.
"""
_STEP_SECONDS = 1.0
_LONGEST_STEP_SECONDS = 3.0
"""A longer one counts as this: then this process itself got no core."""
_MAX_FAILURES = 3
"""An engine that says so often on end that it can't tell what a job has used is lost."""


def seconds_per_test(seconds: float) -> int:
    """Return the limit of a single test by the wall clock of its container, in whole seconds."""
    return round(seconds * TEST_TIMES * slowness() + 0.5)


class Use(NamedTuple):
    """Time that a job's processes have used, ended ones included, and whether one wants a core now.

    `wants_core` holds for what could run and for what waits for a disk; `only_disk` says that none could run. A
    process can bring itself into a wait that looks like one for a disk, never into wanting a core that it lets be.
    """

    cpu_seconds: float
    wants_core: bool
    only_disk: bool = False

    @classmethod
    def of(cls, cpu_seconds: float, states: set[str]) -> "Use":
        """Return what processes have used whose states are these letters, as `ps` has them."""
        return cls(cpu_seconds, bool(states & {"R", "D"}), "D" in states and "R" not in states)


@dataclass(frozen=True)
class TimeLimit:
    """Seconds before which nothing can be used up, seconds of CPU time, and seconds of waiting."""

    least: float
    cpu: float
    waiting: float

    @classmethod
    def of(cls, seconds: float, cores: float) -> "TimeLimit":
        """Return the limit of a job of `seconds` that may use so many cores, on this machine."""
        scaled = seconds * slowness()
        return cls(scaled, scaled * cores, scaled * WALL_TIMES)


class OwnTime:
    """The time that a job takes by itself: CPU time, and time in which none of its processes could have run.

    However busy the machine is, this hardly grows. It is looked at every few seconds; what is shorter counts as it
    passed by the clock.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last = clock()
        self._cpu = self._seconds = 0.0

    def look(self, use: Use) -> None:
        """Count the time since the last look."""
        now = self._clock()
        cpu, passed = max(0.0, use.cpu_seconds - self._cpu), now - self._last
        self._seconds += cpu if use.wants_core and not use.only_disk else max(cpu, passed)
        self._cpu, self._last = max(self._cpu, use.cpu_seconds), now

    def seconds(self) -> float:
        """Return the job's own seconds up to now."""
        now = self._clock()
        return self._seconds + min(now - self._last, 2 * _LOOK_SECONDS)


_LOOK_SECONDS = 2.0
"""Between two looks at a job's own time."""


async def expire(limit: TimeLimit, ask: Callable[[], Awaitable[Use]], own: OwnTime | None = None) -> None:
    """Wait until a job that begins now has used up its limit.

    Args:
        limit: Of the job's own time, and of the clock's.
        ask: Says what the job has used.
        own: Told what it has used, each time that it is asked.

    Raises:
        EndedFromOutside: `ask` raises it.
        InfrastructureError: `ask` raises it several times on end.
        Starved: Others let the job have next to no core.
    """
    began = time.monotonic()
    while own and limit.least - (time.monotonic() - began) > _LOOK_SECONDS:
        await asyncio.sleep(_LOOK_SECONDS * random.uniform(0.5, 1))  # so that no job can be busy just when it is seen
        with contextlib.suppress(InfrastructureError):  # it may have ended just now, and nothing depends on it yet
            own.look(await ask())
    await asyncio.sleep(max(0.0, limit.least - (time.monotonic() - began)))
    waited, starved, last, failures = limit.least, limit.least, time.monotonic(), 0
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
        if own and not failures:
            own.look(use)
        now = time.monotonic()
        step, last = min(now - last, _LONGEST_STEP_SECONDS), now
        if use.wants_core and not use.only_disk:
            starved += step * BUSY_RATE
        else:
            waited += step * (BUSY_RATE if use.only_disk else 1.0)
        if use.cpu_seconds >= limit.cpu or waited >= limit.waiting:
            return
        if starved >= limit.waiting:
            raise Starved(f"a busy machine let a job have only {use.cpu_seconds:.0f} s of CPU in {now - began:.0f} s")
        await asyncio.sleep(min(_STEP_SECONDS, limit.least / 4) * random.uniform(0.5, 1))


async def ends_before(work: Coroutine[Any, Any, None], expiry: Coroutine[Any, Any, None]) -> bool:
    """Return whether `work` ended before `expiry`; cancel the later one, and raise what the first one raises."""
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
