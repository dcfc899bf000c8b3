"""A comparison as JSON. Rates and differences are fractions, seconds wall or working time as they are called."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from harness.analysis.comparison.axes import AxisDifference
from harness.analysis.comparison.compare import Comparison, SideSummary
from harness.analysis.comparison.flips import Flip
from harness.analysis.comparison.pairs import Pair
from harness.analysis.comparison.sides import PlacedTrial
from harness.analysis.scores import POLICY
from harness.analysis.statistics.clusters import RESAMPLES, SEED
from harness.analysis.statistics.estimates import Difference, Estimate
from harness.analysis.statistics.proportions import Bounds, Rate
from harness.report.patches_beside import patch_file


def comparison_facts(found: Comparison) -> dict[str, Any]:
    return {
        "runs": [str(run) for run in found.runs],
        "tasks": list(found.tasks),
        "left_out": {task: list(names) for task, names in found.left_out.items()},
        "policy": POLICY,
        "bootstrap": {"resamples": RESAMPLES, "seed": SEED},
        "sides": [_side(summary) for summary in found.sides],
        "pairs": [_pair(pair) for pair in found.pairs],
        "notes": list(found.notes),
    }


def comparison_rows(found: Comparison) -> dict[str, list[dict[str, Any]]]:
    """The lists of the JSON for CSV; axes and flips have the names of their two sides as `first` and `second`."""
    told = comparison_facts(found)
    rows: dict[str, list[dict[str, Any]]] = {"sides": told["sides"], "pairs": [], "axes": [], "flips": []}
    for pair in told["pairs"]:
        who = {"first": pair["a"], "second": pair["b"]}
        rows["pairs"].append({name: value for name, value in pair.items() if name not in ("axes", "flips")})
        for name in ("axes", "flips"):
            rows[name] += [{**who, **row} for row in pair[name]]
    return {name: [_with_bounds(row) for row in items] for name, items in rows.items()}


def _with_bounds(row: Mapping[str, Any]) -> dict[str, Any]:
    """Intervals as `low` and `high`, which are columns of their own."""
    return {name: _low_and_high(value) if name.startswith("by_") else _inside(value) for name, value in row.items()}


def _inside(value: Any) -> Any:
    return _with_bounds(value) if isinstance(value, Mapping) else value


def _low_and_high(value: list[float] | None) -> dict[str, float | None]:
    low, high = value or (None, None)
    return {"low": low, "high": high}


def _side(summary: SideSummary) -> dict[str, Any]:
    side, rate = summary.side, summary.rate
    return {
        "name": side.name,
        "scaffold": side.scaffold,
        "model": side.model or None,
        "runs": [str(run.directory) for run in side.runs],
        "trials": rate.trials,
        "resolved": rate.resolved,
        "resolve_rate": _estimate(rate.rate),
        "without_faults": _estimate(rate.without_faults),
        "pass_at": {str(k): value for k, value in rate.pass_at.items()},
        "pass_all": {str(k): value for k, value in rate.pass_all.items()},
        "unscored": _rate(rate.unscored),
        "invalid": _rate(rate.invalid),
        "without_verdict": _rate(rate.missing),
        "effort": _effort(summary),
        "mechanism": {**asdict(summary.mechanism), "is_suspicious": summary.mechanism.is_suspicious},
    }


def _effort(summary: SideSummary) -> dict[str, Any]:
    found = summary.effort
    usages = {name: getattr(found, name).model_dump(mode="json") for name in ("agent", "lost", "judge")}
    names = ("trials", "steps", "wall_seconds", "working_seconds", "waiting_seconds", "retries")
    costs = {"cost_per_trial": found.cost_per_trial, "cost_per_resolved": found.cost_per_resolved}
    return {**usages, **{name: getattr(found, name) for name in names}, **costs}


def _pair(pair: Pair) -> dict[str, Any]:
    return {
        "a": pair.first.name,
        "b": pair.second.name,
        "ahead": pair.ahead.name if pair.ahead else None,
        "cannot_tell_because": list(pair.obstacles),
        "difference": _estimate(pair.difference),
        "without_faults": _estimate(pair.without_faults),
        "mcnemar": {
            "a": pair.mcnemar.first,
            "b": pair.mcnemar.second,
            "equal": pair.mcnemar.equal,
            "p": pair.mcnemar.p,
        },
        "holm_p": pair.adjusted_p,
        "axes": [_axis(item) for item in pair.axes],
        "flips": [_flip(flip) for flip in pair.flips],
    }


def _axis(item: AxisDifference) -> dict[str, Any]:
    return {
        "axis": item.axis,
        "name": item.name,
        "a": item.first,
        "b": item.second,
        "difference": _estimate(item.difference),
        "trials": {"a": item.trials[0], "b": item.trials[1]},
        "undecided": {"a": item.undecided[0], "b": item.undecided[1]},
    }


def _flip(flip: Flip) -> dict[str, Any]:
    return {
        "task": flip.task,
        "for": "a" if flip.for_first else "b",
        "a": _flipped(flip.first, flip.first_trial),
        "b": _flipped(flip.second, flip.second_trial),
    }


def _flipped(counts: tuple[int, int], trial: PlacedTrial | None) -> dict[str, Any]:
    patch = patch_file(trial)
    return {
        "resolved": counts[0],
        "attempts": counts[1],
        "trial": str(trial.directory) if trial else None,
        "verdict": trial.row.verdict if trial else None,
        "reasons": [reason.code for reason in trial.row.reasons] if trial else [],
        "patch": str(patch) if patch else None,
    }


def _estimate(found: Estimate | None) -> dict[str, Any] | None:
    if found is None:
        return None
    facts: Mapping[str, Any] = {
        "value": found.value,
        "tasks": found.tasks,
        "repositories": found.repositories,
        "by_task": _bounds(found.by_task),
        "by_repository": _bounds(found.by_repository),
        "by_repository_t": _bounds(found.by_repository_t),
    }
    if not isinstance(found, Difference):
        return dict(facts)
    detectable = {"detectable": found.detectable, "detectable_by_repository": found.detectable_by_repository}
    return {**facts, **detectable}


def _bounds(found: Bounds | None) -> list[float] | None:
    return list(found) if found else None


def _rate(found: Rate) -> dict[str, Any]:
    return {"part": found.part, "whole": found.whole, "low": found.low, "high": found.high}
