"""`testwright repo new`, `repo suite` and the commands of `testwright task` that write."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.catalog_commands import catalog_of


def new_repo(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Its name in the catalog")],
    pypi: Annotated[str | None, typer.Option(metavar="PKG==V", help="A release on pip's index")] = None,
    debian: Annotated[str | None, typer.Option(metavar="SRC=V", help="A source package of Debian")] = None,
    npm: Annotated[str | None, typer.Option(metavar="PKG@V", help="A release on npm, with its sources")] = None,
    archive: Annotated[str | None, typer.Option(metavar="FILE|URL", help="A tar archive, with --version")] = None,
    version: Annotated[str, typer.Option(help="The version of an archive")] = "",
    sha256: Annotated[str, typer.Option(help="The hash that the source must have")] = "",
    licence: Annotated[str, typer.Option(help="SPDX expression, where the release doesn't say it")] = "",
    needs: Annotated[
        list[str] | None, typer.Option(help="A further package that the tests need; NAME@VERSION with --npm")
    ] = None,
    package: Annotated[list[str] | None, typer.Option(help="A further Debian package of the image")] = None,
    files_only: Annotated[bool, typer.Option("--files-only", help="Write the files; build and run nothing")] = False,
) -> int:
    """Pin a release as a new repository: its files, its lock, its image, and three runs of its suite."""
    from harness.authoring.repo_new.command import Given, new_repo, source_of
    from harness.authoring.suite_record import record_suite
    from harness.report.authoring_report import report_suite, report_written
    from harness.report.catalog_report import tell

    catalog = catalog_of(context)
    kind, source = source_of({"pypi": pypi, "debian": debian, "npm": npm, "archive": archive})
    given = Given(name, kind, source, version, sha256, licence, tuple(needs or ()), tuple(package or ()))
    written = new_repo(catalog, given, tell)
    report_written(written)
    return 0 if files_only else report_suite(name, record_suite(catalog.repo(name), tell))


def suite(context: typer.Context, name: Annotated[str, typer.Argument(help="Repository")]) -> int:
    """Run a repository's own tests three times; write which are green, red and flaky to its suite.yaml."""
    from harness.authoring.suite_record import record_suite
    from harness.report.authoring_report import report_suite
    from harness.report.catalog_report import tell

    return report_suite(name, record_suite(catalog_of(context).repo(name), tell))


def new_task(
    context: typer.Context,
    repo: Annotated[str, typer.Argument(help="Repository")],
    task: Annotated[str, typer.Argument(help="The new task's id")],
    behaviour: Annotated[
        str | None, typer.Option(help="What is to be tested, in a few words [asked for at a terminal]")
    ] = None,
    tests: Annotated[
        list[str] | None, typer.Option(help="Upstream's test of it, FILE::NAME, or all of a FILE")
    ] = None,
    kind: Annotated[str, typer.Option(help="unit, integration, acceptance or e2e")] = "unit",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> int:
    """Start a task: withhold upstream's tests of a behaviour, find its code, lay out the other files."""
    from harness.authoring.task_new.command import NewTask, new_task
    from harness.cli.questions import answered, several
    from harness.report.authoring_report import report_proposal
    from harness.report.catalog_report import tell

    said = answered("--behaviour", behaviour, "What is to be tested, in a few words")
    chosen = several("--tests", tests, "Upstream's tests of it (FILE::NAME or FILE, with blanks between)")
    given = NewTask(task, repo, said, chosen, kind)
    return report_proposal(new_task(catalog_of(context), given, tell), as_json)


def edit_task(
    context: typer.Context,
    task: Annotated[str, typer.Argument(help="Task")],
    parts: Annotated[
        list[str],
        typer.Argument(
            metavar="PART...", help="withheld, removal, garbage, placebo, reference, probes/1.4, honest/NAME"
        ),
    ],
    edited: Annotated[
        Path | None,
        typer.Option(
            "--from", help="Take this edited tree; start no editor. Of several parts: DIR/PART or DIR/PART.patch"
        ),
    ] = None,
    to: Annotated[
        Path | None, typer.Option(help="Only write the tree there, for --from later; of several parts DIR/PART")
    ] = None,
    anew: Annotated[bool, typer.Option("--anew", help="Without what the patch says so far")] = False,
) -> int:
    """Edit parts of a task in their trees ($EDITOR, or a shell), and store what was changed as their patches.

    An editor takes one part at a time. With --from several are stored, or none where one of them can't be.
    """
    from harness.authoring.task_edit import command
    from harness.report.authoring_report import report_written
    from harness.specs.errors import UserError

    catalog, [part, *others] = catalog_of(context), parts
    if others and to is None and edited is None:
        raise UserError("an editor takes one part at a time; with several, give --to DIR, then --from DIR")
    if to is not None:
        report_written(
            command.write_trees(catalog, task, parts, to, anew)
            if others
            else [command.write_tree(catalog, task, part, to, anew)]
        )
    elif others and edited is not None:
        report_written(command.edit_parts(catalog, task, parts, edited))
    else:
        report_written([command.edit_task(catalog, task, part, edited, anew)])
    return 0


def task_matrix(
    context: typer.Context,
    task: Annotated[str, typer.Argument(help="Task")],
    fix: Annotated[bool, typer.Option("--fix", help="Write covers.yaml and the manifests from it")] = False,
    reference: Annotated[bool, typer.Option("--reference", help="Leave the honest suites out")] = False,
    twins: Annotated[
        bool, typer.Option("--twins", help="Run the twins and the placebo too: none is noticed")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> int:
    """Which tests of the reference and of the honest suites notice each removal and probe. Status 1: a remark."""
    from harness.authoring.task_matrix import kill_matrix
    from harness.report.authoring_report import report_matrix
    from harness.report.catalog_report import tell

    return report_matrix(kill_matrix(catalog_of(context), task, fix, not reference, tell, twins), as_json)


def preview_task(context: typer.Context, task: Annotated[str, typer.Argument(help="Task")]) -> int:
    """Show what an agent is told, and open its sandbox: each line of input is one of its commands."""
    from harness.authoring.task_preview import preview
    from harness.cli.questions import next_command
    from harness.report.authoring_report import report_line

    preview(catalog_of(context), task, next_command, report_line)
    return 0


def lint_task(
    context: typer.Context,
    task: Annotated[str, typer.Argument(help="Task")],
    judge: Annotated[
        list[str] | None, typer.Option("--judge", help="A model that reads the criteria; several")
    ] = None,
    consistency: Annotated[
        bool, typer.Option("--consistency", help="Have the judges grade known suites; list criteria to reword")
    ] = False,
    votes: Annotated[int, typer.Option(min=1, max=15, help="Votes of each judge, with --consistency")] = 3,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Ask again; ignore cached answers")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> int:
    """Check a task's wording: prompt and rubric, the statements by a judge. Status 1: something is to be reworded."""
    from harness.authoring.judge_consistency import judge_consistency
    from harness.authoring.task_check.command import check
    from harness.report.authoring_report import report_consistency
    from harness.report.catalog_report import tell
    from harness.report.task_check_report import report_task_checks, watching_checks
    from harness.runs.judges import judge_for
    from harness.specs.errors import UserError
    from harness.specs.task_facts import Level

    catalog, named = catalog_of(context), judge or []
    if consistency:
        if not named:
            raise UserError("--consistency asks judges; name one or several: --judge PROVIDER/MODEL")
        judges = [judge_for(catalog, name, not no_cache) for name in named]
        return report_consistency(judge_consistency(catalog, task, judges, votes, tell), as_json)
    if len(named) > 1:
        raise UserError("one --judge compares statements with checks; several go with --consistency")
    catalog.task(task)
    reviewer = judge_for(catalog, named[0], cached=False) if named else None
    with watching_checks(1) as watch:
        checks = check(catalog, {task: Level.QUICK}, 1, watch, None, False, reviewer, ("prompt", "rubric"))
    return report_task_checks(checks, (), as_json)


def try_task(
    context: typer.Context,
    task: Annotated[str, typer.Argument(help="Task")],
    model: Annotated[str, typer.Option("-m", "--model", help="PROVIDER/MODEL, or a model file's name")],
    attempts: Annotated[int, typer.Option("-k", "--attempts", min=1, help="Attempts")] = 4,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Run directory [default: runs/try-TASK]")
    ] = None,
) -> int:
    """A first idea of a task's difficulty: the common scaffold with a model, some times, as an ordinary run."""
    from harness.report.progress import warn, watching
    from harness.report.run_report import report_run
    from harness.runs.command import configure, execute

    options = {"tasks": [task], "scaffolds": ["mini"], "models": [model], "attempts": attempts}
    directory = output or Path("runs") / f"try-{task}"
    return report_run(execute(catalog_of(context), configure(options, None), directory, watching, warn), False)


def add_to(repo_app: typer.Typer, task_app: typer.Typer) -> None:
    """Register the commands with those that read."""
    repo_app.command("new")(new_repo)
    repo_app.command("suite")(suite)
    task_app.command("new")(new_task)
    task_app.command("edit")(edit_task)
    task_app.command("matrix")(task_matrix)
    task_app.command("lint")(lint_task)
    task_app.command("preview")(preview_task)
    task_app.command("try")(try_task)
