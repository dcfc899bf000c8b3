"""A design's figures as signals: columns beside the verdict in `show`, `report`, `compare`, the site and files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.plugins.design.design_file import MutantKind
from harness.plugins.design.figures import Figures, figures_of
from harness.results.rows import Cell, TrialRow
from harness.results.signals import task_pairs, task_values, tasks_in_words
from harness.results.statistics.clusters import mean
from harness.results.statistics.estimates import difference_over_tasks, rate_over_tasks


@dataclass(frozen=True)
class KillsSignal:
    """Share of the mutants of one kind that a design kills."""

    name: str
    kind: MutantKind
    title: str
    caution: str = (
        "Shares of killed mutants are of designs alone, one kind of mutant each; trials of other tracks have none. A "
        "rule is met only where all its mutants are killed."
    )

    def value(self, trial: Path, row: TrialRow, /) -> Cell:  # noqa: ARG002
        """Return the share; None where no case was played, or where no mutant is of this kind."""
        figures = figures_of(row.record)
        found = figures.kills(self.kind) if figures else None
        return round(found.part / found.whole, 4) if found and found.whole else None

    def of_system(self, rows: Sequence[TrialRow], /) -> str:
        """Return the mean over designs, with its interval by task."""
        values = task_values(rows, self.name, float)
        if not values:
            return ""
        found = rate_over_tasks(values)
        low, high = (100 * bound for bound in found.by_task)
        designs = tasks_in_words(len(values))
        return f"{100 * found.value:.0f}% of {self.kind} mutants ({low:.0f}% to {high:.0f}%), {designs}"

    def of_pair(self, first: Sequence[TrialRow], second: Sequence[TrialRow], /) -> str:
        """Return the mean difference at designs of which both have a value."""
        pairs = task_pairs(task_values(first, self.name, float), task_values(second, self.name, float))
        if not pairs:
            return ""
        found = difference_over_tasks(pairs)
        low, high = (100 * bound for bound in found.by_task)
        words = f"difference {100 * found.value:+.0f} percentage points"
        return f"{words} (95% by task {low:+.0f} to {high:+.0f}) at {tasks_in_words(found.tasks)}"


@dataclass(frozen=True)
class CountSignal:
    """A figure of a design that is no share: systems and pairs by their means."""

    name: str
    title: str
    caution: str
    of: Callable[[Figures], float | int | None]

    def value(self, trial: Path, row: TrialRow, /) -> Cell:  # noqa: ARG002
        """Return the figure; None where no case was played."""
        figures = figures_of(row.record)
        return self.of(figures) if figures else None

    def of_system(self, rows: Sequence[TrialRow], /) -> str:
        """Return the mean over designs."""
        values = task_values(rows, self.name, float)
        return f"{mean(item.value for item in values):.2f}, mean of {tasks_in_words(len(values))}" if values else ""

    def of_pair(self, first: Sequence[TrialRow], second: Sequence[TrialRow], /) -> str:
        """Return the mean difference at designs of which both have a value."""
        pairs = task_pairs(task_values(first, self.name, float), task_values(second, self.name, float))
        if not pairs:
            return ""
        return f"difference {mean(pair.first - pair.second for pair in pairs):+.2f} at {tasks_in_words(len(pairs))}"


def _wrong(figures: Figures) -> int:
    return figures.wrong + figures.over_specified


def _redundancy(figures: Figures) -> float | None:
    return round(figures.redundancy, 3) if figures.redundancy else None


PARTITIONS = KillsSignal("design-partitions", MutantKind.PARTITION, "partitions killed")
BOUNDARIES = KillsSignal("design-boundaries", MutantKind.BOUNDARY, "boundaries killed")
PAIRS = KillsSignal("design-pairs", MutantKind.PAIR, "pairs killed")
WRONG_CASES = CountSignal(
    "design-wrong-cases", "wrong cases", "Wrong cases are those that some correct implementation fails.", _wrong
)
REDUNDANCY = CountSignal(
    "design-redundancy",
    "redundancy",
    "Redundancy is a design's cases over those of a greedy cover of what it kills: 1 is the least, and no verdict.",
    _redundancy,
)
