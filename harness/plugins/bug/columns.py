"""The parts of bugs as signals: a column for each, a system's rates, and how the parts go together."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.results.rows import Cell, TrialRow
from harness.results.signals import task_pairs, task_values, tasks_in_words
from harness.results.statistics.estimates import TaskValue, difference_over_tasks, rate_over_tasks

_TRACK = "bug"
_PARTS = ("reproduce", "localise", "repair")
_DONE = {"reproduce": "reproduced", "localise": "located", "repair": "repaired"}
_NONE, _ALL = "none", "all"
CAUTION = (
    "Parts of bugs are judged apart: a trial is resolved where all are met. Rates are means over the tasks of this "
    "track alone; trials without a verdict don't count."
)


def parts_of(row: TrialRow) -> dict[str, bool]:
    """Return the parts of a trial of this track that were decided, and whether each was met; empty for any other."""
    record = row.record
    if record is None or record.track != _TRACK or not row.is_scored:
        return {}
    return {item.id: item.met for item in record.stages.rubric.criteria if item.met is not None}


@dataclass(frozen=True)
class PartSignal:
    """1 where one part is met, else 0."""

    name: str
    part: str

    @property
    def title(self) -> str:
        return _DONE[self.part]

    @property
    def caution(self) -> str:
        return CAUTION

    def value(self, trial: Path, row: TrialRow, /) -> Cell:  # noqa: ARG002
        met = parts_of(row).get(self.part)
        return None if met is None else int(met)

    def of_system(self, rows: Sequence[TrialRow], /) -> str:
        """Return the rate, mean over tasks, with its interval by task."""
        return _rate_in_words(task_values(rows, self.name, float))

    def of_pair(self, first: Sequence[TrialRow], second: Sequence[TrialRow], /) -> str:
        """Return the mean difference of the rates at tasks of which both have a value."""
        pairs = task_pairs(task_values(first, self.name, float), task_values(second, self.name, float))
        if not pairs:
            return ""
        found = difference_over_tasks(pairs)
        low, high = (100 * bound for bound in found.by_task)
        words = f"difference {100 * found.value:+.0f} percentage points"
        return f"{words} (95% by task {low:+.0f} to {high:+.0f}) at {tasks_in_words(found.tasks)}"


@dataclass(frozen=True)
class TogetherSignal:
    """Which parts of a trial are met, and how often each combination comes."""

    name: str = "bug-together"
    title: str = "parts met"
    caution: str = ""

    def value(self, trial: Path, row: TrialRow, /) -> Cell:  # noqa: ARG002
        parts = parts_of(row)
        return _together(parts) if parts else None

    def of_system(self, rows: Sequence[TrialRow], /) -> str:
        """Return how many trials met which parts, the most frequent first, and the rate of all."""
        counted = Counter(str(value) for row in rows if (value := row.signals.get(self.name)) is not None)
        if not counted:
            return ""
        ordered = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
        shown = ", ".join(f"{words} {count}" for words, count in ordered)
        every = task_values(_with_all(rows, self.name), self.name, float)
        return f"all parts {_rate_in_words(every)}; of {counted.total()} trials: {shown}"

    def of_pair(self, first: Sequence[TrialRow], second: Sequence[TrialRow], /) -> str:  # noqa: ARG002
        return ""


def _together(parts: dict[str, bool]) -> str:
    met = [part for part in _PARTS if parts.get(part)]
    return _NONE if not met else _ALL if len(met) == len(parts) else "+".join(met)


def _with_all(rows: Sequence[TrialRow], name: str) -> list[TrialRow]:
    """Return the rows with a number in place of the words: whether all parts are met."""
    return [
        row.model_copy(update={"signals": {name: int(row.signals[name] == _ALL)}})
        for row in rows
        if row.signals.get(name) is not None
    ]


def _rate_in_words(values: Sequence[TaskValue]) -> str:
    if not values:
        return ""
    found = rate_over_tasks(values)
    low, high = (100 * bound for bound in found.by_task)
    return f"{100 * found.value:.0f}% ({low:.0f}% to {high:.0f}%) of {tasks_in_words(found.tasks)}"


REPRODUCED = PartSignal("bug-reproduced", "reproduce")
LOCATED = PartSignal("bug-located", "localise")
REPAIRED = PartSignal("bug-repaired", "repair")
TOGETHER = TogetherSignal()
