"""The cache directory: files that can be made again, and locks so that no two processes make them at once."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from harness.sandbox.scratch import writing

_POLL_SECONDS = 0.05


def cache_directory() -> Path:
    """`$TESTWRIGHT_CACHE`, else `$XDG_CACHE_HOME/testwright`, else `~/.cache/testwright`."""
    if own := os.environ.get("TESTWRIGHT_CACHE"):
        return Path(own).resolve()
    # The XDG specification has relative values ignored.
    shared = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(shared) if Path(shared).is_absolute() else Path.home() / ".cache") / "testwright"


@asynccontextmanager
async def locked(name: str) -> AsyncIterator[None]:
    """Keep every other coroutine and process of this machine out of `name`.

    Polled, so that a waiter can be cancelled. The kernel lets go when the process dies. Raises ToolFailed where the
    cache can't be written.
    """
    path = cache_directory() / "locks" / f"{name}.lock"
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    while (lock := held(path)) is None:  # noqa: ASYNC110 - who lets go may be another process
        await asyncio.sleep(_POLL_SECONDS)
    try:
        yield
    finally:
        lock.release()


def held(path: Path) -> FileLock | None:
    """A lock on `path`, to be released, or None where somebody else has it. Raises ToolFailed."""
    # Not one of this thread alone: whoever holds it may be waited for, and let go, in another one.
    lock = FileLock(path, thread_local=False)
    with writing(path):
        try:
            lock.acquire(blocking=False)
        except Timeout:
            return None
    return lock
