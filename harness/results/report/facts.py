"""Results as JSON: flat rows in a few lists. Rates are fractions with their 95% bounds.

Results as plain data for JSON: dataclasses by their fields, enums by their values, rates with their share.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from harness.results.activity.trials import SystemBehaviour
from harness.results.scores import POLICY
from harness.results.statistics.clusters import RESAMPLES, SEED
from harness.results.statistics.proportions import Bounds, Rate
from harness.results.summary import Results, SystemResults
from harness.specs.model_file import called_apart


def facts(value: Any) -> Any:
    """Return `value` with nothing in it but dicts, lists, texts, numbers, truth values and None."""
    match value:
        case Enum():
            return value.value
        case None | bool() | int() | float() | str():
            return value
        case Bounds():
            return {"low": value.low, "high": value.high}
        case Rate():
            return {
                "part": value.part,
                "whole": value.whole,
                "share": value.value,
                "low": value.low,
                "high": value.high,
            }
        case BaseModel():
            return value.model_dump(mode="json")
        case Path():
            return str(value)
        case Mapping():
            return {str(facts(key)): facts(item) for key, item in value.items()}
        case _ if is_dataclass(value):
            return {field.name: facts(getattr(value, field.name)) for field in fields(value)}
        case _:
            return [facts(item) for item in value]


def results_facts(found: Results, directories: Sequence[Path]) -> dict[str, Any]:
    """Return lists of systems, funnel steps, axes, criteria, probes, sizes, tenths of trajectories and sightings."""
    names = called_apart(item.standing.who.model for item in found.systems)
    return {
        "runs": [str(directory) for directory in directories],
        "policy": POLICY,
        "bootstrap": {"resamples": RESAMPLES, "seed": SEED},
        "systems": [_system(item, names) for item in found.systems],
        "funnel": [{**_who(item, names), **facts(step)} for item in found.systems for step in item.funnel],
        "axes": [{**_who(item, names), **facts(axis)} for item in found.systems for axis in item.axes],
        "criteria": facts(found.criteria),
        "probes": facts(found.probes),
        "sizes": facts(found.sizes),
        "behaviour": [{**_who(item, names), **facts(item.behaviour)} for item in found.systems if item.behaviour],
        "deciles": [row for item in found.systems if item.behaviour for row in _deciles(item, item.behaviour, names)],
        "trials": [{"trial": item.row.trial, **facts(item.profile)} for item in found.behaviours],
        "out_of_bounds": [
            {"trial": item.row.trial, **facts(sighting)} for item in found.behaviours for sighting in item.sightings
        ],
        "watchdog": [{"trial": item.row.trial, **facts(mark)} for item in found.behaviours for mark in item.marks],
    }


def joined_facts(told: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the facts of several tracks as those of one, with the track in each row; those of one as they are."""
    if len(told) == 1:
        [only] = told.values()
        return only
    first = next(iter(told.values()))
    lists = [key for key, value in first.items() if isinstance(value, list) and key != "runs"]
    rows = {key: [{"track": track, **row} for track, each in told.items() for row in each[key]] for key in lists}
    classes = [{"track": track, **row} for track, each in told.items() for row in each["sizes"]["classes"]]
    sizes = {track: each["sizes"] for track, each in told.items()}
    return {**first, **rows, "sizes": {"classes": classes, "tracks": sizes}}


def _deciles(item: SystemResults, behaviour: SystemBehaviour, names: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield actions per trial of each kind in each tenth of the trajectories, zeros too."""
    for tenth, found in enumerate(behaviour.deciles, start=1):
        for kind in behaviour.kinds:
            row = {"tenth": tenth, "kind": kind.value, "group": kind.group.value, "actions": found.get(kind, 0.0)}
            yield {**_who(item, names), **row}


def _who(item: SystemResults, names: Mapping[str, str]) -> dict[str, str | None]:
    who = item.standing.who
    return {"scaffold": who.scaffold, "model": names[who.model] or None}


def _system(item: SystemResults, names: Mapping[str, str]) -> dict[str, Any]:
    standing = item.standing
    return {
        **_who(item, names),
        "rank": standing.rank,
        "is_tied": standing.is_tied,
        "on_front": standing.on_front,
        **facts(standing.rate),
        "trials": standing.rate.trials,
        "effort": facts(standing.effort)
        | {
            "cost_per_trial": standing.effort.cost_per_trial,
            "cost_per_resolved": standing.effort.cost_per_resolved,
        },
        "probe_kills": facts(item.probe_kills),
        "composite": facts(item.composite),
    }
