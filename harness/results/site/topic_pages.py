"""Pages of their own for what lies behind a verdict: axes, criteria, and what agents do."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from markupsafe import Markup

from harness.results.activity.trials import SystemBehaviour, TrialBehaviour, system_behaviour
from harness.results.activity.vocabulary import Kind
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
from harness.results.site import material as places
from harness.results.site.material import Material, System, TrackResults
from harness.results.site.pages import Pages
from harness.results.site.plots import COLOURS, GREY, Dots, Line, dots_plot, stacked_plot
from harness.results.statistics.estimates import Estimate
from harness.runs.plan import system_name
from harness.specs.rubric import AXES

_HARDEST = 40
_DRAWN = 8
"""Systems that are drawn."""
_MOST_ODD = 200
_KIND_COLOURS = {
    kind: GREY if kind is Kind.OTHER else COLOURS[number % len(COLOURS)] for number, kind in enumerate(Kind)
}
"""The same on every plot, whichever kinds it shows."""


@dataclass(frozen=True)
class TrackAxes:
    """Met criteria of one track by axis. `found` and `kills` are in the order of the track's systems."""

    track: TrackResults
    axes: Sequence[tuple[int, str]]
    found: Sequence[tuple[System, Mapping[int, AxisRate], Estimate | None]]
    plot: Markup | None
    sizes: SuiteSize


@dataclass(frozen=True)
class TrackCriteria:
    """Criteria and probes of one track, the hardest first."""

    track: TrackResults
    hardest: Sequence[CriterionRate]
    missed: Sequence[ProbeRate]


@dataclass(frozen=True)
class BehaviourView:
    """A system's activity and its plot."""

    system: System
    found: SystemBehaviour
    plot: Markup | None


class Oddity(NamedTuple):
    """A sight that looks odd in a trial: `what` is a kind or a mark, `words` the command or what was seen."""

    page: str
    behaviour: TrialBehaviour
    what: str
    words: str


def write_axes(pages: Pages, material: Material) -> None:
    """Write the page of met criteria by axis."""
    found = [_axes(number, track) for number, track in enumerate(material.tracks, start=1)]
    pages.write(places.AXES, "axes.html.j2", material=material, tracks=found)


def write_criteria(pages: Pages, material: Material) -> None:
    """Write the page of the hardest criteria, and of the probes that most suites miss."""
    pages.write(
        places.CRITERIA,
        "criteria.html.j2",
        material=material,
        tracks=[_criteria(track) for track in material.tracks],
        statements=_statements(material),
    )


def write_activity(pages: Pages, material: Material, behaviours: Mapping[str, TrialBehaviour]) -> None:
    """Write the page of what agents do. `behaviours` are by the trials' pages."""
    odd = list(_oddities(behaviours))
    pages.write(
        places.ACTIVITY,
        "activity.html.j2",
        material=material,
        kinds=list(Kind),
        behaviours=list(_behaviours(material.systems, list(behaviours.values()))),
        odd=odd[:_MOST_ODD],
        odd_count=len(odd),
    )


def _axes(number: int, track: TrackResults) -> TrackAxes:
    rates = [(system, {item.axis: item for item in axis_rates(system.standing.rows)}) for system in track.systems]
    used = [axis for axis in AXES if any(axis in found for _, found in rates)]
    return TrackAxes(
        track=track,
        axes=[(axis, AXES[axis]) for axis in used],
        found=[(system, found, probe_kill_rate(system.standing.rows)) for system, found in rates if found],
        plot=_axes_plot(f"axes-{number}", rates, used),
        sizes=suite_size(track.rows),
    )


def _axes_plot(
    name: str, rates: Sequence[tuple[System, Mapping[int, AxisRate]]], used: Sequence[int]
) -> Markup | None:
    systems = []
    for system, found in [item for item in rates if item[1]][:_DRAWN]:
        known = [item.rate if (item := found.get(axis)) else None for axis in used]
        values = [rate.value if rate else None for rate in known]
        systems.append(Dots(system.label, system.style, values, [rate.by_task if rate else None for rate in known]))
    if not systems:
        return None
    text = (
        "Share of met criteria on each axis, by system, with 95% intervals by task; the table below has the figures."
    )
    rows = [AXES[axis] for axis in used]
    return dots_plot(name, "Met criteria by axis", text, rows, systems, "met criteria, 95% interval by task")


def _criteria(track: TrackResults) -> TrackCriteria:
    rows = track.rows
    hardest = [item for item in criterion_rates(rows) if item.met]
    return TrackCriteria(track, hardest[:_HARDEST], probe_rates(rows)[:_HARDEST])


def _statements(material: Material) -> dict[tuple[str, str], str]:
    return {(name, item.id): item.statement for name, task in material.tasks.items() for item in task.rubric.criteria}


def _behaviours(systems: Sequence[System], found: Sequence[TrialBehaviour]) -> Iterator[BehaviourView]:
    """Yield the activity of agents: a control does what it does without a model."""
    by_name: dict[str, list[TrialBehaviour]] = {}
    for item in found:
        by_name.setdefault(system_name(item.row.scaffold, item.row.model), []).append(item)
    agents = [system for system in systems if system.standing.who.model and system.name in by_name]
    for number, system in enumerate(agents):
        whole = system_behaviour(by_name[system.name])
        if whole and whole.kinds:
            plot = _deciles_plot(number, system.label, whole) if number < _DRAWN else None
            yield BehaviourView(system, whole, plot)


def _oddities(behaviours: Mapping[str, TrialBehaviour]) -> Iterator[Oddity]:
    for page, found in sorted(behaviours.items()):
        for sighting in found.sightings:
            yield Oddity(page, found, sighting.kind, sighting.command)
        for mark in found.marks:
            yield Oddity(page, found, mark.mark, mark.words)


def _deciles_plot(number: int, name: str, found: SystemBehaviour) -> Markup:
    totals = [sum(each.values()) or 1.0 for each in found.deciles]
    lines = [
        Line(kind, _shares(kind, found.deciles, totals), _KIND_COLOURS[kind]) for kind in Kind if kind in found.kinds
    ]
    tenths = [f"{tenth}" for tenth in range(1, len(found.deciles) + 1)]
    text = f"What {name} does in each tenth of its trajectories, as shares of its actions there; a table follows."
    labels = ("tenth of the trajectory", "share of actions")
    return stacked_plot(f"behaviour-{number}", f"Behaviour of {name} over time", text, tenths, lines, *labels)


def _shares(kind: Kind, deciles: Sequence[Mapping[Kind, Any]], totals: Sequence[float]) -> list[float]:
    return [each.get(kind, 0.0) / total for each, total in zip(deciles, totals, strict=True)]
