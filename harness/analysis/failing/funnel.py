"""At which stage trials are lost, and why."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness.analysis.rows import TrialRow
from harness.specs.reasons import ReasonCode, Stage, Verdict

STAGES = (Stage.TRIAL, Stage.INTAKE, Stage.MANIFEST, Stage.MUTATION, Stage.RUBRIC)
"""In the order in which a trial goes through them. `trial` is what comes before a submission is judged."""


@dataclass(frozen=True)
class FunnelStep:
    """Of `entered` trials, `lost` ended at this stage: `failed`, `invalid` or `unscored`, or not judged yet.

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
    """All stages in their order; what passes the last is resolved. Pure."""
    left = list(rows)
    steps = []
    for stage in STAGES:
        lost = [row for row in left if lost_at(row) is stage]
        steps.append(_step(stage, len(left), lost))
        left = [row for row in left if lost_at(row) is not stage]
    return tuple(steps)


def lost_at(row: TrialRow) -> Stage | None:
    """The first stage that gave a reason; None for a resolved trial, `trial` for one that has no verdict yet."""
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
