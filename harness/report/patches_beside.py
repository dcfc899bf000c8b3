"""Two patches side by side. They are agents' text, so that nothing of them is printed as it is."""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from rich.table import Table
from rich.text import Text

from harness.analysis.comparison.flips import Flip
from harness.analysis.comparison.sides import PlacedTrial
from harness.report.plain import printable

MAX_LINES = 400
"""Of either patch; the rest is in its file."""
_MAX_LINE = 500
_MAX_BYTES = 2_000_000


def patches_beside(flip: Flip, first: str, second: str, width: int) -> Iterator[Table | str]:
    """The patches of a task that flips, the first side's on the left; `width` is what both have together."""
    yield f"\n{flip.task}: patches of {first} and {second}"
    made = Table(box=None, pad_edge=False, width=width)
    for letter, trial in ((first, flip.first_trial), (second, flip.second_trial)):
        made.add_column(Text(printable(f"{letter}: {_title(trial)}")), ratio=1, overflow="fold")
    for left, right in zip_longest(_lines(flip.first_trial), _lines(flip.second_trial), fillvalue=""):
        made.add_row(_cell(left), _cell(right))
    yield made


def patch_file(trial: PlacedTrial | None) -> Path | None:
    """Of a trial whose agent has handed one in."""
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
