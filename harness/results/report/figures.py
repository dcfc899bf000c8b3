"""Rates, differences and intervals in words."""

from harness.results.scores import ResolveRate
from harness.results.statistics.proportions import Bounds, Rate

NOTHING = "-"


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun: `1 task`, `2 tasks`."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def percent(value: float | None) -> str:
    """Return a share as a whole percentage; a dash for None."""
    return NOTHING if value is None else f"{value:.0%}"


def span(bounds: Bounds | None) -> str:
    """Return the bounds of a rate in words: `21% to 72%`."""
    return NOTHING if bounds is None else f"{bounds.low:.0%} to {bounds.high:.0%}"


def points(value: float | None) -> str:
    """Return a difference of two rates in percentage points: `+12.5`."""
    if value is None:
        return NOTHING
    shown = f"{100 * value:+.1f}"
    return "0.0" if shown in ("+0.0", "-0.0") else shown


def point_span(bounds: Bounds | None) -> str:
    """Return the bounds of a difference in words: `-3.1 to +28.0`."""
    return NOTHING if bounds is None else f"{points(bounds.low)} to {points(bounds.high)}"


def share_words(found: Rate) -> str:
    """Return a count with its share: `2 (6%)`."""
    return f"{found.part} ({found.value:.0%})"


def p_words(value: float) -> str:
    """Return a p value in words."""
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def rate_words(found: ResolveRate) -> str:
    """Return a resolve rate in one line, with what it must not be read without."""
    rate = found.rate
    over = f"{counted(rate.tasks, 'task')} (95% interval by task {span(rate.by_task)})"
    words = f"resolve rate {percent(rate.value)} over {over}"
    counts = [f"{found.resolved} of {found.trials} trials resolved"]
    counts += [f"{found.unscored.part} unscored"] if found.unscored.part else []
    counts += [f"{found.missing.part} without a verdict"] if found.missing.part else []
    counts += [f"{found.invalid.part} invalid"] if found.invalid.part else []
    scored = found.without_faults
    is_other = bool(found.unscored.part or found.missing.part)
    without = f"; {percent(scored.value)} without faults" if scored and is_other else ""
    return f"{words}: {', '.join(counts)}{without}"
