"""A run's directory: its configuration, its events, its trials; one process at a time works in it."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from filelock import FileLock

from harness.runs.additions import Asked
from harness.runs.plan import RunFile, Trial
from harness.runs.records import naming
from harness.runs.run_file import begin_or_extend
from harness.runs.trial_store import TrialStore, now
from harness.sandbox.cache import held
from harness.specs.errors import ToolFailed, UserError
from harness.specs.loading import load_yaml
from harness.specs.usage import NO_USAGE, Usage


class RunStore:
    """A run's directory, locked while it is open. Raises UserError where it can't be written or is in use."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self._events: IO[str] = (directory / "events.jsonl").open("a")
        except OSError as error:
            raise UserError(
                f"{directory}: can't be written: {error.strerror or error}; choose another with -o"
            ) from None
        try:
            self._lock = _locked(directory)
        except BaseException:
            self._events.close()
            raise

    def spent(self) -> Usage:
        """What all starts in this directory have cost, with every attempt that was set aside."""
        return spent_in(self.directory)

    def describe(self, asked: Asked, added: tuple[str, ...] = ()) -> RunFile:
        """Write to `run.yaml` what is asked for, and what of it is `added` to earlier commands in this directory."""
        path = self.directory / "run.yaml"
        earlier = load_yaml(path, RunFile) if path.exists() else None
        return begin_or_extend(path, earlier, asked, added)

    def trial(self, trial: Trial) -> TrialStore:
        return TrialStore(self.directory / "trials" / trial.place)

    def event(self, kind: str, **facts: Any) -> None:
        """Append one line; it is on the disk when this returns."""
        with naming(self.directory / "events.jsonl"):
            self._events.write(json.dumps({"time": now(), "event": kind, **facts}) + "\n")
            self._events.flush()
            os.fsync(self._events.fileno())

    def close(self) -> None:
        self._events.close()
        self._lock.release()


def spent_in(directory: Path) -> Usage:
    """What all starts in a run's directory have cost, with every attempt that was set aside."""
    return sum((store.usage().total for store in _trials(directory)), start=NO_USAGE)


def check_free(directory: Path) -> None:
    """Whether a run could work in a directory, which isn't made. Raises UserError as `RunStore` does."""
    there = next(path for path in (directory, *directory.absolute().parents) if path.exists())
    if not (there.is_dir() and os.access(there, os.W_OK)):
        raise UserError(f"{directory}: can't be written; choose another with -o")
    lock = directory / ".lock"
    if lock.exists():
        before = lock.stat()
        _locked(directory).release()
        os.utime(lock, ns=(before.st_atime_ns, before.st_mtime_ns))  # taking a lock writes to its file


def find_trials(directory: Path) -> Iterator[TrialStore]:
    """The trials in a run's directory, by path, also those that never got as far as a directory of their own.

    Attempts that were set aside are left out. Raises UserError where no run is.
    """
    check_is_run(directory)
    yield from _trials(directory)


def check_is_run(directory: Path) -> None:
    """Raises UserError where no run is."""
    if not (directory / "run.yaml").is_file():
        raise UserError(f"{directory}: no run here (it has no run.yaml)")


def _trials(directory: Path) -> Iterator[TrialStore]:
    found = {path.with_name(path.name.partition(".")[0]) for path in directory.glob("trials/*/*/*/*")}
    for path in sorted(found):
        if path.name.isdigit():
            yield TrialStore(path)


def _locked(directory: Path) -> FileLock:
    try:
        lock = held(directory / ".lock")
    except ToolFailed as error:
        raise UserError(f"{error}; choose another with -o") from None
    if lock is None:
        raise UserError(f"{directory}: another testwright is at work here; choose another with -o")
    return lock
