"""`testwright task play`: judges designs that lie in files, without a run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from harness.plugins.design.hand_ins import HandIn

design_app = typer.Typer()


@design_app.command()
def play(
    context: typer.Context,
    task: Annotated[str, typer.Argument(metavar="TASK", help="Task of the track design")],
    designs: Annotated[
        list[Path],
        typer.Argument(metavar="PATH...", help="cases.yaml or cases.feature, or a folder with some at any depth"),
    ],
    sandbox: Annotated[str, typer.Option(help="Where the cases are played: auto, docker or local")] = "auto",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Directory for verdicts and arms' output")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> int:
    """Judge designs of test cases that lie in files: the verdict of each, its kills, and the mutants that live.

    A manifest.yaml beside a design counts; without one all its cases are listed. Status 1 where one can't be scored.
    """
    import json

    from harness.cli.catalog_commands import catalog_of
    from harness.plugins.design.hand_ins import judge_hand_ins
    from harness.results.report.catalog_report import tell
    from harness.specs.reasons import Verdict

    played = judge_hand_ins(
        catalog_of(context).task(task), designs, sandbox, output, lambda item: tell(f"{item.name}: judged")
    )
    if as_json:
        print(json.dumps([_as_json(item) for item in played], indent=2))
    else:
        _show(played)
    return 1 if any(item.record.verdict is Verdict.UNSCORED for item in played) else 0


def _as_json(item: "HandIn") -> dict[str, Any]:
    from harness.plugins.design.design_file import MutantKind

    figures = item.figures
    told: dict[str, Any] = {"design": item.name, "verdict": item.record.verdict}
    if figures:
        told |= {
            "cases": figures.cases,
            "wrong": figures.wrong,
            "over_specified": figures.over_specified,
            "cover": figures.cover,
            "killed": {kind: list(figures.kills(kind)) for kind in MutantKind},
            "killed_by": {name: sorted(cases) for name, cases in figures.killed.items()},
        }
    return told | {"reasons": [reason.model_dump(mode="json") for reason in item.record.reasons]}


def _show(played: "list[HandIn]") -> None:
    from harness.plugins.design.design_file import MutantKind
    from harness.results.report.tables import console, printable, table

    columns = ("design", "verdict", "cases", "wrong", *(f"{kind} kills" for kind in MutantKind), "redundancy")
    rows = []
    for item in played:
        figures = item.figures
        told = ["-"] * (len(columns) - 2)
        if figures:
            redundancy = f"{figures.redundancy:.2f}" if figures.redundancy else "-"
            kills = [str(figures.kills(kind)) for kind in MutantKind]
            told = [str(figures.cases), str(figures.wrong + figures.over_specified), *kills, redundancy]
        rows.append((item.name, str(item.record.verdict), *told))
    out = console()
    out.print(table(columns, rows, right=columns[2:]))
    for item in played:
        lines = [
            f"{reason.code}: {reason.subject}: {reason.words}" if reason.subject else f"{reason.code}: {reason.words}"
            for reason in item.record.reasons
        ]
        lines += [f"{name} lives" for name in item.alive]
        for line in lines:
            out.print(printable(f"{item.name}: {line}"), markup=False, soft_wrap=True)
