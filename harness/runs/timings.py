"""Times that trials took on this machine, so that the longest of a run begin first."""

import contextlib
import json
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean

from harness.runs.plan import Trial
from harness.runs.records import write_whole
from harness.runs.trial_store import UsageFile
from harness.sandbox.host import cache_directory


def keep_timing(trial: Trial, usage: UsageFile) -> None:
    """Note what a trial took; where the cache can't be written, nobody knows."""
    seconds = usage.agent_seconds + usage.verify_seconds
    known = _known(trial.task.id)
    if seconds > 0 and known.get(trial.system) != seconds:
        with contextlib.suppress(OSError):
            path = _file(trial.task.id)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, json.dumps({**known, trial.system: round(seconds, 1)}, indent=1) + "\n")


def longest_first(trials: Iterable[Trial]) -> list[Trial]:
    """Return trials by the time that the same task took the same system, else other systems.

    Those of unknown tasks are in the middle. Trials of the same length stay in their order.
    """
    trials = list(trials)
    known = {task: _known(task) for task in {trial.task.id for trial in trials}}
    means = [fmean(times.values()) for times in known.values() if times]
    middle = fmean(means) if means else 0.0

    def seconds(trial: Trial) -> float:
        times = known[trial.task.id]
        return times.get(trial.system) or (fmean(times.values()) if times else middle)

    return sorted(trials, key=lambda trial: -seconds(trial))


def _known(task: str) -> dict[str, float]:
    """Return system -> seconds."""
    try:
        found = json.loads(_file(task).read_text())
        return {str(system): float(seconds) for system, seconds in found.items()}
    except (OSError, ValueError, TypeError, AttributeError):  # absent, or another process's torn file
        return {}


def _file(task: str) -> Path:
    return cache_directory() / "timings" / f"{task}.json"
