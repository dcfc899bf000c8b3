"""A run's directory: its configuration, its events, its trials; one process at a time works in it."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from filelock import FileLock

from harness.runs.ablation import recorded
from harness.runs.plan import RunConfig, RunFile, Trial
from harness.runs.records import naming, write_whole
from harness.runs.trial_store import TrialStore, now
from harness.sandbox.cache import held
from harness.specs.errors import ToolFailed, UserError
from harness.specs.loading import load_yaml
from harness.specs.usage import NO_USAGE, Usage
from harness.specs.yaml_text import yaml_text


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

    def describe(self, config: RunConfig, trials: list[Trial], isolation: str, digests: dict[str, str]) -> RunFile:
        """Write `run.yaml`, keeping the id of an earlier start in this directory."""
        path = self.directory / "run.yaml"
        earlier = load_yaml(path, RunFile) if path.exists() else None
        run = RunFile(
            id=earlier.id if earlier else uuid4().hex,
            config=config,
            isolation=isolation,
            tasks={**(earlier.tasks if earlier else {}), **{trial.task.id: trial.task.digest for trial in trials}},
            scaffolds={**(earlier.scaffolds if earlier else {}), **digests},
            ablations={
                **(earlier.ablations if earlier else {}),
                **{trial.scaffold.name: recorded(trial.scaffold) for trial in trials if trial.scaffold.ablation},
            },
            models={
                **(earlier.models if earlier else {}),
                **{trial.model: trial.model_digest for trial in trials if trial.model},
            },
            repositories={
                **(earlier.repositories if earlier else {}),
                **{trial.task.id: trial.repository for trial in trials},
            },
            attempts=_asked_for(earlier.attempts if earlier else {}, trials),
        )
        write_whole(path, yaml_text(run.model_dump(mode="json")))
        return run

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
    if not (directory / "run.yaml").is_file():
        raise UserError(f"{directory}: no run here (it has no run.yaml)")
    yield from _trials(directory)


def _trials(directory: Path) -> Iterator[TrialStore]:
    found = {path.with_name(path.name.partition(".")[0]) for path in directory.glob("trials/*/*/*/*")}
    for path in sorted(found):
        if path.name.isdigit():
            yield TrialStore(path)


def _asked_for(earlier: Mapping[str, Mapping[str, int]], trials: Iterable[Trial]) -> dict[str, dict[str, int]]:
    """System -> task -> the most attempts that any start has asked for."""
    found = {system: dict(tasks) for system, tasks in earlier.items()}
    for trial in trials:
        tasks = found.setdefault(trial.system, {})
        tasks[trial.task.id] = max(tasks.get(trial.task.id, 0), trial.attempt)
    return found


def _locked(directory: Path) -> FileLock:
    try:
        lock = held(directory / ".lock")
    except ToolFailed as error:
        raise UserError(f"{error}; choose another with -o") from None
    if lock is None:
        raise UserError(f"{directory}: another testwright is at work here; choose another with -o")
    return lock
