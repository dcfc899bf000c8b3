"""Many items of work at once: a limit, an error boundary around each item, results in the items' order.

Clean ends: what Ctrl-C, SIGTERM and SIGHUP do to work that has containers.
"""

import asyncio
import signal
import threading
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from types import FrameType
from typing import Any, TypeVar

from harness.specs.errors import first_error
from harness.specs.signals import heeded

T = TypeVar("T")
R = TypeVar("R")


def always() -> bool:
    """Let every item begin."""
    return True


async def side_by_side(
    items: Sequence[T],
    work: Callable[[T], Awaitable[R]],
    failed: Callable[[T, Exception], R],
    jobs: int,
    ended: Callable[[R], None] = lambda _: None,
    may_begin: Callable[[], bool] = always,
) -> list[R]:
    """Do `work` for each item, at most `jobs` at a time, begun in their order.

    Args:
        items: In the order in which they begin.
        work: What is done for one.
        failed: Makes a result of an error that `work` raises, which so costs its item only. What this raises ends
            everything.
        jobs: How many at a time.
        ended: Told of each result. What this raises ends everything.
        may_begin: Asked before each item; where it says no, the item is left out.

    Returns:
        The results of all items that began, in their order.
    """
    turns = asyncio.Semaphore(jobs)
    results: dict[int, R] = {}

    async def turn(number: int, item: T) -> None:
        async with turns:
            if not may_begin():
                return
            try:
                results[number] = await work(item)
            except Exception as error:
                results[number] = failed(item, error)
            ended(results[number])

    with first_error():
        async with asyncio.TaskGroup() as group:
            for number, item in enumerate(items):
                group.create_task(turn(number, item))
    return [results[number] for number in sorted(results)]


MainT = TypeVar("MainT")


WindDown = Callable[[], bool]
"""Stops what is dear and lets what is cheap come to its end. False: there is nothing worth waiting for."""


class FirstInterrupt:
    """The reaction to the first Ctrl-C: whoever does a run's work sets it here. Without that, it ends everything."""

    def __init__(self) -> None:
        self.wind_down: WindDown | None = None
        self.happened = False

    def __call__(self) -> bool:
        self.happened = True
        return self.wind_down is not None and self.wind_down()


def run_to_end(main: Coroutine[Any, Any, MainT], first: FirstInterrupt | None = None) -> MainT:
    """Run a coroutine as `asyncio.run` does, but so that it can always clean up after itself.

    The first signal cancels it; those that follow change nothing, up to the process's end: its containers are being
    removed by then. With `first`, a Ctrl-C asks that instead, and where it finds something worth waiting for, only
    the second one cancels. Signals reach a main thread only; in any other, this is `asyncio.run`.

    Raises:
        KeyboardInterrupt: A signal has ended it.
    """
    if threading.current_thread() is not threading.main_thread():
        return asyncio.run(main)
    interruption = _Interruption(first)
    before = {each: signal.signal(each, interruption.caught) for each in heeded()}
    try:
        with asyncio.Runner() as runner:
            loop = runner.get_loop()
            work = loop.create_task(main)
            interruption.watch(loop, work)
            result = loop.run_until_complete(work)
    except asyncio.CancelledError:
        if interruption.happened:
            raise KeyboardInterrupt from None
        raise
    else:
        if interruption.is_winding_down:
            raise KeyboardInterrupt
        return result
    finally:
        if not interruption.happened:
            for each, handler in before.items():
                signal.signal(each, handler)


class _Interruption:
    """A signal that may have come, and the work that it cancels."""

    def __init__(self, first: FirstInterrupt | None) -> None:
        self.happened = False
        self.is_winding_down = False
        self._first = first
        self._is_cancelled = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._work: asyncio.Task[Any] | None = None

    def watch(self, loop: asyncio.AbstractEventLoop, work: asyncio.Task[Any]) -> None:
        """Cancel this work where a signal comes, or has come already."""
        self._loop, self._work = loop, work
        if self.happened:
            self._cancel()

    def caught(self, number: int, _frame: FrameType | None) -> None:
        """Wake the loop up, which may wait for a socket."""
        self.happened = True
        if self._loop is None or self._work is None:
            return
        if self._first and number == signal.SIGINT and not self._first.happened:
            self._loop.call_soon_threadsafe(self._ask_first)
        else:
            self._loop.call_soon_threadsafe(self._cancel)

    def _ask_first(self) -> None:
        assert self._first is not None, "it is asked only where it is there"
        if self._first.happened or not self._first():
            self._cancel()
        else:
            self.is_winding_down = True

    def _cancel(self) -> None:
        if self._work and not self._is_cancelled:
            self._is_cancelled = True
            self._work.cancel()
