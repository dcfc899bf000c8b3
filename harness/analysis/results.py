"""Everything that is told of one or several runs, system by system."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.analysis.behaviour.trials import SystemBehaviour, TrialBehaviour, system_behaviour
from harness.analysis.failing.criteria import (
    AxisRate,
    CriterionRate,
    ProbeRate,
    axis_rates,
    criterion_rates,
    probe_kill_rate,
    probe_rates,
)
from harness.analysis.failing.funnel import FunnelStep, funnel
from harness.analysis.failing.suite_size import SuiteSize, suite_size
from harness.analysis.failing.tiers import Composite, WeightsFile, composite
from harness.analysis.leaderboard import Standing, leaderboard
from harness.analysis.run_rows import RunRows
from harness.analysis.statistics.estimates import Estimate


@dataclass(frozen=True)
class SystemResults:
    """What is told of one system. `behaviour` is None where no trial of it has a trajectory with a call in it."""

    standing: Standing
    funnel: tuple[FunnelStep, ...]
    axes: tuple[AxisRate, ...]
    probe_kills: Estimate | None
    behaviour: SystemBehaviour | None
    composite: Composite | None


@dataclass(frozen=True)
class Results:
    """`criteria`, `probes` and `sizes` are over the trials of all systems together."""

    systems: tuple[SystemResults, ...]
    criteria: tuple[CriterionRate, ...]
    probes: tuple[ProbeRate, ...]
    sizes: SuiteSize
    behaviours: tuple[TrialBehaviour, ...]


def results(runs: Sequence[RunRows], weights: WeightsFile | None = None) -> Results:
    """Reads the trajectories of all trials; the rest is worked out of rows."""
    rows = [row for run in runs for row in run.trials]
    behaviours = {id(found.row): found for run in runs for found in run.behaviours}
    return Results(
        systems=tuple(_system(item, behaviours, weights) for item in leaderboard(runs)),
        criteria=criterion_rates(rows),
        probes=probe_rates(rows),
        sizes=suite_size(rows),
        behaviours=tuple(behaviours.values()),
    )


def _system(
    standing: Standing, behaviours: Mapping[int, TrialBehaviour], weights: WeightsFile | None
) -> SystemResults:
    rows = standing.rows
    return SystemResults(
        standing=standing,
        funnel=funnel(rows),
        axes=axis_rates(rows),
        probe_kills=probe_kill_rate(rows),
        behaviour=system_behaviour([behaviours[id(row)] for row in rows if id(row) in behaviours]),
        composite=composite(rows, weights) if weights else None,
    )
