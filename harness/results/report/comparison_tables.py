"""The tables of a comparison, in which sides are called A and B, and patches side by side.

Patches are agents' text, so that nothing of them is printed as it is.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

from rich.table import Table
from rich.text import Text

from harness.results.comparison.compare import Mechanism, SideSummary
from harness.results.comparison.pairs import Flip, Pair
from harness.results.comparison.sides import PlacedTrial
from harness.results.report.figures import NOTHING, counted, p_words, percent, point_span, points, share_words, span
from harness.results.report.tables import money, printable, table
from harness.results.statistics.estimates import Difference

Letters = Mapping[str, str]
"""The name of a side -> what it is called in tables."""


def letters_of(sides: Sequence[SideSummary]) -> Letters:
    """Return a and B, or A, B1, B2 and so on."""
    first, *others = (summary.side.name for summary in sides)
    several = len(others) > 1
    return {first: "A", **{name: f"B{number}" if several else "B" for number, name in enumerate(others, start=1)}}


def versus(pair: Pair, letters: Letters) -> str:
    """Return the letters of a pair: `A and B`."""
    return f"{letters[pair.first.name]} - {letters[pair.second.name]}"


def rate_table(sides: Sequence[SideSummary], letters: Letters) -> Table:
    """Return the table of the sides' resolve rates."""
    k = min(max(summary.rate.pass_at) for summary in sides)
    repeated = (f"pass@{k}", f"pass^{k}") if k > 1 else ()
    numbers = ("resolve rate", "95% by task", "by repository (t)", "without faults", *repeated)
    counts = ("trials", "unscored", "invalid", "without verdict")
    rows = [
        (
            f"{letters[summary.side.name]}: {summary.side.called}",
            percent(summary.rate.rate.value),
            span(summary.rate.rate.by_task),
            span(summary.rate.rate.by_repository_t),
            percent(summary.rate.without_faults.value if summary.rate.without_faults else None),
            *((percent(summary.rate.pass_at[k]), percent(summary.rate.pass_all[k])) if repeated else ()),
            str(summary.rate.trials),
            *map(share_words, (summary.rate.unscored, summary.rate.invalid, summary.rate.missing)),
        )
        for summary in sides
    ]
    return table(("side", *numbers, *counts), rows, right=(*numbers, *counts))


def difference_table(pairs: Sequence[Pair], letters: Letters) -> Table:
    """Return differences in percentage points, with a second line where trials without a score change them."""
    numbers = ("points", "95% by task", "by repository", "by repository (t)")
    tests = ("tasks won", "McNemar p", "Holm p", "detectable")
    rows = []
    for pair in pairs:
        found, scored, test = pair.difference, pair.without_faults, pair.mcnemar
        first, second = letters[pair.first.name], letters[pair.second.name]
        first, second = letters[pair.first.name], letters[pair.second.name]
        won = f"{first} {test.first}, {second} {test.second}, equal {test.equal}"
        smallest = "over 100" if found.has_too_few_tasks else points(found.largest_detectable).strip("+")
        rows.append((versus(pair, letters), *_spans(found), won, p_words(test.p), p_words(pair.adjusted_p), smallest))
        if scored and scored != found:
            rows.append(("  without faults", *_spans(scored), counted(scored.tasks, "task"), "", "", ""))
    return table(("difference", *numbers, *tests), rows, right=(*numbers, *tests[1:]))


def axis_table(pair: Pair, letters: Letters) -> Table:
    """Return the table of a pair's rates by axis."""
    first, second = letters[pair.first.name], letters[pair.second.name]
    numbers = (first, second, "points", "95% by task", "tasks", f"trials {first}, {second}", "undecided")
    rows = [
        (
            f"{item.axis} {item.name}",
            percent(item.first),
            percent(item.second),
            points(item.difference.value if item.difference else None),
            point_span(item.difference.by_task if item.difference else None),
            str(item.difference.tasks if item.difference else 0),
            ", ".join(map(str, item.trials)),
            ", ".join(map(str, item.undecided)),
        )
        for item in pair.axes
    ]
    return table(("axis (trials that reached the rubric)", *numbers), rows, right=numbers)


def flip_table(pair: Pair, letters: Letters) -> Table:
    """Return the table of the tasks that flip between two sides."""
    first, second = letters[pair.first.name], letters[pair.second.name]
    rows = [
        (
            flip.task,
            "{} of {}".format(*flip.first),
            "{} of {}".format(*flip.second),
            first if flip.for_first else second,
            _why(flip),
        )
        for flip in pair.flips
    ]
    return table(("task that flips", first, second, "for", "why not the other"), rows)


def _why(flip: Flip) -> str:
    trial = flip.second_trial if flip.for_first else flip.first_trial
    if trial is None:
        return "no such trial has begun"
    words = "; ".join(dict.fromkeys(reason.code for reason in trial.row.reasons)) or trial.row.problem
    return f"{words} ({trial.row.trial})"


def _spans(found: Difference) -> tuple[str, ...]:
    return points(found.value), *map(point_span, found.intervals.values())


def effort_table(sides: Sequence[SideSummary], letters: Sequence[str]) -> Table:
    """Return a row for each figure, a column for each side."""
    columns = [_figures(summary) for summary in sides]
    rows = [(name, *(column[name] for column in columns)) for name in columns[0]]
    return table(("effort", *letters), rows, right=letters)


def _figures(summary: SideSummary) -> Mapping[str, str]:
    found = summary.effort
    each = max(1, found.trials)
    return {
        "cost of agents": money(found.agent),
        "  of tries set aside": money(found.lost),
        "  per trial": _usd(found.cost_per_trial),
        "  per resolved trial": _usd(found.cost_per_resolved) if found.resolved else NOTHING,
        "cost of the judge": money(found.judge),
        "tokens in per trial": f"{found.agent.input / each:,.0f}",
        "tokens out per trial": f"{found.agent.output / each:,.0f}",
        "steps per trial": _number(found.steps),
        "wall seconds per trial": _number(found.wall_seconds),
        "working seconds per trial": _number(found.working_seconds),
        "waiting seconds per trial": _number(found.waiting_seconds),
        "tries repeated": str(found.retries),
        "failed requests": str(summary.mechanism.failed_requests),
        "format errors": _count(summary.mechanism.format_errors),
    }


def mechanism_words(found: Mechanism) -> str:
    """Return what ended the trials of one side."""
    parts = [
        f"ended by {_counts(found.endings)}" if found.endings else "no agent has ended",
        _of_trials(found.failed_requests, "failed request", found.with_failed_requests),
        "format errors not counted by this agent"
        if found.format_errors is None
        else _of_trials(found.format_errors, "format error", found.with_format_errors),
        f"faults: {_counts(found.faults)}" if found.faults else "no faults",
    ]
    parts += [f"nothing usable handed in: {_counts(found.reasons)}"] if found.reasons else []
    parts += [f"no model call metered in {counted(found.without_calls, 'trial')}"] if found.without_calls else []
    parts += [f"{found.without_verdict} unscored or not judged"] if found.without_verdict else []
    return f"{counted(found.trials, 'trial')}; {'; '.join(parts)}"


def _of_trials(number: int, thing: str, trials: int) -> str:
    return f"{counted(number, thing)} in {counted(trials, 'trial')}" if number else f"no {thing}s"


def mechanism_warning(summary: SideSummary) -> Iterator[str]:
    """Yield where a side's figures may tell of its adapter rather than of its model."""
    found = summary.mechanism
    if found.is_suspicious:
        signs = mechanism_words(found).partition("; ")[2]
        yield (
            f"warning: {found.odd} of {found.trials} trials of {summary.side.called} look as if its adapter or the "
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


MAX_LINES = 400
"""Lines of either patch; the rest is in its file."""
_MAX_LINE = 500
_MAX_BYTES = 2_000_000


def patches_beside(flip: Flip, first: str, second: str, width: int) -> Iterator[Table | str]:
    """Yield the patches of a task that flips, the first side's on the left; `width` is what both have together."""
    yield f"\n{flip.task}: patches of {first} and {second}"
    made = Table(box=None, pad_edge=False, width=width)
    for letter, trial in ((first, flip.first_trial), (second, flip.second_trial)):
        made.add_column(Text(printable(f"{letter}: {_title(trial)}")), ratio=1, overflow="fold")
    for left, right in zip_longest(_lines(flip.first_trial), _lines(flip.second_trial), fillvalue=""):
        made.add_row(_cell(left), _cell(right))
    yield made


def patch_file(trial: PlacedTrial | None) -> Path | None:
    """Return the patch of a trial whose agent has handed one in."""
    path = trial.directory / "submission" / "patch.diff" if trial else None
    return path if path and path.is_file() else None


def _title(trial: PlacedTrial | None) -> str:
    path = patch_file(trial)
    verdict = (trial.row.verdict or "no verdict") if trial else "no trial"
    return f"{verdict}, {path}" if path else f"{verdict}, no patch"


def _lines(trial: PlacedTrial | None) -> list[str]:
    path = patch_file(trial)
    if path is None:
        return []
    with path.open("rb") as file:
        lines = file.read(_MAX_BYTES).decode(errors="replace").splitlines()
    more = [f"... {len(lines) - MAX_LINES} more lines in {path}"] if len(lines) > MAX_LINES else []
    return [printable(line.expandtabs(4), _MAX_LINE) for line in lines[:MAX_LINES]] + more


def _cell(line: str) -> Text:
    style = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")
    return Text(line, style=style)
