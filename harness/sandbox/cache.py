"""The cache directory: what can be made again, and locks so that it isn't made twice at once."""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

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

    Polled, so that a waiter can be cancelled. The kernel lets go when the process dies.
    """
    path = cache_directory() / "locks" / f"{name}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                await asyncio.sleep(_POLL_SECONDS)
        yield
