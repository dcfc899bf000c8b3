"""Calling a function off the event loop, with a limit on the processor time that it may take."""

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Generic, NamedTuple, TypeVar

from harness.specs.errors import Starved

T = TypeVar("T")
_LOOK_SECONDS = 0.5


class TooSlow(Exception):
    """A call that was given up, since it took more processor time than its limit."""


class CpuLimit(NamedTuple):
    """A limit on the seconds of a call: of processor time, which a busy machine doesn't stretch, and by the clock.

    Who comes to the first has done too much. The second one only keeps a call from never ending: it shows nothing.
    """

    cpu_seconds: float
    wall_seconds: float


async def in_thread(call: Callable[[], T], limit: CpuLimit) -> T:
    """Return what a call returns or raises, run in a thread of its own.

    A thread can't be ended: a call that was given up goes on until it returns, and its result is dropped. Its thread
    is a daemon, so that it doesn't keep the process from ending.

    Raises:
        TooSlow: The call took more processor time than `limit` gives it.
        Starved: It had less than that, and didn't end within the limit by the clock.
    """
    done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
    work = _Work(call, done)
    threading.Thread(target=work.run, name="off the loop", daemon=True).start()
    end = time.monotonic() + limit.wall_seconds
    try:
        while not done.done():
            await asyncio.wait([done], timeout=min(_LOOK_SECONDS, *limit))
            if done.done():
                break
            if (used := work.cpu_seconds()) > limit.cpu_seconds:
                raise TooSlow
            if time.monotonic() > end:
                raise Starved(f"reading wasn't done after {limit.wall_seconds:g} s, with {used:.0f} s of CPU")
        return done.result()
    finally:
        done.cancel()


class _Work(Generic[T]):
    def __init__(self, call: Callable[[], T], done: "asyncio.Future[T]") -> None:
        self._call, self._done = call, done
        self._loop = done.get_loop()
        self._clock: int | None = None

    def cpu_seconds(self) -> float:
        """Return what the call has used so far. Zero before it starts, after its end, and where no such clock is."""
        if self._clock is None:
            return 0.0
        try:
            return time.clock_gettime(self._clock)
        except OSError:
            return 0.0

    def run(self) -> None:
        if hasattr(time, "pthread_getcpuclockid"):
            self._clock = time.pthread_getcpuclockid(threading.get_ident())
        try:
            result = self._call()
        except BaseException as error:
            self._tell(partial(self._done.set_exception, error))
        else:
            self._tell(partial(self._done.set_result, result))

    def _tell(self, settle: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._settle, settle)

    def _settle(self, settle: Callable[[], None]) -> None:
        if not self._done.done():
            settle()
