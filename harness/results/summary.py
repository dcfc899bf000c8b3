"""Everything that is told of one or several runs, system by system."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.results.activity.trials import SystemBehaviour, TrialBehaviour, system_behaviour
from harness.results.failing.criteria import (
    AxisRate,
    CriterionRate,
    ProbeRate,
    SuiteSize,
    axis_rates,
    criterion_rates,
    probe_kill_rate,
    probe_rates,
    suite_size,
)
from harness.results.failing.funnel import Composite, FunnelStep, WeightsFile, composite, funnel
from harness.results.leaderboard import Standing, leaderboard
from harness.results.run_rows import RunRows
from harness.results.statistics.estimates import Estimate


@dataclass(frozen=True)
class SystemResults:
    """Results of one system. `behaviour` is None where no trial of it has a trajectory with a call in it."""

    standing: Standing
    funnel: tuple[FunnelStep, ...]
    axes: tuple[AxisRate, ...]
    probe_kills: Estimate | None
    behaviour: SystemBehaviour | None
    composite: Composite | None


@dataclass(frozen=True)
class Results:
    """Results of runs. `criteria`, `probes` and `sizes` are over the trials of all systems together."""

    systems: tuple[SystemResults, ...]
    criteria: tuple[CriterionRate, ...]
    probes: tuple[ProbeRate, ...]
    sizes: SuiteSize
    behaviours: tuple[TrialBehaviour, ...]


def results(runs: Sequence[RunRows], weights: WeightsFile | None = None) -> Results:
    """Return all results of runs. Trajectories are read; the rest is computed from rows."""
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
