"""Which images are in use, told to every process of this machine, and when each was last used."""

import contextlib
import fcntl
import os
from collections import Counter
from pathlib import Path
from typing import IO

from harness.sandbox.cache import cache_directory


class ImagesInUse:
    """The images that one engine works with. Each has a file with a shared lock, which a dead process lets go of."""

    def __init__(self) -> None:
        self._files: dict[str, IO[bytes]] = {}
        self._counts: Counter[str] = Counter()

    def hold(self, tag: str) -> None:
        """Until `release` was called as often. Without a cache that can be written, nothing is told."""
        self._counts[tag] += 1
        with contextlib.suppress(OSError):
            if tag not in self._files:
                path = _mark(tag)
                path.parent.mkdir(parents=True, exist_ok=True)
                self._files[tag] = path.open("ab")
                fcntl.flock(self._files[tag], fcntl.LOCK_SH | fcntl.LOCK_NB)
            os.utime(_mark(tag))

    def release(self, tag: str) -> None:
        self._counts[tag] -= 1
        if self._counts[tag] <= 0 and (file := self._files.pop(tag, None)):
            file.close()

    def close(self) -> None:
        for file in self._files.values():
            file.close()
        self._files.clear()


def is_in_use(tag: str) -> bool:
    """Whether any process of this machine holds an image."""
    try:
        with _mark(tag).open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:  # somebody holds it, or nobody can tell
        return True
    return False


def last_used(tag: str) -> float | None:
    """Seconds of the epoch; None for an image that this machine has not used."""
    try:
        return _mark(tag).stat().st_mtime
    except OSError:
        return None


def file_name(tag: str) -> str:
    """Of the file about an image."""
    return tag.removeprefix("testwright/").replace("/", "-").replace(":", "-")


def _mark(tag: str) -> Path:
    return cache_directory() / "in-use" / file_name(tag)
