"""Companions of jobs, on any engine: when one is ready, and what its loss means for the job.

A companion is ours, as the application in it is: its output is trusted, and what the tests of a job print never gets
there.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from harness.sandbox.channel import BoundedOutput
from harness.sandbox.protocol import READY
from harness.specs.errors import EndedFromOutside, ImageUnavailable

T = TypeVar("T")
LOST = "the companion of a job ended before the job did"
_READY_LINE = READY.encode()
_LAST_LINES = 5
_MOST_WORDS = 1000


class CompanionLog(BoundedOutput):
    """A log of what a companion prints, which sees the line that says that it is ready."""

    def __init__(self) -> None:
        super().__init__()
        self.ready = asyncio.Event()
        self._line = b""

    def add(self, data: bytes | bytearray | memoryview) -> None:
        super().add(data)
        if not self.ready.is_set():
            *lines, self._line = (self._line + bytes(data)).split(b"\n")
            if _READY_LINE in lines:
                self.ready.set()

    @property
    def last_words(self) -> str:
        """The last lines of it, in one."""
        lines = self.value.decode(errors="replace").strip().splitlines()[-_LAST_LINES:]
        return " / ".join(line.strip() for line in lines)[-_MOST_WORDS:] or "it printed nothing"


async def until_ready(log: CompanionLog, ended: "asyncio.Future[None]", expiry: Coroutine[Any, Any, None]) -> None:
    """Wait until a companion is ready.

    Args:
        log: What it prints.
        ended: Done when its main command has ended.
        expiry: Returns once it has used up the time that it may take; see `expire`.

    Raises:
        ImageUnavailable: It ended, or has used up its time; with the last that it printed.
        SandboxLost: What `ended` or `expiry` raise: it was ended from outside, or got no core.
    """
    ready, late = asyncio.ensure_future(_set(log.ready)), asyncio.ensure_future(expiry)
    try:
        await asyncio.wait([ready, late, ended], return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (ready, late):
            task.cancel()
        await asyncio.gather(ready, late, return_exceptions=True)
    if log.ready.is_set():
        return
    if ended.done():
        ended.result()
        raise ImageUnavailable(f"the application ended before it was ready: {log.last_words}")
    late.result()
    raise ImageUnavailable(f"the application was not ready in the time that it may take: {log.last_words}")


async def beside(work: Coroutine[Any, Any, T], ended: "asyncio.Future[None] | None") -> T:
    """Return what a job's work comes to, as long as its companion is there.

    Args:
        work: The job's; cancelled where the companion is lost.
        ended: Done when the companion has ended; None where there is none.

    Raises:
        EndedFromOutside: The companion was lost, and so nothing is known of the job.
    """
    if ended is None:
        return await work
    task: asyncio.Future[T] = asyncio.ensure_future(work)
    try:
        await asyncio.wait((task, ended), return_when=asyncio.FIRST_COMPLETED)
    finally:
        if not task.done():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
    if ended.done():
        if not task.cancelled():
            task.exception()  # whatever it was: it is no evidence
        raise EndedFromOutside(LOST)
    return task.result()


async def _set(event: asyncio.Event) -> None:
    await event.wait()
