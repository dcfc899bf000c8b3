"""A composite over axes with weights that a user declares, and tiers of it; the plain rate always stands beside."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from harness.analysis.failing.criteria import met_shares, over_tasks
from harness.analysis.rows import TrialRow
from harness.analysis.statistics.estimates import Estimate
from harness.specs.loading import FileModel, load_yaml
from harness.specs.rubric import AXES

Share = Annotated[float, Field(ge=0, le=1)]
_NUMBERS = {name: number for number, name in AXES.items()}


class WeightsFile(FileModel):
    """What `--weights FILE` reads: axis -> weight, and from which composite a tier begins.

    A trial's composite is the weighted mean of its shares of met criteria, over the axes that it has; 0 for one that
    never reached the rubric.
    """

    weights: dict[str, Annotated[float, Field(gt=0)]] = Field(description="name of an axis -> its weight")
    tiers: dict[str, Share] = Field(default={"A": 0.8, "B": 0.6, "C": 0.0}, description="tier -> least composite")

    @model_validator(mode="after")
    def _known(self) -> "WeightsFile":
        unknown = sorted(set(self.weights) - set(_NUMBERS))
        if unknown:
            raise ValueError(f"no axis is called {', '.join(unknown)}; known: {', '.join(_NUMBERS)}")
        if not self.weights:
            raise ValueError("no axis has a weight")
        if 0.0 not in self.tiers.values():
            raise ValueError("one tier must begin at 0, so that each composite has one")
        return self

    @property
    def by_axis(self) -> Mapping[int, float]:
        return {_NUMBERS[name]: weight for name, weight in self.weights.items()}

    def tier(self, composite: float) -> str:
        """The highest that it reaches."""
        return max((least, name) for name, least in self.tiers.items() if least <= composite)[1]


@dataclass(frozen=True)
class Composite:
    """Of one system. `lowest` and `highest` are the tiers at the ends of the interval by task."""

    value: Estimate
    tier: str
    lowest: str
    highest: str


def load_weights(path: Path) -> WeightsFile:
    """Raises UserError."""
    return load_yaml(path, WeightsFile)


def composite(rows: Iterable[TrialRow], weights: WeightsFile) -> Composite | None:
    """None without a trial. Trials without a verdict count as 0, as they do in the plain rate. Pure."""
    value = over_tasks(rows, lambda row: trial_composite(row, weights))
    if value is None:
        return None
    tiers = (weights.tier(share) for share in (value.value, *value.by_task))
    return Composite(value, *tiers)


def trial_composite(row: TrialRow, weights: WeightsFile) -> float:
    """From 0 to 1."""
    shares = {axis: share for axis, share in met_shares(row).items() if axis in weights.by_axis}
    total = sum(weights.by_axis[axis] for axis in shares)
    return sum(weights.by_axis[axis] * share for axis, share in shares.items()) / total if total else 0.0
