"""The first page, as short as a lab would publish it, and the page of all figures behind it.

Leaderboard with intervals, cost against quality, where trials fail: for each track on its own, and each number leads
to the trials that it counts.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from harness.results.failing.funnel import STAGES, Composite, FunnelStep, WeightsFile, composite, funnel, lost_at
from harness.results.leaderboard import have_same_tasks
from harness.results.report.figures import percent, span
from harness.results.scores import POLICY
from harness.results.signals import SystemFigures, system_figures
from harness.results.site.comparison_pages import Pairing, pairings
from harness.results.site.material import FIGURES, FRONT, Material, System, TrackResults
from harness.results.site.pages import Pages
from harness.results.site.plots import Point, interval_plot, scatter_plot
from harness.specs.reasons import ReasonCode, Stage


@dataclass(frozen=True)
class TrackFront:
    """The first page's figures of one track. `codes` counts the trials with a reason, the commonest first."""

    track: TrackResults
    rates_plot: Markup | None
    cost_plot: Markup | None
    tasks: int
    funnel: Sequence[FunnelStep]
    funnels: Sequence[tuple[System, Sequence[FunnelStep]]]
    codes: Sequence[tuple[ReasonCode, Stage, int]]

    @property
    def differ(self) -> bool:
        """Return whether some system was asked for other tasks than another."""
        return not have_same_tasks([system.standing for system in self.track.systems])


@dataclass(frozen=True)
class TrackFigures:
    """All other figures of one track. `rates` are by the systems' labels."""

    track: TrackResults
    composites: Sequence[tuple[System, Composite]]
    signals: Sequence[SystemFigures]
    rates: dict[str, float]
    pairs: Sequence[Pairing]


def front_values(material: Material, weights: WeightsFile | None = None) -> dict[str, Any]:
    """Return what both pages show. Without `weights`, which a reader declares, there is no composite."""
    return {
        "material": material,
        "policy_words": POLICY,
        "weights": weights,
        "fronts": [_front(number, track) for number, track in enumerate(material.tracks, start=1)],
        "figures": [_figures(track, weights) for track in material.tracks],
    }


def write_front(pages: Pages, values: dict[str, Any]) -> None:
    """Write the first page. `values` are from `front_values`."""
    pages.write(FRONT, "index.html.j2", **values)
    pages.write(FIGURES, "figures.html.j2", **values)


def _front(number: int, track: TrackResults) -> TrackFront:
    rows = track.rows
    return TrackFront(
        track=track,
        rates_plot=_rates_plot(f"rates-{number}", track.systems),
        cost_plot=_cost_plot(f"cost-{number}", track.systems),
        tasks=len({task for system in track.systems for task in system.scores}),
        funnel=funnel(rows),
        funnels=[(system, funnel(system.standing.rows)) for system in track.systems],
        codes=list(_codes(track)),
    )


def _codes(track: TrackResults) -> Iterator[tuple[ReasonCode, Stage, int]]:
    """Yield the reasons of the stage at which a trial was lost."""
    found: Counter[tuple[ReasonCode, Stage]] = Counter()
    for row in track.rows:
        stage = lost_at(row)
        found.update({(reason.code, reason.stage) for reason in row.reasons if reason.stage is stage})
    for (code, stage), number in sorted(
        found.items(), key=lambda item: (-item[1], STAGES.index(item[0][1]), item[0])
    ):
        yield code, stage, number


def _figures(track: TrackResults, weights: WeightsFile | None) -> TrackFigures:
    return TrackFigures(
        track=track,
        composites=_composites(track.systems, weights) if weights else [],
        signals=system_figures({system.label: system.standing.rows for system in track.systems}),
        rates={system.label: system.rate.rate.value for system in track.systems},
        pairs=pairings(track.systems, track.place),
    )


def _composites(systems: Sequence[System], weights: WeightsFile) -> list[tuple[System, Composite]]:
    """Return the best first; nothing of a system without a trial."""
    told = [(system, composite(system.standing.rows, weights)) for system in systems]
    found = [(system, value) for system, value in told if value]
    return sorted(found, key=lambda item: -item[1].value.value)


def _rates_plot(name: str, systems: Sequence[System]) -> Markup | None:
    if not systems:
        return None
    points = [
        Point(item.label, item.rate.rate.value, 0.0, item.rate.rate.by_task, style=item.style) for item in systems
    ]
    said = (f"{item.label} {percent(item.rate.rate.value)} ({span(item.rate.rate.by_task)})" for item in systems)
    text = f"Resolve rate and 95% interval by task of each system: {'; '.join(said)}."
    return interval_plot(name, "Resolve rates", text, points, "resolve rate, 95% interval by task")


def _cost_plot(name: str, systems: Sequence[System]) -> Markup | None:
    """Plot the systems whose cost is known and isn't nothing, as a control's."""
    known = {
        system.name: Point(system.label, cost, rate.value, None, rate.by_task, system.style)
        for system in systems
        if (cost := system.standing.effort.cost_per_trial) and (rate := system.rate.rate)
    }
    if not known:
        return None
    front = [known[item.name] for item in systems if item.name in known and item.standing.on_front]
    said = "; ".join(f"{point.label} ${point.x:.4f}, {percent(point.y)}" for point in known.values())
    joined = ", ".join(point.label for point in front)
    text = f"Cost of a trial in USD against the resolve rate: {said}. On the front: {joined}."
    labels = ("USD per trial", "resolve rate, 95% interval by task")
    return scatter_plot(name, "Cost against quality", text, list(known.values()), front, *labels)
