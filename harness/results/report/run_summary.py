"""Totals of all trials of a run: rates, what they took, and where they were lost.

Prints what a large run comes to: totals of its systems, and no line for each trial.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from harness.results.failing.funnel import FunnelStep, funnel
from harness.results.large_runs import SystemTotal, TrackTotal, run_total
from harness.results.leaderboard import Standing, have_same_tasks
from harness.results.report.figures import NOTHING, percent, rate_words, span
from harness.results.report.tables import console, money, table
from harness.results.rows import TrialRow
from harness.results.scores import POLICY, Who
from harness.specs.model_file import called_apart
from harness.specs.reasons import Verdict
from harness.specs.usage import Usage


def system_names(systems: Iterable[Who]) -> dict[Who, str]:
    """Return scaffold and model of each system in a few words."""
    found = list(systems)
    models = called_apart(dict.fromkeys(who.model for who in found))
    return {who: f"{who.scaffold} {models[who.model]}".strip() for who in found}


def summary_parts(standings: Sequence[Standing], rows: Sequence[TrialRow]) -> Iterator[Table | Text]:
    """Yield for people: rates of systems with several trials, what each took, the funnel."""
    several = [item for item in standings if item.rate.trials > 1]
    ranked = sum(item.rank is not None for item in standings)
    names = system_names(item.who for item in standings)
    for item in several:
        yield Text(f"{names[item.who]}: {rate_words(item.rate)}")
        if more := _more(item, ranked):
            yield Text(f"  {more}")
    if ranked > 1 and not have_same_tasks(item for item in standings if item.rank is not None):
        yield Text("Ranks are of rates over different tasks: not all systems were asked for the same ones.")
    if several:
        yield Text(POLICY)
    if standings:
        yield effort_table(standings, names)
    if len(rows) > 1:
        yield funnel_table(funnel(rows))


def effort_table(standings: Sequence[Standing], names: dict[Who, str]) -> Table:
    """Return time, tokens and money of each system; seconds are the mean of a trial.

    Costs are of agents, with tries that were set aside.
    """
    numbers = ("trials", "resolved", "agent s", "tokens in", "out", "cost", "per resolved", "judge")
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
    """Return a line for each stage; after it, the reason codes of the trials that were lost there."""
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
    """Return `flaky 2, survived-removal 1`, or how many aren't judged yet."""
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


_MOST_REASONS = 15


def show_large_run(directory: Path) -> None:
    """Print the totals of a large run, each track by itself.

    Raises:
        UserError: The directory holds no run.
    """
    tracks, out = run_total(directory), console()
    names = system_names({who: None for total in tracks.values() for who in total.systems})
    numbers = ("trials", *(verdict.value for verdict in Verdict), "none", "agents", "judge")
    for track, total in tracks.items():
        if len(tracks) > 1:
            out.print(Text(f"\nTrack {track}:"))
        rows = [_cells(names[who], item) for who, item in total.systems.items()]
        out.print(table(("system", *numbers), rows, right=numbers))
        for line in (*_rates(total, names), POLICY, *_reasons(total.lost)):
            out.print(Text(line), soft_wrap=True)
    out.print(Text(_closing(tracks.values())), soft_wrap=True)


def _cells(name: str, item: SystemTotal) -> tuple[str, ...]:
    counts = [item.verdicts[verdict] for verdict in (*Verdict, None)]
    return (name, f"{item.verdicts.total():,}", *(f"{count:,}" for count in counts),
            _large_run_report_usd(item.agent_usd), _large_run_report_usd(item.judge_usd))  # fmt: skip


def _rates(total: TrackTotal, names: dict[Who, str]) -> list[str]:
    return [f"{names[who]}: {rate_words(item.rate)}" for who, item in total.systems.items() if item.rate]


def _reasons(lost: Counter[str]) -> list[str]:
    if not lost:
        return []
    most = [f"{name.partition(':')[2]} {count:,}" for name, count in lost.most_common(_MOST_REASONS)]
    return [f"lost by: {', '.join(most)}"]


def _closing(tracks: Iterable[TrackTotal]) -> str:
    count = sum(item.verdicts.total() for total in tracks for item in total.systems.values())
    return (
        f"{count:,} trials; --verdict, --reason, -t, -s or -m list those that they choose, --json all of them, "
        "TASK/SCAFFOLD/MODEL/ATTEMPT shows one"
    )


def _large_run_report_usd(amount: float | None) -> str:
    return "unknown" if amount is None else f"${amount:,.2f}"
