"""A design's figures, from its verdict alone: kills by kind of mutant, wrong cases, redundancy."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from harness.plugins.design.design_file import MutantKind
from harness.plugins.design.reasons import CASE_WRONG, OVER_SPECIFIED

if TYPE_CHECKING:
    from harness.judging.verify.verdict import VerdictRecord


class Part(NamedTuple):
    """A part of a whole, in numbers."""

    part: int
    whole: int

    def __str__(self) -> str:
        return f"{self.part}/{self.whole}" if self.whole else "-"


@dataclass(frozen=True)
class Figures:
    """Kills by kind; `wrong` and `over_specified` cases; `cases`, and how few of them would kill as much (`cover`).

    `killed` is mutant -> the cases that kill it.
    """

    killed: Mapping[str, frozenset[str]]
    cases: int
    wrong: int
    over_specified: int
    cover: int

    def kills(self, kind: MutantKind) -> Part:
        """Return how many mutants of a kind some case kills."""
        mine = [cases for name, cases in self.killed.items() if name.split("-")[1] == kind]
        return Part(sum(bool(cases) for cases in mine), len(mine))

    @property
    def redundancy(self) -> float | None:
        """Cases over those of a greedy cover; None where nothing is killed."""
        return self.cases / self.cover if self.cover else None


def figures_of(record: "VerdictRecord | None") -> Figures | None:
    """Return a verdict's figures; None where no case was played, or where it is of another track."""
    if record is None or record.track != "design" or not record.stages.rubric.criteria:
        return None
    killed: dict[str, frozenset[str]] = {}
    for criterion in record.stages.rubric.criteria:
        killed |= {name: frozenset(cases) for name, cases in criterion.killed_by.items()}
    codes = [reason.code for reason in record.reasons]
    return Figures(
        killed=killed,
        cases=len(record.stages.manifest.tests),
        wrong=codes.count(CASE_WRONG),
        over_specified=codes.count(OVER_SPECIFIED),
        cover=len(greedy_cover(killed)),
    )


def greedy_cover(killed: Mapping[str, Iterable[str]]) -> list[str]:
    """Return few cases that together kill what all of them kill: always the one that kills most of what is left.

    Args:
        killed: Mutant -> the cases that kill it. One that nothing kills counts for nothing.
    """
    left: defaultdict[str, set[str]] = defaultdict(set)
    for mutant, cases in killed.items():
        for case in cases:
            left[case].add(mutant)
    chosen: list[str] = []
    while left:
        best = min(left, key=lambda case: (-len(left[case]), case))
        gone = left.pop(best)
        chosen.append(best)
        left = defaultdict(set, {case: rest for case, mutants in left.items() if (rest := mutants - gone)})
    return chosen
