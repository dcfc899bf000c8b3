"""At which stage trials are lost, and why.

A composite over axes with weights that a user declares, and tiers of it; the plain rate always stands beside.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from harness.results.failing.criteria import met_shares, over_tasks
from harness.results.rows import TrialRow
from harness.results.statistics.estimates import Estimate
from harness.specs.reasons import ReasonCode, Stage, Verdict
from harness.specs.rubric import AXES
from harness.specs.yaml_files import FileModel, load_yaml

STAGES = (Stage.TRIAL, Stage.INTAKE, Stage.MANIFEST, Stage.MUTATION, Stage.RUBRIC)
"""Stages in the order in which a trial goes through them. `trial` is all before a submission is judged."""


@dataclass(frozen=True)
class FunnelStep:
    """A stage that `entered` trials reached; `lost` ended there, failed, invalid, unscored or not judged yet.

    `codes` counts trials by the reason codes of this stage; one trial may have several.
    """

    stage: Stage
    entered: int
    failed: int
    invalid: int
    unscored: int
    not_judged: int
    codes: Mapping[ReasonCode, int]

    @property
    def lost(self) -> int:
        return self.failed + self.invalid + self.unscored + self.not_judged

    @property
    def passed(self) -> int:
        return self.entered - self.lost


def funnel(rows: Iterable[TrialRow]) -> tuple[FunnelStep, ...]:
    """Return all stages in their order; what passes the last is resolved. Pure."""
    left = list(rows)
    steps = []
    for stage in STAGES:
        lost = [row for row in left if lost_at(row) is stage]
        steps.append(_step(stage, len(left), lost))
        left = [row for row in left if lost_at(row) is not stage]
    return tuple(steps)


def lost_at(row: TrialRow) -> Stage | None:
    """Return the first stage that gave a reason.

    Returns:
        None for a resolved trial, `trial` for one that has no verdict yet.
    """
    if row.verdict is Verdict.RESOLVED:
        return None
    stages = {reason.stage for reason in row.reasons}
    return next((stage for stage in STAGES if stage in stages), Stage.TRIAL)


def _step(stage: Stage, entered: int, lost: Sequence[TrialRow]) -> FunnelStep:
    verdicts = Counter(row.verdict for row in lost)
    codes = Counter(code for row in lost for code in {item.code for item in row.reasons if item.stage is stage})
    return FunnelStep(
        stage=stage,
        entered=entered,
        failed=verdicts[Verdict.FAILED],
        invalid=verdicts[Verdict.INVALID],
        unscored=verdicts[Verdict.UNSCORED],
        not_judged=verdicts[None],
        codes=dict(sorted(codes.items(), key=lambda item: (-item[1], item[0]))),
    )


Share = Annotated[float, Field(ge=0, le=1)]
_NUMBERS = {name: number for number, name in AXES.items()}


class WeightsFile(FileModel):
    """The file of `--weights FILE`: axis -> weight, and from which composite a tier begins.

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
        """Return the highest that it reaches."""
        return max((least, name) for name, least in self.tiers.items() if least <= composite)[1]


@dataclass(frozen=True)
class Composite:
    """The composite of one system. `lowest` and `highest` are the tiers at the ends of the interval by task."""

    value: Estimate
    tier: str
    lowest: str
    highest: str


def load_weights(path: Path) -> WeightsFile:
    """Read a file of weights.

    Raises:
        UserError: It is absent or wrong.
    """
    return load_yaml(path, WeightsFile)


def composite(rows: Iterable[TrialRow], weights: WeightsFile) -> Composite | None:
    """Return None without a trial. Trials without a verdict count as 0, as they do in the plain rate. Pure."""
    value = over_tasks(rows, lambda row: trial_composite(row, weights))
    if value is None:
        return None
    tiers = (weights.tier(share) for share in (value.value, *value.by_task))
    return Composite(value, *tiers)


def trial_composite(row: TrialRow, weights: WeightsFile) -> float:
    """Return a trial's composite score, from 0 to 1."""
    shares = {axis: share for axis, share in met_shares(row).items() if axis in weights.by_axis}
    total = sum(weights.by_axis[axis] for axis in shares)
    return sum(weights.by_axis[axis] * share for axis, share in shares.items()) / total if total else 0.0
