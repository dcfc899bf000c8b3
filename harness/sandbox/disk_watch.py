"""Disk caps where the file system has no quota: looks at sizes, and ends processes past their limit."""

import asyncio
import errno
import os
import stat
import time
from collections.abc import Awaitable, Callable

from harness.sandbox.protocol import LimitReached
from harness.specs.errors import EndedFromOutside, InfrastructureError

MIN_SECONDS = 1.0
SHARE_OF_TIME = 0.1
"""A look at a large tree takes a while, so looks get rarer as they get longer."""
BYTES_PER_ENTRY = 512
"""Bytes of an inode and its name, so that a million empty files are not free."""


async def watch_disk(
    measure: Callable[[], Awaitable[int]], limit_mb: int, on_breach: Callable[[LimitReached], Awaitable[None]]
) -> None:
    """Measure until the limit is exceeded; tell `on_breach` then and return. Until then run until cancelled."""
    pause = MIN_SECONDS
    while True:
        await asyncio.sleep(pause)
        began = time.monotonic()
        try:
            if await measure() > limit_mb << 20:
                await on_breach(LimitReached("disk", f"more than {limit_mb} MiB written"))
                return
        except EndedFromOutside:  # whoever waits for the sandbox learns of it there
            return
        except InfrastructureError:  # an engine that was busy once answers again, and the limit still holds
            pass
        pause = max(MIN_SECONDS, (time.monotonic() - began) / SHARE_OF_TIME)


def tree_bytes(directory: str, stop_at: int) -> int:
    """Return what the files below a directory take on disk, hard links once; stops counting past `stop_at`."""
    total = 0
    linked: set[tuple[int, int]] = set()
    pending = [directory]
    while pending and total <= stop_at:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    total += BYTES_PER_ENTRY + _size(entry, linked, pending)
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:  # nested this deep only to hide
                return stop_at + 1
    return total


def _size(entry: os.DirEntry[str], linked: set[tuple[int, int]], pending: list[str]) -> int:
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:  # gone while we looked
        return 0
    if stat.S_ISDIR(status.st_mode):
        pending.append(entry.path)
        return 0
    if status.st_nlink > 1:
        key = status.st_dev, status.st_ino
        if key in linked:
            return 0
        linked.add(key)
    return status.st_blocks * 512
