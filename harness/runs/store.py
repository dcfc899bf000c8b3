"""A run's directory: its configuration, its events, its trials; one process at a time works in it.

Reads and writes `run.yaml`.
"""

import errno
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from filelock import FileLock

from harness.models.replay import now
from harness.runs.ablation import recorded
from harness.runs.additions import AskedRun
from harness.runs.plan import RunCommand, RunFile, Trial, read_run_file
from harness.runs.records import naming, write_whole
from harness.runs.trial_store import TrialStore, timestamp
from harness.sandbox.host import held
from harness.specs.errors import ToolFailed, UserError
from harness.specs.usage import NO_USAGE, Usage
from harness.specs.yaml_files import yaml_text

_OF_A_START = (
    *("jobs", "tries", "retry_seconds", "trial_seconds", "fail_on_error", "executor", "sandbox"),
    *("max_cost_usd", "arm_output_mb", "min_free_disk_gb", "image_disk_gb", "judge_cache", "mutants", "looks"),
)
"""Keys of a configuration that may differ from start to start."""


def begin_or_extend(path: Path, earlier: RunFile | None, asked: AskedRun, added: tuple[str, ...]) -> RunFile:
    """Write what a run has been asked for up to now; nothing is written where a start adds nothing to it.

    `added` is what differs from `earlier`. The run's id is kept.
    """
    if earlier and not added and not _is_old(earlier):
        config = earlier.config.model_copy(update={name: getattr(asked.config, name) for name in _OF_A_START})
        run = earlier.model_copy(update={"config": config})
    else:
        run = _written_anew(earlier or RunFile(id=uuid4().hex, config=asked.config), asked, added)
    if run != earlier:
        write_whole(path, yaml_text(run.model_dump(mode="json")))
    return run


def _is_old(run: RunFile) -> bool:
    """Return whether it was written before commands were kept."""
    return not run.commands


def _written_anew(earlier: RunFile, asked: AskedRun, added: tuple[str, ...]) -> RunFile:
    scaffolds = {trial.scaffold.name: trial.scaffold for trial in asked.trials}
    ablations = {name: recorded(scaffold) for name, scaffold in scaffolds.items() if scaffold.ablation}
    return RunFile(
        id=earlier.id,
        config=asked.config,
        isolation=asked.isolation,
        tasks={**earlier.tasks, **{name: task.digest for name, task in asked.tasks.items()}},
        scaffolds={**earlier.scaffolds, **asked.scaffolds},
        ablations={**earlier.ablations, **ablations},
        models={**earlier.models, **asked.models},
        repositories={**earlier.repositories, **{trial.task.id: trial.repository for trial in asked.trials}},
        tracks={**earlier.tracks, **{name: task.track for name, task in asked.tasks.items()}},
        repos={**earlier.repos, **asked.repos},
        images={**earlier.images, **asked.images},
        attempts=_asked_for(earlier.attempts, asked.attempts),
        commands=(*earlier.commands, RunCommand(time=now(), extended=added, config=asked.config)),
    )


def _asked_for(
    earlier: Mapping[str, Mapping[str, int]], wanted: Mapping[str, Mapping[str, int]]
) -> dict[str, dict[str, int]]:
    """Return system -> task -> the most attempts that any command has asked for."""
    found = {system: dict(tasks) for system, tasks in earlier.items()}
    for system, tasks in wanted.items():
        known = found.setdefault(system, {})
        known.update({task: max(known.get(task, 0), number) for task, number in tasks.items()})
    return found


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
        """Return what all starts in this directory have cost, with every attempt that was set aside."""
        return spent_in(self.directory)

    def describe(self, asked: AskedRun, added: tuple[str, ...] = ()) -> RunFile:
        """Write to `run.yaml` what is asked for, and what of it is `added` to earlier commands in this directory."""
        path = self.directory / "run.yaml"
        earlier = read_run_file(self.directory) if path.exists() else None
        return begin_or_extend(path, earlier, asked, added)

    def trial(self, trial: Trial) -> TrialStore:
        """Return the store of a trial's files."""
        return TrialStore(self.directory / "trials" / trial.place)

    def event(self, kind: str, **facts: Any) -> None:
        """Append one line to the run's log; it is on the disk when this returns.

        Raises:
            OSError: It can't be written, or the file was removed.
        """
        with naming(self.directory / "events.jsonl"):
            if not os.fstat(self._events.fileno()).st_nlink:
                raise FileNotFoundError(errno.ENOENT, "somebody has removed it while the run was at work")
            self._events.write(json.dumps({"time": timestamp(), "event": kind, **facts}) + "\n")
            self._events.flush()
            os.fsync(self._events.fileno())

    def close(self) -> None:
        """Let the next runner in."""
        self._events.close()
        self._lock.release()


def spent_in(directory: Path) -> Usage:
    """Return what all starts in a run's directory have cost, with every attempt that was set aside."""
    return sum((store.usage().total for store in _trials(directory)), start=NO_USAGE)


def check_free(directory: Path) -> None:
    """Check that a run could work in a directory, which isn't made.

    Raises:
        UserError: The directory can't be written, or another runner is at work there.
    """
    there = next(path for path in (directory, *directory.absolute().parents) if path.exists())
    if not (there.is_dir() and os.access(there, os.W_OK)):
        raise UserError(f"{directory}: can't be written; choose another with -o")
    lock = directory / ".lock"
    if lock.exists():
        before = lock.stat()
        _locked(directory).release()
        os.utime(lock, ns=(before.st_atime_ns, before.st_mtime_ns))  # taking a lock writes to its file


def find_trials(directory: Path) -> Iterator[TrialStore]:
    """Yield the trials in a run's directory, by path, also those that never got as far as a directory of their own.

    Attempts that were set aside are left out.

    Raises:
        UserError: The directory holds no run.
    """
    check_is_run(directory)
    yield from _trials(directory)


def check_is_run(directory: Path) -> None:
    """Check that a directory holds a run.

    Raises:
        UserError: It doesn't.
    """
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
