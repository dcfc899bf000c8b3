"""The tables of a comparison. Sides are called A and B in them."""

from collections.abc import Mapping, Sequence

from rich.table import Table

from harness.analysis.comparison.compare import SideSummary
from harness.analysis.comparison.flips import Flip
from harness.analysis.comparison.pairs import Pair
from harness.analysis.statistics.estimates import Difference
from harness.report.figures import p_words, percent, point_span, points, share_words, span
from harness.report.tables import table

Letters = Mapping[str, str]
"""The name of a side -> what it is called in tables."""


def letters_of(sides: Sequence[SideSummary]) -> Letters:
    """A and B, or A, B1, B2 and so on."""
    first, *others = (summary.side.name for summary in sides)
    several = len(others) > 1
    return {first: "A", **{name: f"B{number}" if several else "B" for number, name in enumerate(others, start=1)}}


def versus(pair: Pair, letters: Letters) -> str:
    return f"{letters[pair.first.name]} - {letters[pair.second.name]}"


def rate_table(sides: Sequence[SideSummary], letters: Letters) -> Table:
    k = min(max(summary.rate.pass_at) for summary in sides)
    repeated = (f"pass@{k}", f"pass^{k}") if k > 1 else ()
    numbers = ("resolve rate", "95% by task", "by repository (t)", "without faults", *repeated)
    counts = ("trials", "unscored", "invalid", "without verdict")
    rows = [
        (
            f"{letters[summary.side.name]}: {summary.side.name}",
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
    """In percentage points; a second line where trials without a score make a difference."""
    numbers = ("points", "95% by task", "by repository", "by repository (t)")
    tests = ("tasks won", "McNemar p", "Holm p", "detectable")
    rows = []
    for pair in pairs:
        found, scored, test = pair.difference, pair.without_faults, pair.mcnemar
        first, second = letters[pair.first.name], letters[pair.second.name]
        first, second = letters[pair.first.name], letters[pair.second.name]
        won = f"{first} {test.first}, {second} {test.second}, equal {test.equal}"
        smallest = points(found.largest_detectable).strip("+")
        rows.append((versus(pair, letters), *_spans(found), won, p_words(test.p), p_words(pair.adjusted_p), smallest))
        if scored and scored != found:
            rows.append(("  without faults", *_spans(scored), f"{scored.tasks} tasks", "", "", ""))
    return table(("difference", *numbers, *tests), rows, right=(*numbers, *tests[1:]))


def axis_table(pair: Pair, letters: Letters) -> Table:
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
