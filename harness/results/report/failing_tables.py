"""Tables of where trials fail."""

from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from harness.results.failing.criteria import CriterionRate, ProbeRate, SuiteSize
from harness.results.failing.funnel import STAGES
from harness.results.report.figures import NOTHING, percent, span
from harness.results.report.run_summary import codes_words
from harness.results.report.tables import table
from harness.results.scores import Who
from harness.results.statistics.clusters import Correlation
from harness.results.statistics.estimates import Estimate
from harness.results.statistics.proportions import Bounds, Rate
from harness.results.summary import Results, SystemResults

_HARDEST = 10


def failing_sections(found: Results, names: dict[Who, str]) -> Iterator[Table | Text]:
    """Yield each system's funnel, axes, the hardest criteria, the probes that most suites miss, sizes of suites."""
    yield Text("\nWhere trials are lost; how many pass each stage, those of the last are resolved:")
    yield _funnels(found.systems, names)
    if axes := _axis_rows(found.systems, names):
        yield Text("Criteria met, of those that were decided, in trials that reached the rubric:")
        numbers = ("met", "95% by task", "trials", "undecided")
        yield table(("system", "axis", *numbers), axes, right=numbers)
    hard = [item for item in found.criteria if item.met and item.met.value < 1]
    if hard:
        yield Text(f"Hardest criteria ({min(_HARDEST, len(hard))} of {len(hard)} that some trial didn't meet):")
        yield _criterion_table(hard[:_HARDEST])
    yield from _probes(found, names)
    yield from _sizes(found.sizes)


def _funnels(systems: Sequence[SystemResults], names: dict[Who, str]) -> Table:
    numbers = ("trials", *(stage.value for stage in STAGES))
    rows = [
        (
            names[item.standing.who],
            str(item.funnel[0].entered),
            *(str(step.passed) for step in item.funnel),
            "; ".join(f"{step.stage}: {codes_words(step)}" for step in item.funnel if step.lost),
        )
        for item in systems
    ]
    return table(("system", *numbers, "lost by"), rows, right=numbers)


def correlation_words(found: Correlation | None) -> str:
    """Return a correlation in words: `-0.42 (95% -0.71 to -0.02, 60 trials of 20 tasks)`."""
    if found is None:
        return "nothing varies"
    interval = signed_span(found.bounds) if found.bounds else "no interval of fewer than 5 tasks"
    return f"{found.value:+.2f} (95% {interval}; {found.observations} trials of {found.clusters} tasks)"


def signed_span(bounds: Bounds) -> str:
    """Return the bounds of a correlation, with signs."""
    return f"{bounds.low:+.2f} to {bounds.high:+.2f}"


def _axis_rows(systems: Sequence[SystemResults], names: dict[Who, str]) -> list[tuple[str, ...]]:
    return [
        (
            names[item.standing.who],
            f"{axis.axis} {axis.name}",
            *_estimated(axis.rate),
            str(axis.trials),
            str(axis.undecided),
        )
        for item in systems
        for axis in item.axes
    ]


def _estimated(rate: Estimate | None) -> tuple[str, str]:
    return (percent(rate.value), span(rate.by_task)) if rate else (NOTHING, NOTHING)


def _criterion_table(items: Sequence[CriterionRate]) -> Table:
    numbers = ("met", "95%", "trials")
    rows = [
        (item.task, item.criterion, str(item.importance), *_rated(item.met), str(item.met.whole if item.met else 0))
        for item in items
    ]
    return table(("task", "criterion", "importance", *numbers), rows, right=numbers)


def _rated(found: Rate | None) -> tuple[str, str]:
    return (percent(found.value), span(Bounds(found.low, found.high))) if found else (NOTHING, NOTHING)


def _probes(found: Results, names: dict[Who, str]) -> Iterator[Table | Text]:
    for item in found.systems:
        if kills := item.probe_kills:
            words = f"{percent(kills.value)} (95% by task {span(kills.by_task)})"
            yield Text(f"Probes killed by {names[item.standing.who]}, of those that ran: {words}")
    missed = [item for item in found.probes if item.killed.value < 1]
    if missed:
        yield Text(f"Probes that most suites miss ({min(_HARDEST, len(missed))} of {len(missed)}):")
        yield _probe_table(missed[:_HARDEST])


def _probe_table(items: Sequence[ProbeRate]) -> Table:
    numbers = ("killed", "95%", "trials")
    rows = [(item.task, item.criterion, item.probe, *_rated(item.killed), str(item.killed.whole)) for item in items]
    return table(("task", "criterion", "probe", *numbers), rows, right=numbers)


def _sizes(found: SuiteSize) -> Iterator[Table | Text]:
    if not found.classes:
        return
    numbers = ("trials", "resolved", "95%", "failed in the arms", "95% ")
    rows = [
        (item.name, str(item.resolved.whole), *_rated(item.resolved), *_rated(item.failed_mutation))
        for item in found.classes
    ]
    yield Text("Tests written, and what became of the trials:")
    yield table(("tests", *numbers), rows, right=numbers)
    yield Text(f"Rank correlation of tests written with resolving: {correlation_words(found.resolved)}")
    yield Text(f"  with the number of tests that fail in the arms: {correlation_words(found.failing_tests)}")
