"""`testwright score`: points of the trials of a run, from its files alone."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from harness.plugins.points.run_scores import ScoredTrial

score_app = typer.Typer(help="Points out of a hundred beside the verdicts, which they never change.")
_RUN = typer.Argument(metavar="RUN", help="Run directory")


@score_app.command("write")
def write(
    context: typer.Context,
    run: Annotated[Path, _RUN],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> int:
    """Score the trials of a run by scoring.yaml and write score.json beside each verdict. Nothing is run again."""
    from harness.plugins.points.run_scores import write_scores
    from harness.specs.catalog import Catalog

    return _told(write_scores(run, Catalog(context.obj)), as_json)


@score_app.command("check")
def check(context: typer.Context, run: Annotated[Path, _RUN]) -> int:
    """Compute all scores of a run anew and name each addend that differs. Status 1 where one does."""
    from harness.plugins.points.run_scores import differences
    from harness.specs.catalog import Catalog

    count, found = differences(run, Catalog(context.obj))
    for line in found:
        print(line)
    print(f"{count} scores computed anew: {f'{len(found)} differences' if found else 'all as written'}")
    return 1 if found else 0


def _told(trials: "Sequence[ScoredTrial]", as_json: bool) -> int:
    import json

    from rich.text import Text

    from harness.plugins.points.columns import CAUTION
    from harness.results.report.tables import console, table

    if as_json:
        told = [(trial.place, trial.score.model_dump(mode="json") if trial.score else None) for trial in trials]
        print(json.dumps([{"trial": place, "score": score} for place, score in told], indent=2))
        return 0
    rows = [(each.place, each.score.words, each.score.tier or "-") for each in trials if each.score]
    out = console()
    out.print(table(("trial", "points", "tier"), rows))
    without = len(trials) - len(rows)
    if without:
        out.print(Text(f"without a verdict or a scoring.yaml: {without} of {len(trials)} trials"), soft_wrap=True)
    out.print(Text(CAUTION), soft_wrap=True)
    return 0
