"""Absent names as signals: columns beside the verdict, rates of systems with their intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.plugins.names.findings import digest_of, read_names
from harness.results.rows import Cell, TrialRow
from harness.results.signals import task_pairs, task_values, tasks_in_words
from harness.results.statistics.clusters import mean
from harness.results.statistics.estimates import difference_over_tasks, rate_over_tasks
from harness.runs.trial_store import TrialStore
from harness.specs.errors import UserError

_UNMEASURED = "unmeasured"


@dataclass(frozen=True)
class AbsentNamesSignal:
    """How many absent names a suite uses; systems by the share of suites that use some."""

    name: str = "absent-names"
    title: str = "absent names"
    caution: str = (
        "Absent names are no verdict. They are names that a suite's added lines use and that don't exist, by one run "
        "on the code as it is. What isn't reached, and the text doesn't settle, isn't counted."
    )

    def value(self, trial: Path, row: TrialRow, /) -> Cell:
        """Return the count; text where nothing could be looked at, nothing where nobody looked at this submission."""
        names = read_names(trial) if row.record else None
        if names is None or not _is_of(trial, names.submission):
            return None
        return len(names.findings) if names.is_measured else _UNMEASURED

    def of_system(self, rows: Sequence[TrialRow], /) -> str:
        """Return the share of suites with an absent name, mean over tasks, with its interval by task."""
        values = task_values(rows, self.name, _has_some)
        if not values:
            return ""
        found = rate_over_tasks(values)
        low, high = (100 * bound for bound in found.by_task)
        unmeasured = sum(row.signals.get(self.name) == _UNMEASURED for row in rows)
        more = f"; {unmeasured} of {len(rows)} trials unmeasured" if unmeasured else ""
        return f"{100 * found.value:.0f}% of suites ({low:.0f}% to {high:.0f}%){more}"

    def of_pair(self, first: Sequence[TrialRow], second: Sequence[TrialRow], /) -> str:
        """Return the mean difference of these shares at tasks of which both have a value."""
        pairs = task_pairs(task_values(first, self.name, _has_some), task_values(second, self.name, _has_some))
        if not pairs:
            return ""
        found = difference_over_tasks(pairs)
        low, high = (100 * bound for bound in found.by_task)
        words = f"difference {100 * found.value:+.0f} percentage points"
        return f"{words} (95% by task {low:+.0f} to {high:+.0f}) at {tasks_in_words(found.tasks)}"


@dataclass(frozen=True)
class NameErrorsSignal:
    """Complaints of absent names in the outputs of an agent's commands, per 100 commands."""

    name: str = "name-errors"
    title: str = "name errors per 100 commands"
    caution: str = (
        "Name errors are what an agent's own commands printed of absent names while it worked; most are mended by it."
    )

    def value(self, trial: Path, row: TrialRow, /) -> Cell:
        """Return errors per 100 commands; None where nobody looked, or the agent gave no command."""
        names = read_names(trial) if row.record else None
        found = names.working.per_hundred if names and names.working else None
        return None if found is None else round(found, 2)

    def of_system(self, rows: Sequence[TrialRow], /) -> str:
        """Return the mean over tasks."""
        values = task_values(rows, self.name, float)
        return (
            f"{mean(item.value for item in values):.1f} per 100 commands, mean of {tasks_in_words(len(values))}"
            if values
            else ""
        )

    def of_pair(self, first: Sequence[TrialRow], second: Sequence[TrialRow], /) -> str:
        """Return the mean difference at tasks of which both have a value."""
        pairs = task_pairs(task_values(first, self.name, float), task_values(second, self.name, float))
        if not pairs:
            return ""
        tasks = tasks_in_words(len(pairs))
        return f"difference {mean(pair.first - pair.second for pair in pairs):+.1f} per 100 commands at {tasks}"


def _is_of(trial: Path, submission: str) -> bool:
    try:
        handed_in = TrialStore(trial).submission()
    except (OSError, UserError):
        return False
    return digest_of(handed_in.patch, handed_in.manifest) == submission


def _has_some(count: float) -> float:
    return float(count > 0)


ABSENT_NAMES = AbsentNamesSignal()
NAME_ERRORS = NameErrorsSignal()
