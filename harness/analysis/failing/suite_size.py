"""How many tests a submission lists, against what becomes of it."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from harness.analysis.rows import TrialRow
from harness.analysis.statistics.correlation import Correlation, spearman
from harness.analysis.statistics.proportions import Rate, rate
from harness.specs.reasons import Stage, Verdict

_CLASSES = ((1, 2), (3, 5), (6, 10), (11, 20), (21, None))


@dataclass(frozen=True)
class SizeClass:
    """Trials that list `least` to `most` tests: how many were resolved, and how many failed in the arms."""

    least: int
    most: int | None
    resolved: Rate
    failed_mutation: Rate

    @property
    def name(self) -> str:
        """`3 to 5`, `21 or more`."""
        return f"{self.least} or more" if self.most is None else f"{self.least} to {self.most}"


@dataclass(frozen=True)
class SuiteSize:
    """Over `trials` that have a score and list a test. Correlations are None where nothing varies.

    `failing_tests` sets the number of listed tests against how many of them fail in the arms.
    """

    trials: int
    resolved: Correlation | None
    failing_tests: Correlation | None
    classes: tuple[SizeClass, ...]


def suite_size(rows: Iterable[TrialRow]) -> SuiteSize:
    """Pure."""
    found = [row for row in rows if row.is_scored and listed_tests(row)]
    return SuiteSize(
        trials=len(found),
        resolved=correlated(found, listed_tests, is_resolved),
        failing_tests=correlated(found, listed_tests, failing_tests),
        classes=tuple(item for least, most in _CLASSES if (item := _class(found, least, most))),
    )


def listed_tests(row: TrialRow) -> int:
    """The tests of its manifest; 0 where its judging ended before."""
    return len(row.record.stages.manifest.tests) if row.record else 0


def failing_tests(row: TrialRow) -> int:
    """The listed tests that a reason of the arms is about."""
    return len({reason.subject for reason in row.reasons if reason.stage is Stage.MUTATION and reason.subject})


def is_resolved(row: TrialRow) -> bool:
    return row.verdict is Verdict.RESOLVED


Quantity = Callable[[TrialRow], float]


def correlated(rows: Iterable[TrialRow], first: Quantity, second: Quantity) -> Correlation | None:
    """Over trials, which come in clusters by task."""
    points: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for row in rows:
        points[row.task].append((float(first(row)), float(second(row))))
    return spearman(points)


def _class(rows: list[TrialRow], least: int, most: int | None) -> SizeClass | None:
    inside = [row for row in rows if listed_tests(row) >= least and (most is None or listed_tests(row) <= most)]
    if not inside:
        return None
    failed = sum(any(reason.stage is Stage.MUTATION for reason in row.reasons) for row in inside)
    return SizeClass(least, most, rate(sum(map(is_resolved, inside)), len(inside)), rate(failed, len(inside)))
