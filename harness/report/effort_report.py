"""What sides have spent, and what ended their trials, in words."""

from collections.abc import Iterator, Mapping, Sequence

from rich.table import Table

from harness.analysis.comparison.compare import SideSummary
from harness.analysis.comparison.mechanism import Mechanism
from harness.report.figures import NOTHING
from harness.report.tables import money, table


def effort_table(sides: Sequence[SideSummary], letters: Sequence[str]) -> Table:
    """A row for each figure, a column for each side."""
    columns = [_figures(summary) for summary in sides]
    rows = [(name, *(column[name] for column in columns)) for name in columns[0]]
    return table(("effort", *letters), rows, right=letters)


def _figures(summary: SideSummary) -> Mapping[str, str]:
    found = summary.effort
    each = max(1, found.trials)
    return {
        "cost of agents": money(found.agent),
        "  of attempts set aside": money(found.lost),
        "  per trial": _usd(found.cost_per_trial),
        "  per resolved trial": _usd(found.cost_per_resolved) if found.resolved else NOTHING,
        "cost of the judge": money(found.judge),
        "tokens in per trial": f"{found.agent.input / each:,.0f}",
        "tokens out per trial": f"{found.agent.output / each:,.0f}",
        "steps per trial": _number(found.steps),
        "wall seconds per trial": _number(found.wall_seconds),
        "working seconds per trial": _number(found.working_seconds),
        "waiting seconds per trial": _number(found.waiting_seconds),
        "attempts retried": str(found.retries),
        "failed requests": str(summary.mechanism.failed_requests),
        "format errors": _count(summary.mechanism.format_errors),
    }


def mechanism_words(found: Mechanism) -> str:
    """What ended the trials of one side."""
    parts = [
        f"ended by {_counts(found.endings)}" if found.endings else "no agent has ended",
        f"{found.failed_requests} failed requests in {found.with_failed_requests} trials",
        "format errors not counted by this agent"
        if found.format_errors is None
        else f"{found.format_errors} format errors in {found.with_format_errors} trials",
        f"faults: {_counts(found.faults)}" if found.faults else "no faults",
    ]
    parts += [f"nothing usable handed in: {_counts(found.reasons)}"] if found.reasons else []
    parts += [f"no model call metered in {found.without_calls} trials"] if found.without_calls else []
    parts += [f"{found.without_verdict} unscored or not judged"] if found.without_verdict else []
    return f"{found.trials} trials; {'; '.join(parts)}"


def mechanism_warning(summary: SideSummary) -> Iterator[str]:
    """Where a side's figures may tell of its adapter rather than of its model."""
    found = summary.mechanism
    if found.is_suspicious:
        signs = mechanism_words(found).partition("; ")[2]
        yield (
            f"warning: {found.odd} of {found.trials} trials of {summary.side.name} look as if its adapter or the "
            f"infrastructure had failed ({signs}). Don't take that for a weak model before you have seen why, for "
            f"example in {found.example}"
        )


def _counts(found: Mapping[str, int]) -> str:
    return ", ".join(f"{word} {number}" for word, number in found.items())


def _count(value: int | None) -> str:
    return NOTHING if value is None else str(value)


def _usd(value: float | None) -> str:
    return "unknown" if value is None else f"${value:.4f}"


def _number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:,.1f}"
