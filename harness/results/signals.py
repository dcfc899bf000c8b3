"""Signals beside the verdict: what plugins tell of a trial in columns of their own. None changes a verdict.

A signal is read once for each trial, when its row is read; `TrialRow.signals` has the values by the signal's name.
Tables, JSON, CSV and the site show them from there. How systems fare by a signal, or differ in it, the signal says.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from harness.results.rows import Cell, TrialRow
from harness.results.statistics.estimates import TaskPair, TaskValue, means_of_tasks
from harness.specs.registry import Registry


class Signal(Protocol):
    """A column of trials, which a plugin registers."""

    @property
    def title(self) -> str:
        """The column's head in tables. In CSV and JSON the column has the registered name, with underscores."""
        ...

    @property
    def caution(self) -> str:
        """One line that `report` and the site print with the figures, on what they don't show."""
        ...

    def value(self, trial: Path, row: TrialRow, /) -> Cell:
        """Return a trial's cell; None where nothing was measured.

        Args:
            trial: The trial's directory. It may lack any file, and a file may be damaged: then the cell is None.
            row: What else is known of the trial; its `signals` are empty.
        """
        ...

    def of_system(self, rows: Sequence[TrialRow], /) -> str:
        """Return a system's figure in words, with its interval; empty where its trials have no value."""
        ...

    def of_pair(self, first: Sequence[TrialRow], second: Sequence[TrialRow], /) -> str:
        """Return in words how two systems differ, with an interval; empty where that can't be told."""
        ...


SIGNALS: Registry[Signal] = Registry("signal", "testwright.signals", {})
"""Signals by name. They come from plugins alone."""


@dataclass(frozen=True)
class SystemFigures:
    """One signal's figures: system -> words, in the systems' order; systems without a figure are left out."""

    title: str
    caution: str
    systems: Mapping[str, str]


def column_name(name: str) -> str:
    """Return a signal's name in CSV and JSON."""
    return name.replace("-", "_")


def signal_values(trial: Path, row: TrialRow) -> dict[str, Cell]:
    """Return the cells of a trial by the names of the signals."""
    return {name: SIGNALS.get(name).value(trial, row) for name in SIGNALS.names}


def shown_signals(rows: Sequence[TrialRow]) -> dict[str, str]:
    """Return name -> title of the signals of which some trial has a value."""
    return {
        name: SIGNALS.get(name).title
        for name in SIGNALS.names
        if any(row.signals.get(name) is not None for row in rows)
    }


def signal_cell(row: TrialRow, name: str) -> str:
    """Return a trial's cell as tables show it."""
    value = row.signals.get(name)
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def system_figures(systems: Mapping[str, Sequence[TrialRow]]) -> list[SystemFigures]:
    """Return the figures of each signal that has some, for systems and their trials."""
    found = []
    for name in SIGNALS.names:
        signal = SIGNALS.get(name)
        words = {system: told for system, rows in systems.items() if (told := signal.of_system(rows))}
        if words:
            found.append(SystemFigures(signal.title, signal.caution, words))
    return found


def pair_figures(first: Sequence[TrialRow], second: Sequence[TrialRow]) -> list[str]:
    """Return a line for each signal in which two systems can be compared."""
    signals = [SIGNALS.get(name) for name in SIGNALS.names]
    return [f"{signal.title}: {told}" for signal in signals if (told := signal.of_pair(first, second))]


def task_values(rows: Sequence[TrialRow], name: str, share: Callable[[float], float]) -> list[TaskValue]:
    """Return each task's mean of a signal, over the trials that have a number.

    Args:
        rows: Trials.
        name: The signal's.
        share: Turns a trial's number into what is averaged.
    """
    found = ((row, row.signals.get(name)) for row in rows)
    return means_of_tasks(
        (row.task, row.repository, share(value)) for row, value in found if isinstance(value, int | float)
    )


def task_pairs(first: Sequence[TaskValue], second: Sequence[TaskValue]) -> list[TaskPair]:
    """Return both sides' values at the tasks that both have."""
    theirs = {item.task: item.value for item in second}
    return [
        TaskPair(item.task, item.repository, item.value, theirs[item.task]) for item in first if item.task in theirs
    ]


def tasks_in_words(count: int) -> str:
    """Return a number of tasks in words."""
    return f"{count} task{'' if count == 1 else 's'}"
