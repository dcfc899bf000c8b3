"""`testwright names`: names that don't exist in the suites of a run, or in one suite."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from harness.plugins.names.findings import NamesFile

names_app = typer.Typer(
    help="Names that suites use and that don't exist, beside the verdicts, which they never change."
)


@names_app.command("write")
def write(
    context: typer.Context,
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run directory")],
    again: Annotated[bool, typer.Option(help="Also look at suites that have been looked at")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> int:
    """Run each suite of a run once more where absent names are noted, and write names.json beside its verdict.

    Status 1 where a trial couldn't be looked at for a fault of the machine.
    """
    import json

    from harness.plugins.names.run_names import write_names
    from harness.specs.catalog import Catalog

    trials = write_names(run, Catalog(context.obj), again)
    if as_json:
        told = [
            {
                "trial": each.place,
                "names": each.names.model_dump(mode="json") if each.names else None,
                "complaint": each.complaint,
            }
            for each in trials
        ]
        print(json.dumps(told, indent=2))
    else:
        _show((each.place, each.names, each.complaint) for each in trials)
    return 1 if any(each.is_lost for each in trials) else 0


@names_app.command("suite")
def suite(
    context: typer.Context,
    task: Annotated[str, typer.Argument(metavar="TASK", help="Task id")],
    patch: Annotated[Path, typer.Option(help="The suite, as a patch")],
    manifest: Annotated[Path, typer.Option(help="Its manifest")],
    sandbox: Annotated[str, typer.Option(help="Where it runs")] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> int:
    """Tell the absent names of one suite. Status 1 where there are some."""
    from harness.plugins.names.run_names import names_of
    from harness.runs.submissions import read_case
    from harness.specs.catalog import Catalog
    from harness.specs.errors import UserError

    case = read_case(Catalog(context.obj).task(task), patch, manifest)
    if case.submission is None:
        raise UserError(f"{patch}: no submission")
    names = names_of(case.task, case.submission, sandbox)
    if as_json:
        print(names.model_dump_json(indent=2))
    else:
        _show([(task, names, "")])
    return 1 if names.findings else 0


def _show(trials: "Iterable[tuple[str, NamesFile | None, str]]") -> None:
    from rich.text import Text

    from harness.results.report.tables import console, table

    out = console()
    for place, names, complaint in trials:
        if names is None or names.why_none:
            out.print(Text(f"{place}: {names.why_none if names else complaint}"), soft_wrap=True)
            continue
        count = len(names.findings)
        words = f"{count} absent name{'' if count == 1 else 's'}" if count else "no absent name"
        out.print(Text(f"{place}: {words} ({names.seconds:.1f} s of processor time)"), soft_wrap=True)
        if names.findings:
            rows = [
                (f"{each.file}:{each.line}", each.kind.value, each.name, each.evidence) for each in names.findings
            ]
            out.print(table(("place", "kind", "name", "evidence"), rows))
