"""Prints what a large run comes to: totals of its systems, and no line for each trial."""

from collections import Counter
from pathlib import Path

from rich.text import Text

from harness.analysis.large_runs import RunTotal, SystemTotal, run_total
from harness.analysis.resolve_rates import Who
from harness.analysis.scores import POLICY
from harness.report.figures import rate_words
from harness.report.run_summary import system_names
from harness.report.tables import console, table
from harness.specs.reasons import Verdict

_MOST_REASONS = 15


def show_large_run(directory: Path) -> None:
    """Raises UserError."""
    total, out = run_total(directory), console()
    names = system_names(total.systems)
    numbers = ("trials", *(verdict.value for verdict in Verdict), "none", "agents", "judge")
    rows = [_cells(names[who], item) for who, item in total.systems.items()]
    out.print(table(("system", *numbers), rows, right=numbers))
    for line in (*_rates(total, names), POLICY, *_reasons(total.lost), _closing(total)):
        out.print(Text(line), soft_wrap=True)


def _cells(name: str, item: SystemTotal) -> tuple[str, ...]:
    counts = [item.verdicts[verdict] for verdict in (*Verdict, None)]
    return (name, f"{item.verdicts.total():,}", *(f"{count:,}" for count in counts),
            _usd(item.agent_usd), _usd(item.judge_usd))  # fmt: skip


def _rates(total: RunTotal, names: dict[Who, str]) -> list[str]:
    return [f"{names[who]}: {rate_words(item.rate)}" for who, item in total.systems.items() if item.rate]


def _reasons(lost: Counter[str]) -> list[str]:
    if not lost:
        return []
    most = [f"{name.partition(':')[2]} {count:,}" for name, count in lost.most_common(_MOST_REASONS)]
    return [f"lost by: {', '.join(most)}"]


def _closing(total: RunTotal) -> str:
    count = sum(item.verdicts.total() for item in total.systems.values())
    return (
        f"{count:,} trials; --verdict, --reason, -t, -s or -m list those that they choose, --json all of them, "
        "TASK/SCAFFOLD/MODEL/TRY shows one"
    )


def _usd(amount: float | None) -> str:
    return "unknown" if amount is None else f"${amount:,.2f}"
