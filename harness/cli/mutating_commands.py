"""`testwright task stub` and `task probe`."""

from typing import Annotated

import typer

from harness.cli.catalog_commands import Json, catalog_of


def stub_task(
    context: typer.Context,
    task: Annotated[str, typer.Argument(help="Task id")],
    symbol: Annotated[
        list[str], typer.Option("--symbol", help="MODULE:NAME, as in aiosmtpd/smtp.py:SMTP.push; several are taken")
    ],
    replace: Annotated[bool, typer.Option("--replace", help="Write removals anew that are there already")] = False,
    show: Annotated[bool, typer.Option("--show", help="Only show the stubs; write nothing")] = False,
    as_json: Json = False,
) -> int:
    """Write a task's removal.patch and garbage.patch: signatures stay, bodies go. Status 1: one doesn't compile."""
    from harness.authoring.task_edit import check_has_patches
    from harness.authoring.task_stub import stub_task as make
    from harness.results.report.authoring_report import report_stubs

    chosen = catalog_of(context).task(task)
    check_has_patches(chosen, "have stubs")
    return report_stubs(make(chosen, symbol, replace, not show), as_json)


def probe_task(
    context: typer.Context,
    task: Annotated[str, typer.Argument(help="Task id")],
    criterion: Annotated[str, typer.Option(help="The criterion that the probe is for, such as 1.4")],
    mutants: Annotated[int, typer.Option(min=1, help="How many mutants are tried")] = 30,
    seed: Annotated[int, typer.Option(help="How they are drawn")] = 0,
    seconds: Annotated[float, typer.Option(min=1, help="Seconds that their containers may take together")] = 600,
    take: Annotated[str | None, typer.Option(help="Store this mutant as probes/CRITERION.patch; run nothing")] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Store it where a probe is there already")] = False,
    as_json: Json = False,
) -> int:
    """Try mutants of the removed code on the reference tests, and store one as a probe (--take)."""
    from harness.authoring.task_edit import check_has_patches, twin_beside
    from harness.authoring.task_stub import reference_mutants, take_mutant, tests_for
    from harness.judging.verify.mutants.running import MutantOrder
    from harness.results.report.authoring_report import report_written
    from harness.results.report.mutants_report import report_proposals

    catalog = catalog_of(context)
    chosen = catalog.task(task)
    check_has_patches(chosen, "have probes")
    if take:
        report_written([take_mutant(chosen, criterion, take, replace), *twin_beside(catalog, chosen, criterion)])
        return 0
    wanted = tests_for(chosen, criterion)
    return report_proposals(reference_mutants(chosen, MutantOrder(mutants, seed, seconds)), wanted, as_json)


def add_to(task_app: typer.Typer) -> None:
    """Register the commands with the others of tasks."""
    task_app.command("stub")(stub_task)
    task_app.command("probe")(probe_task)
