"""Owners of containers: a label for each process at work, and which of those processes have died.

A process holds a lock on a file in the cache directory as long as it works; the kernel lets go of it when the process
dies, however that comes. So a later start knows what nobody looks after any more, and leaves everybody else's alone.

Finds and removes what runs have left behind on this machine.
"""

import asyncio
import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from filelock import FileLock

from harness.runs.concurrency import run_to_end
from harness.sandbox.abilities import ListingEngine, Remains
from harness.sandbox.cache_place import cache_directory, engine_key, owners_folder, sandboxes_with_dead_owners
from harness.sandbox.host import held, writing
from harness.sandbox.protocol import Engine
from harness.specs.errors import InfrastructureError, ToolFailed, UserError
from harness.tracks.registry import choose_engine, engines_here

OWNER = "testwright.owner"
"""The label."""
_REAP_SECONDS = 60
_log = logging.getLogger(__name__)


@contextmanager
def owner(engine: Engine, argument: str = "") -> Iterator[dict[str, str]]:
    """Provide the label of everything that is started in this block.

    `argument` is what followed the sandbox's name.
    """
    try:
        lock, name = _locked(engine_key(engine.name, argument))
    except ToolFailed as error:
        _log.warning("%s; should this process be killed, nobody will know its containers", error)
        yield {OWNER: uuid4().hex}
        return
    try:
        yield {OWNER: name}
        Path(lock.lock_file).unlink(missing_ok=True)
    finally:
        lock.release()


async def reap_the_dead(engine: Engine, argument: str = "") -> int:
    """Remove from an engine what processes of this machine have left there that are dead; how many containers."""
    count = 0
    for path in sorted(owners_folder().glob(f"*.{engine_key(engine.name, argument)}")):
        try:
            lock = held(path)  # one that is gone by now is made anew: there is nothing to remove for it
        except ToolFailed as error:
            _log.warning("%s; what its process has left is not removed", error)
            continue
        if lock is None:
            continue
        try:
            count += await engine.reap({OWNER: path.name.partition(".")[0]})
            path.unlink(missing_ok=True)
        finally:
            lock.release()
    return count


def reap_here() -> int:
    """Remove what dead processes have left on this machine's own engines, and return how many containers.

    An engine that doesn't answer keeps them for a later command; a warning says so.
    """
    return sum(map(_reap_on, sorted(sandboxes_with_dead_owners())))


def _reap_on(sandbox: str) -> int:
    async def reap() -> int:
        engine = choose_engine(sandbox)
        try:
            async with asyncio.timeout(_REAP_SECONDS):
                return await reap_the_dead(engine)
        finally:
            await engine.close()

    try:
        return run_to_end(reap())
    except (UserError, InfrastructureError, TimeoutError) as error:
        _log.warning("what a killed command has left on %s is not removed: %s", sandbox, error or "no answer")
        return 0


class Life(StrEnum):
    """States of a process; unknown where its lock lies in another cache directory."""

    AT_WORK = "at-work"
    DEAD = "dead"
    UNKNOWN = "unknown"


def life_of(name: str) -> Life:
    """Return the state of the process that has a label."""
    found = Life.UNKNOWN
    for path in owners_folder().glob(f"{name}.*"):
        try:
            lock = held(path)
        except ToolFailed:
            continue
        if lock is None:
            return Life.AT_WORK
        lock.release()
        found = Life.DEAD
    return found


def _locked(key: str) -> tuple[FileLock, str]:
    """Return a lock on a file of this process's own, and its name. Raises ToolFailed where none can be made."""
    with writing(owners_folder()):
        owners_folder().mkdir(parents=True, exist_ok=True)
    while True:
        name = uuid4().hex
        # None where somebody looks for the dead at this very moment, and has found the file before it was locked.
        if lock := held(owners_folder() / f"{name}.{key}"):
            return lock, name


@dataclass(frozen=True)
class CleaningOptions:
    """Removals beside what dead processes have left: what processes at work have, images, the cache."""

    everything: bool = False
    images: bool = False
    cache: bool = False


@dataclass(frozen=True)
class Cleaning:
    """Removed things, or those that would be where `is_done` is False; and what stays in use.

    `volumes` hold toolboxes.
    """

    containers: int
    images: int
    volumes: int
    cache: bool
    containers_in_use: int
    images_in_use: int
    is_done: bool


def clean(wanted: CleaningOptions, do: bool) -> Cleaning:
    """Remove it, or only say what would be removed."""
    return run_to_end(_clean(wanted, do))


async def _clean(wanted: CleaningOptions, do: bool) -> Cleaning:
    going = staying = 0
    for engine in engines_here():
        try:
            if isinstance(engine, ListingEngine):
                found = await engine.remains()
                left = [each for each in found if wanted.everything or not _may_be_at_work(each)]
                going, staying = going + len(left), staying + len(found) - len(left)
                for each in left if do else ():
                    await engine.discard(each.name)
            elif do and wanted.everything:
                going += await engine.reap({})
        finally:
            await engine.close()
    images = await _clean_images(wanted, do) if wanted.images else _Images()
    if do and wanted.cache:
        shutil.rmtree(cache_directory(), ignore_errors=True)
    return Cleaning(going, images.images, images.volumes, wanted.cache, staying, images.in_use, do)


class _Images(NamedTuple):
    """Numbers of images that go, with how many volumes; and of those that stay."""

    images: int = 0
    volumes: int = 0
    in_use: int = 0


async def _clean_images(wanted: CleaningOptions, do: bool) -> _Images:
    from harness.sandbox.images.disk_budget import free_of, remove, stored_here

    stored = await stored_here()
    going = stored if wanted.everything else free_of(stored)
    going = await remove(going) if do else going
    return _Images(len(going.images), len(going.volumes), len(stored.images) - len(going.images))


def _may_be_at_work(container: Remains) -> bool:
    """Return whether a container's process may be at work.

    It holds a lock, or keeps it in another cache directory.
    """
    owner = container.labels.get(OWNER)
    return owner is not None and life_of(owner) is not Life.DEAD
