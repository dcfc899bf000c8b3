"""`testwright verify`."""

from pathlib import Path
from typing import Annotated

import typer


def verify(
    context: typer.Context,
    task: Annotated[str | None, typer.Argument(help="Task id")] = None,
    patch: Annotated[Path | None, typer.Option(help="The submission's patch")] = None,
    manifest: Annotated[Path | None, typer.Option(help="The submission's manifest")] = None,
    batch: Annotated[
        Path | None, typer.Option(help="Folder of submissions: */patch.diff, */manifest.yaml and */expect.yaml")
    ] = None,
    sandbox: Annotated[str, typer.Option(help="auto, docker or local")] = "auto",
    jobs: Annotated[int, typer.Option("-j", "--jobs", min=1, help="Submissions at once")] = 1,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Keep verdicts and arms' output here")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> int:
    """Judge a submission, or a folder of them. Status 1: one can't be scored, or isn't what expect.yaml says."""
    from harness.report.batch_report import progress_line, report_batch, report_one
    from harness.runs.submissions import judge_cases, read_batch, read_case
    from harness.specs.catalog import Catalog
    from harness.specs.errors import UserError

    catalog = Catalog(context.obj)
    if batch:
        cases = read_batch(catalog, batch, task)
        return report_batch(judge_cases(cases, sandbox, output, jobs, progress_line(len(cases))), as_json)
    if not (task and patch and manifest):
        raise UserError("verify needs TASK --patch FILE --manifest FILE, or --batch DIR")
    [judged] = judge_cases([read_case(catalog.task(task), patch, manifest)], sandbox, output, jobs, lambda _: None)
    return report_one(judged, as_json)
