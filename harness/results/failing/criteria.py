"""Rates of met criteria, by axis, criterion and probe, in trials whose judging reached the rubric.

The number of tests that a submission lists is set against how it ends.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from harness.judging.verify.rubric_check import CriterionResult
from harness.results.rows import TrialRow
from harness.results.statistics.clusters import Correlation, mean, spearman
from harness.results.statistics.estimates import Estimate, means_of_tasks, rate_over_tasks
from harness.results.statistics.proportions import Rate, rate
from harness.specs.reasons import Stage, Verdict
from harness.specs.rubric import AXES, Importance


@dataclass(frozen=True)
class AxisRate:
    """The mean over tasks of the mean over trials of the share of met criteria; None where none was decided.

    `trials` are those with a decided criterion on this axis; `undecided` criteria count neither way.
    """

    axis: int
    name: str
    rate: Estimate | None
    trials: int
    undecided: int


@dataclass(frozen=True)
class CriterionRate:
    """The number of trials that met a criterion among those that decided it; None where none did."""

    task: str
    criterion: str
    axis: int
    importance: Importance
    met: Rate | None
    undecided: int


@dataclass(frozen=True)
class ProbeRate:
    """The number of trials in which some listed test noticed a probe, among those that ran it."""

    task: str
    criterion: str
    probe: str
    killed: Rate


def axis_rates(rows: Iterable[TrialRow]) -> tuple[AxisRate, ...]:
    """Return one system's rates, for each axis that has a criterion. Pure, as all here."""
    trials = list(rows)
    return tuple(found for axis in AXES if (found := _axis_rate(axis, trials)).trials or found.undecided)


def criterion_rates(rows: Iterable[TrialRow]) -> tuple[CriterionRate, ...]:
    """Return the hardest first; those that nothing decided last."""
    groups: defaultdict[tuple[str, str], list[CriterionResult]] = defaultdict(list)
    for row in rows:
        for item in criteria_of(row):
            groups[row.task, item.id].append(item)
    found = [_criterion_rate(task, results) for (task, _), results in groups.items()]
    return tuple(sorted(found, key=_by_difficulty))


def probe_rates(rows: Iterable[TrialRow]) -> tuple[ProbeRate, ...]:
    """Return the probe that most suites miss first."""
    groups: defaultdict[tuple[str, str, str], list[bool]] = defaultdict(list)
    for row in rows:
        for item in criteria_of(row):
            for probe, tests in item.killed_by.items():
                groups[row.task, item.id, probe].append(bool(tests))
    found = [ProbeRate(*key, rate(sum(kills), len(kills))) for key, kills in groups.items()]
    return tuple(sorted(found, key=lambda item: (item.killed.value, item.task, item.criterion, item.probe)))


def probe_kill_rate(rows: Iterable[TrialRow]) -> Estimate | None:
    """Return the mean share of a task's probes that a suite kills, over tasks; None where no probe ran."""
    return over_tasks(rows, _share_of_probes)


def over_tasks(rows: Iterable[TrialRow], share: Callable[[TrialRow], float | None]) -> Estimate | None:
    """Return the mean over tasks of the mean over trials that have a share; None where none has."""
    shares = ((row.task, row.repository, value) for row in rows if (value := share(row)) is not None)
    values = means_of_tasks(shares)
    return rate_over_tasks(values) if values else None


def criteria_of(row: TrialRow) -> tuple[CriterionResult, ...]:
    """Return the criteria of a trial's verdict."""
    return row.record.stages.rubric.criteria if row.record else ()


def met_shares(row: TrialRow) -> Mapping[int, float]:
    """Return axis -> share of met criteria among the decided ones, for axes that have any."""
    answers: defaultdict[int, list[bool]] = defaultdict(list)
    for item in criteria_of(row):
        if item.met is not None:
            answers[item.axis].append(item.met)
    return {axis: mean(found) for axis, found in sorted(answers.items())}


def _axis_rate(axis: int, rows: list[TrialRow]) -> AxisRate:
    return AxisRate(
        axis=axis,
        name=AXES[axis],
        rate=over_tasks(rows, lambda row: met_shares(row).get(axis)),
        trials=sum(axis in met_shares(row) for row in rows),
        undecided=sum(item.met is None for row in rows for item in criteria_of(row) if item.axis == axis),
    )


def _criterion_rate(task: str, results: list[CriterionResult]) -> CriterionRate:
    decided = [item.met for item in results if item.met is not None]
    return CriterionRate(
        task=task,
        criterion=results[0].id,
        axis=results[0].axis,
        importance=results[0].importance,
        met=rate(sum(decided), len(decided)) if decided else None,
        undecided=len(results) - len(decided),
    )


def _by_difficulty(item: CriterionRate) -> tuple[float, int, str, str]:
    """Sort by rate; of equal rates the one that more trials tell of comes first."""
    if item.met is None:
        return 2.0, 0, item.task, item.criterion
    return item.met.value, -item.met.whole, item.task, item.criterion


def _share_of_probes(row: TrialRow) -> float | None:
    kills = [bool(tests) for item in criteria_of(row) for tests in item.killed_by.values()]
    return mean(kills) if kills else None


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
    """Sizes of suites over `trials` that have a score and list a test. Correlations are None where nothing varies.

    `failing_tests` sets the number of listed tests against how many of them fail in the arms.
    """

    trials: int
    resolved: Correlation | None
    failing_tests: Correlation | None
    classes: tuple[SizeClass, ...]


def suite_size(rows: Iterable[TrialRow]) -> SuiteSize:
    """Return the mean size of suites. Pure."""
    found = [row for row in rows if row.is_scored and listed_tests(row)]
    return SuiteSize(
        trials=len(found),
        resolved=correlated(found, listed_tests, is_resolved),
        failing_tests=correlated(found, listed_tests, failing_tests),
        classes=tuple(item for least, most in _CLASSES if (item := _class(found, least, most))),
    )


def listed_tests(row: TrialRow) -> int:
    """Return the tests of its manifest; 0 where its judging ended before."""
    return len(row.record.stages.manifest.tests) if row.record else 0


def failing_tests(row: TrialRow) -> int:
    """Return the listed tests that a reason of the arms is about."""
    return len({reason.subject for reason in row.reasons if reason.stage is Stage.MUTATION and reason.subject})


def is_resolved(row: TrialRow) -> bool:
    """Return whether a trial is resolved."""
    return row.verdict is Verdict.RESOLVED


Quantity = Callable[[TrialRow], float]


def correlated(rows: Iterable[TrialRow], first: Quantity, second: Quantity) -> Correlation | None:
    """Correlate two quantities over trials, which come in clusters by task; None where that can't be done."""
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
