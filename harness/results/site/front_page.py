"""The first page: the leaderboard, where trials fail, what they cost and what agents do."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from markupsafe import Markup

from harness.results.activity.trials import SystemBehaviour, TrialBehaviour, system_behaviour
from harness.results.activity.vocabulary import Kind
from harness.results.failing.criteria import (
    AxisRate,
    axis_rates,
    criterion_rates,
    probe_kill_rate,
    probe_rates,
    suite_size,
)
from harness.results.failing.funnel import Composite, WeightsFile, composite, funnel
from harness.results.report.figures import percent, span
from harness.results.scores import POLICY
from harness.results.signals import system_figures
from harness.results.site.comparison_pages import pairings
from harness.results.site.material import FRONT, Material, System
from harness.results.site.pages import Pages
from harness.results.site.plots import Line, Point, bar_plot, interval_plot, scatter_plot, stacked_plot
from harness.runs.plan import system_name
from harness.specs.rubric import AXES

_HARDEST = 20
_DRAWN = 8
"""Systems whose behaviour is drawn."""
_MOST_ODD = 200


@dataclass(frozen=True)
class BehaviourView:
    """A system's activity and its plot."""

    system: str
    found: SystemBehaviour
    plot: Markup | None


class Oddity(NamedTuple):
    """A sight that looks odd in a trial: `what` is a kind or a mark, `words` the command or what was seen."""

    page: str
    behaviour: TrialBehaviour
    what: str
    words: str


def front_values(material: Material, weights: WeightsFile | None = None) -> dict[str, Any]:
    """Return what the page shows of verdicts. Without `weights`, which a reader declares, there is no composite."""
    rows = [trial.row for trial in material.trials]
    systems = material.systems
    axes = {system.label: {item.axis: item for item in axis_rates(system.standing.rows)} for system in systems}
    used = [axis for axis in AXES if any(axis in found for found in axes.values())]
    return {
        "material": material,
        "systems": systems,
        "policy_words": POLICY,
        "pairs": pairings(systems),
        "rates_plot": _rates_plot(systems),
        "weights": weights,
        "composites": _composites(systems, weights) if weights else [],
        "signals": system_figures({system.label: system.standing.rows for system in systems}),
        "rates": {system.label: system.rate.rate.value for system in systems},
        "funnel": funnel(rows),
        "funnels": [(system.label, funnel(system.standing.rows)) for system in systems],
        "axes": axes,
        "used_axes": [(axis, AXES[axis]) for axis in used],
        "axes_plot": _axes_plot(axes, used),
        "kills": [(system.label, probe_kill_rate(system.standing.rows)) for system in systems],
        "hardest": [item for item in criterion_rates(rows) if item.met][:_HARDEST],
        "missed": probe_rates(rows)[:_HARDEST],
        "statements": _statements(material),
        "sizes": suite_size(rows),
        "cost_plot": _cost_plot(systems),
        "kinds": list(Kind),
    }


def write_front(
    pages: Pages, material: Material, behaviours: Mapping[str, TrialBehaviour], values: Mapping[str, Any]
) -> None:
    """`behaviours` are by the trials' pages, `values` are from `front_values`."""
    odd = list(_oddities(behaviours))
    pages.write(
        FRONT,
        "index.html.j2",
        **values,
        behaviours=list(_behaviours(material.systems, list(behaviours.values()))),
        odd=odd[:_MOST_ODD],
        odd_count=len(odd),
    )


def _statements(material: Material) -> Mapping[tuple[str, str], str]:
    return {(name, item.id): item.statement for name, task in material.tasks.items() for item in task.rubric.criteria}


def _composites(systems: Sequence[System], weights: WeightsFile) -> list[tuple[System, Composite]]:
    """Return the best first; nothing of a system without a trial."""
    told = [(system, composite(system.standing.rows, weights)) for system in systems]
    found = [(system, value) for system, value in told if value]
    return sorted(found, key=lambda item: -item[1].value.value)


def _rates_plot(systems: Sequence[System]) -> Markup | None:
    points = [Point(item.label, item.rate.rate.value, 0.0, item.rate.rate.by_task) for item in systems]
    said = (f"{item.label} {percent(item.rate.rate.value)} ({span(item.rate.rate.by_task)})" for item in systems)
    text = f"Resolve rate and 95% interval by task of each system: {'; '.join(said)}."
    return interval_plot("rates", "Resolve rates", text, points, "resolve rate, 95% interval by task")


def _axes_plot(axes: Mapping[str, Mapping[int, AxisRate]], used: Sequence[int]) -> Markup | None:
    lines = [Line(name, [_value(found.get(axis)) for axis in used]) for name, found in axes.items() if found][:_DRAWN]
    if not lines:
        return None
    text = "Share of met criteria on each axis, by system; the table below has the figures."
    return bar_plot("axes", "Met criteria by axis", text, [AXES[axis] for axis in used], lines)


def _value(found: AxisRate | None) -> float:
    return found.rate.value if found and found.rate else 0.0


def _cost_plot(systems: Sequence[System]) -> Markup | None:
    """Plot the systems whose cost is known and isn't nothing, as a control's."""
    known = {
        system.name: Point(system.label, cost, system.rate.rate.value, None, system.rate.rate.by_task)
        for system in systems
        if (cost := system.standing.effort.cost_per_trial)
    }
    if not known:
        return None
    front = [known[item.label] for item in systems if item.label in known and item.standing.on_front]
    said = "; ".join(f"{point.label} ${point.x:.4f}, {percent(point.y)}" for point in known.values())
    text = f"Cost of a trial in USD against the resolve rate: {said}."
    labels = ("USD per trial", "resolve rate")
    return scatter_plot("cost", "Cost against quality", text, list(known.values()), front, *labels)


def _behaviours(systems: Sequence[System], found: Sequence[TrialBehaviour]) -> Iterator[BehaviourView]:
    """Return the activity of agents: a control does what it does without a model."""
    by_name: dict[str, list[TrialBehaviour]] = {}
    for item in found:
        by_name.setdefault(system_name(item.row.scaffold, item.row.model), []).append(item)
    agents = [system for system in systems if system.standing.who.model and system.name in by_name]
    for number, system in enumerate(agents):
        whole = system_behaviour(by_name[system.name])
        if whole and whole.kinds:
            plot = _deciles_plot(number, system.label, whole) if number < _DRAWN else None
            yield BehaviourView(system.label, whole, plot)


def _oddities(behaviours: Mapping[str, TrialBehaviour]) -> Iterator[Oddity]:
    for page, found in sorted(behaviours.items()):
        for sighting in found.sightings:
            yield Oddity(page, found, sighting.kind, sighting.command)
        for mark in found.marks:
            yield Oddity(page, found, mark.mark, mark.words)


def _deciles_plot(number: int, name: str, found: SystemBehaviour) -> Markup:
    totals = [sum(each.values()) or 1.0 for each in found.deciles]
    lines = [
        Line(kind, [each.get(kind, 0.0) / total for each, total in zip(found.deciles, totals, strict=True)])
        for kind in Kind
        if kind in found.kinds
    ]
    tenths = [f"{tenth}" for tenth in range(1, len(found.deciles) + 1)]
    text = f"What {name} does in each tenth of its trajectories, as shares of its actions there; a table follows."
    return stacked_plot(f"behaviour-{number}", f"Behaviour of {name} over time", text, tenths, lines)
