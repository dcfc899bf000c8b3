"""Reads a submission's files: off the event loop, and with a time limit that no honest file reaches."""

from collections.abc import Callable
from typing import TypeVar

from harness.languages.found import TooMuchToRead
from harness.testing.threads import Limit, TooSlow, in_thread

T = TypeVar("T")
READING = Limit(cpu_seconds=60, wall_seconds=1800)
"""For all files of a submission together. A megabyte of tests takes a few seconds, since reading is linear."""
AGAIN = Limit(cpu_seconds=600, wall_seconds=7200)
"""For what was read within READING before: nothing of it is refused any more."""


async def read_apart(call: Callable[[], T], limit: Limit = READING) -> T:
    """What `call` returns or raises. Raises TooMuchToRead where it takes longer than `limit`."""
    try:
        return await in_thread(call, limit)
    except TooSlow:
        words = f"finding the tests in the changed files took more than {limit.cpu_seconds:g} s of processor time"
        raise TooMuchToRead(words) from None
