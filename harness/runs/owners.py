"""Whose containers are whose: a label for each process at work, and which of those processes have died.

A process holds a lock on a file in the cache directory as long as it works; the kernel lets go of it when the process
dies, however that comes. So a later start knows what nobody looks after any more, and leaves everybody else's alone.
"""

import fcntl
import hashlib
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from uuid import uuid4

from harness.sandbox.cache import cache_directory
from harness.sandbox.protocol import Engine

OWNER = "testwright.owner"
"""The label."""
_log = logging.getLogger(__name__)


@contextmanager
def owner(engine: Engine) -> Iterator[dict[str, str]]:
    """The label of everything that is started in this block."""
    name = uuid4().hex
    path = _folder() / f"{name}.{_key(engine)}"
    try:
        file = _locked_file(path)
    except OSError as error:
        _log.warning("%s: %s; should this process be killed, nobody will know its containers", path, error.strerror)
        yield {OWNER: name}
        return
    with file:
        yield {OWNER: name}
        path.unlink(missing_ok=True)


async def reap_the_dead(engine: Engine) -> int:
    """Remove from an engine what processes of this machine have left there that are dead; how many containers."""
    count = 0
    for path in sorted(_folder().glob(f"*.{_key(engine)}")):
        with path.open("rb") as file:
            if _is_locked(file):
                continue
            count += await engine.reap({OWNER: path.name.partition(".")[0]})
            path.unlink(missing_ok=True)
    return count


def _folder() -> Path:
    return cache_directory() / "owners"


def _key(engine: Engine) -> str:
    """Of the machine or service that has the containers: another engine can't remove them."""
    return hashlib.sha256(f"{engine.name} {os.environ.get('DOCKER_HOST', '')}".encode()).hexdigest()[:12]


def _locked_file(path: Path) -> IO[bytes]:
    """Made under another name, so that nobody finds it before it is locked."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}")
    file = new.open("wb")
    fcntl.flock(file, fcntl.LOCK_EX)
    new.rename(path)
    return file


def _is_locked(file: IO[bytes]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False
