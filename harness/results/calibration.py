"""Calibration of a judge: its answers compared with those of probes, static checks and people.

Cohen's kappa is the agreement of two raters beyond what chance explains.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pydantic import Field

from harness.judging.verify.judge.questions import Answer
from harness.judging.verify.rubric_check import CriterionResult
from harness.results.run_rows import load_rows
from harness.specs.errors import UserError
from harness.specs.rubric import GradedBy
from harness.specs.test_results import CriterionId
from harness.specs.yaml_files import FileModel, load_yaml


@dataclass(frozen=True)
class Agreement:
    """Pairs of answers, counted: `yes_no` are those where the first says yes and the second no."""

    yes_yes: int = 0
    yes_no: int = 0
    no_yes: int = 0
    no_no: int = 0

    @property
    def pairs(self) -> int:
        return self.yes_yes + self.yes_no + self.no_yes + self.no_no

    @property
    def same(self) -> int:
        return self.yes_yes + self.no_no

    @property
    def raw(self) -> float | None:
        """The share of pairs that agree; None without pairs."""
        return self.same / self.pairs if self.pairs else None

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa (1960), from -1 to 1; None where chance alone would make both agree always.

        That is so without pairs, and where both have given one and the same answer throughout.
        """
        if not self.pairs:
            return None
        first_yes, second_yes = self.yes_yes + self.yes_no, self.yes_yes + self.no_yes
        by_chance = first_yes * second_yes + (self.pairs - first_yes) * (self.pairs - second_yes)
        if by_chance == self.pairs**2:
            return None
        expected = by_chance / self.pairs**2
        return (self.same / self.pairs - expected) / (1 - expected)


def agreement(pairs: Iterable[tuple[bool, bool]]) -> Agreement:
    """Return how far two raters agree beyond chance, from pairs of their answers."""
    counts = {(True, True): 0, (True, False): 0, (False, True): 0, (False, False): 0}
    for pair in pairs:
        counts[pair] += 1
    return Agreement(*counts.values())


class Reference(StrEnum):
    """The references that a judge's answer is compared with."""

    PROBE = "probe"
    STATIC = "static"
    GOLD = "gold"


class GoldFile(FileModel):
    """Labels that people gave: trial (TASK/SCAFFOLD/MODEL/ATTEMPT) -> criterion -> `met` or `unmet`.

    They belong to submissions, not to rubrics: one criterion is met by one submission and not by another.
    """

    labels: dict[str, dict[CriterionId, Answer]] = Field(min_length=1)


@dataclass(frozen=True)
class JudgeComparison:
    """One criterion of one submission. `judge` is None where the judge's votes came to nothing."""

    trial: str
    task: str
    criterion: str
    axis: int
    reference: Reference
    truth: bool
    judge: bool | None


@dataclass(frozen=True)
class CriterionDifference:
    """Differences between a judge and a reference on one criterion."""

    task: str
    criterion: str
    reference: Reference
    differing: int
    answered: int


@dataclass(frozen=True)
class Calibration:
    """Agreement of judges with references: `by_axis` by reference and axis, `whole` by reference."""

    judges: tuple[str, ...]
    by_axis: Mapping[tuple[Reference, int], Agreement]
    whole: Mapping[Reference, Agreement]
    unanswered: int
    worst: tuple[CriterionDifference, ...]


def calibrate(directories: Sequence[Path], gold: Path | None) -> Calibration:
    """Compare all answers of judges in these runs with labels and with one another.

    Raises:
        UserError: A run or the labels can't be read, a label is of no trial, or no answer can be compared.
    """
    labels = load_yaml(gold, GoldFile).labels if gold else {}
    judges: set[str] = set()
    found: list[JudgeComparison] = []
    used: set[str] = set()
    for directory in directories:
        for row in load_rows(directory).trials:
            if row.record is None or row.record.judge is None:
                continue
            judges.add(row.record.judge.identity.model)
            used |= {row.trial} & set(labels)
            for result in row.record.stages.rubric.criteria:
                found += _comparisons(row.trial, row.task, result, labels.get(row.trial, {}))
    if gold and (unknown := sorted(set(labels) - used)):
        raise UserError(f"{gold}: no judged trial {unknown[0]!r} in these runs (TASK/SCAFFOLD/MODEL/ATTEMPT)")
    if not found:
        raise UserError("no criterion in these runs has both a judge's answer and one to compare it with")
    return summarise(found, sorted(judges))


def summarise(comparisons: Sequence[JudgeComparison], judges: Iterable[str]) -> Calibration:
    """Combine comparisons of judges with references. Pure."""
    answered = [item for item in comparisons if item.judge is not None]
    axes = sorted({(item.reference, item.axis) for item in answered})
    return Calibration(
        judges=tuple(judges),
        by_axis={key: _agreement(item for item in answered if (item.reference, item.axis) == key) for key in axes},
        whole={
            kind: _agreement(item for item in answered if item.reference is kind)
            for kind in dict.fromkeys(reference for reference, _ in axes)
        },
        unanswered=len(comparisons) - len(answered),
        worst=_worst(answered),
    )


def _comparisons(
    trial: str, task: str, result: CriterionResult, labels: Mapping[str, Answer]
) -> Iterator[JudgeComparison]:
    if result.judge is None:
        return
    truths: dict[Reference, bool] = {}
    if result.met is not None and result.decided_by in (GradedBy.PROBE, GradedBy.STATIC):
        truths[Reference(result.decided_by.value)] = result.met
    if (label := labels.get(result.id)) in (Answer.MET, Answer.UNMET):
        truths[Reference.GOLD] = label is Answer.MET
    for reference, truth in truths.items():
        yield JudgeComparison(trial, task, result.id, result.axis, reference, truth, result.judge.met)


def _agreement(items: Iterable[JudgeComparison]) -> Agreement:
    return agreement((bool(item.judge), item.truth) for item in items)


def _worst(answered: Iterable[JudgeComparison]) -> tuple[CriterionDifference, ...]:
    """Return the criteria on which judge and reference differ, those first that do so most often."""
    groups: defaultdict[tuple[str, str, Reference], list[JudgeComparison]] = defaultdict(list)
    for item in answered:
        groups[item.task, item.criterion, item.reference].append(item)
    differences = (
        CriterionDifference(*key, sum(item.judge is not item.truth for item in items), len(items))
        for key, items in groups.items()
    )
    return tuple(
        sorted(
            (item for item in differences if item.differing),
            key=lambda item: (-item.differing / item.answered, -item.differing, item.task, item.criterion),
        )
    )
