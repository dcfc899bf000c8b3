"""Clean ends: what Ctrl-C, SIGTERM and SIGHUP do to work that has containers."""

import asyncio
import signal
import threading
from collections.abc import Coroutine
from types import FrameType
from typing import Any, TypeVar

from harness.specs.signals import heeded

T = TypeVar("T")


def run_to_end(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine as `asyncio.run` does, but so that it can always clean up after itself.

    The first signal cancels it; those that follow change nothing, up to the process's end: its containers
    are being removed by then. Raises KeyboardInterrupt where a signal has ended it. Signals reach a main thread only;
    in any other, this is `asyncio.run`.
    """
    if threading.current_thread() is not threading.main_thread():
        return asyncio.run(main)
    interruption = _Interruption()
    before = {each: signal.signal(each, interruption.caught) for each in heeded()}
    try:
        return asyncio.run(interruption.watch(main))
    except asyncio.CancelledError:
        if interruption.happened:
            raise KeyboardInterrupt from None
        raise
    finally:
        if not interruption.happened:
            for each, handler in before.items():
                signal.signal(each, handler)


class _Interruption:
    """Whether a signal has come, and the work that it cancels."""

    def __init__(self) -> None:
        self.happened = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._work: asyncio.Task[Any] | None = None

    async def watch(self, main: Coroutine[Any, Any, T]) -> T:
        self._loop, self._work = asyncio.get_running_loop(), asyncio.current_task()
        if self.happened:
            main.close()
            raise asyncio.CancelledError
        return await main

    def caught(self, _number: int, _frame: FrameType | None) -> None:
        first, self.happened = not self.happened, True
        if first and self._loop and self._work:
            # Wakes the loop up, which may wait for a socket.
            self._loop.call_soon_threadsafe(self._work.cancel)
