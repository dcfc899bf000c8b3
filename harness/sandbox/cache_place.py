"""The cache directory's place, and processes that had containers and died: told without any import that costs time.

A process with containers holds a lock on a file in `owners/` of the cache directory as long as it works; the kernel
lets go of it when the process dies. See `harness.runs.owners`, which removes what the dead have left.
"""

import fcntl
import hashlib
import os
from collections.abc import Collection
from pathlib import Path

SANDBOXES_HERE = ("docker", "local")
"""Sandboxes of this machine that need no argument, by the names of their engines."""


def cache_directory() -> Path:
    """Return `$TESTWRIGHT_CACHE`, else `$XDG_CACHE_HOME/testwright`, else `~/.cache/testwright`."""
    if own := os.environ.get("TESTWRIGHT_CACHE"):
        return Path(own).resolve()
    # The XDG specification has relative values ignored.
    shared = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(shared) if Path(shared).is_absolute() else Path.home() / ".cache") / "testwright"


def owners_folder() -> Path:
    """Return the directory with a locked file of each process that has containers."""
    return cache_directory() / "owners"


def engine_key(name: str, argument: str = "") -> str:
    """Return the key of the machine or service that has the containers: another engine can't remove them.

    Args:
        name: The engine's.
        argument: What followed the sandbox's name.
    """
    whole = f"{name}:{argument}" if argument else name
    return hashlib.sha256(f"{whole} {os.environ.get('DOCKER_HOST', '')}".encode()).hexdigest()[:12]


def sandboxes_with_dead_owners() -> Collection[str]:
    """Return those of `SANDBOXES_HERE` on which a process that is dead may have left something."""
    keys = {engine_key(name): name for name in SANDBOXES_HERE}
    try:
        files = list(owners_folder().iterdir())
    except OSError:
        return ()
    return {keys[key] for path in files if (key := path.name.partition(".")[2]) in keys and _is_free(path)}


def _is_free(path: Path) -> bool:
    """Tell if nobody holds the lock; not where it can't be asked for. It is let go of at once."""
    try:
        with path.open("rb+") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
