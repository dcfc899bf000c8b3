"""How often trials are resolved, by scaffold and model."""

from collections.abc import Iterable
from typing import NamedTuple

from harness.analysis.rates import Rate, rate
from harness.analysis.rows import TrialRow
from harness.specs.reasons import Verdict


class Who(NamedTuple):
    """A scaffold and the model in it; the model is empty for scaffolds without one."""

    scaffold: str
    model: str


def resolve_rates(rows: Iterable[TrialRow]) -> dict[Who, Rate]:
    """The rate for each scaffold and model that has a scored trial, in the order of the rows.

    What could not be scored counts neither way.
    """
    groups: dict[Who, list[Verdict | None]] = {}
    for row in rows:
        if row.is_scored:
            groups.setdefault(Who(row.scaffold, row.model), []).append(row.verdict)
    return {who: rate(found.count(Verdict.RESOLVED), len(found)) for who, found in groups.items()}
