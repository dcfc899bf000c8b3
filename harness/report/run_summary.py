"""What all trials of a run come to: rates, what they took, and where they were lost."""

from collections.abc import Iterable, Iterator, Sequence

from rich.table import Table
from rich.text import Text

from harness.analysis.failing.funnel import FunnelStep, funnel
from harness.analysis.leaderboard import Standing
from harness.analysis.resolve_rates import Who
from harness.analysis.rows import TrialRow
from harness.analysis.scores import POLICY
from harness.report.figures import NOTHING, percent, rate_words, span
from harness.report.tables import money, table
from harness.specs.model_name import called_apart
from harness.specs.usage import Usage


def system_names(systems: Iterable[Who]) -> dict[Who, str]:
    """Scaffold and model in a few words."""
    found = list(systems)
    models = called_apart(dict.fromkeys(who.model for who in found))
    return {who: f"{who.scaffold} {models[who.model]}".strip() for who in found}


def summary_parts(standings: Sequence[Standing], rows: Sequence[TrialRow]) -> Iterator[Table | Text]:
    """For people: rates of systems with several trials, what each took, the funnel."""
    several = [item for item in standings if item.rate.trials > 1]
    ranked = sum(item.rank is not None for item in standings)
    names = system_names(item.who for item in standings)
    for item in several:
        yield Text(f"{names[item.who]}: {rate_words(item.rate)}")
        if more := _more(item, ranked):
            yield Text(f"  {more}")
    if several:
        yield Text(POLICY)
    if standings:
        yield effort_table(standings, names)
    if len(rows) > 1:
        yield funnel_table(funnel(rows))


def effort_table(standings: Sequence[Standing], names: dict[Who, str]) -> Table:
    """Time, tokens and money of each system. Costs are of agents, with attempts that were set aside."""
    numbers = ("trials", "resolved", "s per trial", "tokens in", "out", "cost", "per resolved", "judge")
    rows = [
        (
            names[item.who],
            str(item.effort.trials),
            str(item.effort.resolved),
            _seconds(item.effort.wall_seconds),
            f"{_agents(item).input:,}",
            f"{_agents(item).output:,}",
            money(_agents(item)),
            _usd(item.effort.cost_per_resolved) if item.effort.resolved else NOTHING,
            money(item.effort.judge) if item.effort.judge.calls else NOTHING,
        )
        for item in standings
    ]
    return table(("system", *numbers), rows, right=numbers)


def funnel_table(steps: Sequence[FunnelStep]) -> Table:
    """A line for each stage; after it, the reason codes of the trials that were lost there."""
    numbers = ("entered", "passed", "failed", "invalid", "unscored", "not judged")
    rows = [
        (
            step.stage.value,
            *map(str, (step.entered, step.passed, step.failed, step.invalid, step.unscored, step.not_judged)),
            codes_words(step),
        )
        for step in steps
    ]
    return table(("stage", *numbers, "lost by"), rows, right=numbers)


def codes_words(step: FunnelStep) -> str:
    """`flaky 2, survived-removal 1`, or how many aren't judged yet."""
    waiting = [f"not judged {step.not_judged}"] if step.not_judged else []
    return ", ".join([*(f"{code} {count}" for code, count in step.codes.items()), *waiting])


def _more(item: Standing, systems: int) -> str:
    rate = item.rate
    k = max(rate.pass_at)
    parts = [
        f"95% by repository (t) {span(rate.rate.by_repository_t)}" if rate.rate.by_repository_t else "",
        f"pass@{k} {percent(rate.pass_at[k])}, pass^{k} {percent(rate.pass_all[k])}" if k > 1 else "",
        f"rank {item.rank}{' (tied)' if item.is_tied else ''} of {systems}" if item.rank and systems > 1 else "",
    ]
    return "; ".join(filter(None, parts))


def _agents(item: Standing) -> Usage:
    return item.effort.agent + item.effort.lost


def _usd(amount: float | None) -> str:
    return "unknown" if amount is None else f"${amount:.4f}"


def _seconds(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.1f}"
