"""The time that waits and limits are counted in."""

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """Tells the time and waits. Tests bring one whose minutes take no time."""

    def now(self) -> float:
        """Seconds since some fixed moment; never goes backwards."""
        ...

    async def sleep(self, seconds: float) -> None: ...


class SystemClock:
    """The machine's own clock, whatever the date is set to."""

    def now(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


SYSTEM_CLOCK = SystemClock()
