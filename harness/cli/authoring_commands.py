"""`testwright repo new`, `repo suite` and the commands of `testwright task` that write.

`testwright task stub` and `task probe`: code that is taken out, and code that is changed a little.

Asking for what the command line doesn't say, where somebody is there to answer.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.catalog_commands import Json, catalog_of
from harness.specs.errors import UserError


def new_repo(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Its name in the catalog")],
    pypi: Annotated[str | None, typer.Option(metavar="PKG==V", help="A release on pip's index")] = None,
    debian: Annotated[str | None, typer.Option(metavar="SRC=V", help="A source package of Debian")] = None,
    npm: Annotated[str | None, typer.Option(metavar="PKG@V", help="A release on npm, with its sources")] = None,
    archive: Annotated[str | None, typer.Option(metavar="FILE|URL", help="A tar archive, with --version")] = None,
    git: Annotated[
        str | None, typer.Option(metavar="URL@COMMIT", help="A commit of any git URL or local path")
    ] = None,
    version: Annotated[str, typer.Option(help="The version of an archive, or that a commit is built as")] = "",
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
    from harness.results.report.authoring_report import report_suite, report_written
    from harness.results.report.catalog_report import tell

    catalog = catalog_of(context)
    kind, source = source_of({"pypi": pypi, "debian": debian, "npm": npm, "archive": archive, "git": git})
    given = Given(name, kind, source, version, sha256, licence, tuple(needs or ()), tuple(package or ()))
    written = new_repo(catalog, given, tell)
    report_written(written)
    return 0 if files_only else report_suite(name, record_suite(catalog.repo(name), tell))


def suite(context: typer.Context, name: Annotated[str, typer.Argument(help="Repository")]) -> int:
    """Run a repository's own tests three times; write which are green, red and flaky to its suite.yaml."""
    from harness.authoring.suite_record import record_suite
    from harness.results.report.authoring_report import report_suite
    from harness.results.report.catalog_report import tell

    return report_suite(name, record_suite(catalog_of(context).repo(name), tell))


def new_task(
    context: typer.Context,
    repo: Annotated[str, typer.Argument(help="Repository")],
    task: Annotated[str, typer.Argument(help="The new task's id")],
    behaviour: Annotated[
        str | None, typer.Option(help="The behaviour to be tested, in a few words [asked for at a terminal]")
    ] = None,
    tests: Annotated[
        list[str] | None, typer.Option(help="Upstream's test of it, FILE::NAME, or all of a FILE")
    ] = None,
    kind: Annotated[
        str,
        typer.Option(help="unit, integration, acceptance or e2e (docs/browser.md tells of tasks of the track e2e)"),
    ] = "unit",
    files_only: Annotated[
        bool, typer.Option("--files-only", help="Write the files; run no test to find the code")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> int:
    """Start a task: withhold upstream's tests of a behaviour, find its code, lay out the other files."""
    from harness.authoring.task_new.command import NewTask, new_task
    from harness.results.report.authoring_report import report_proposal
    from harness.results.report.catalog_report import tell

    said = answered("--behaviour", behaviour, "What is to be tested, in a few words")
    chosen = several("--tests", tests, "Upstream's tests of it (FILE::NAME or FILE, with blanks between)")
    given = NewTask(task, repo, said, chosen, kind, files_only)
    return report_proposal(new_task(catalog_of(context), given, tell), as_json)


def edit_task(
    context: typer.Context,
    task: Annotated[str, typer.Argument(help="Task")],
    parts: Annotated[
        list[str],
        typer.Argument(
            metavar="PART...",
            help="withheld, removal, garbage, placebo, reference, probes/1.4, twins/1.4, probes-on-placebo/1.4,"
            " honest/NAME",
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
    from harness.authoring import task_edit as command
    from harness.results.report.authoring_report import report_written
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
        report_written(command.edit_task(catalog, task, part, edited, anew))
    return 0


def task_matrix(
    context: typer.Context,
    task: Annotated[str, typer.Argument(help="Task")],
    fix: Annotated[
        bool, typer.Option("--fix", help="Write covers.yaml, the manifests and each expect.yaml from it")
    ] = False,
    reference: Annotated[bool, typer.Option("--reference", help="Leave the honest suites out")] = False,
    twins: Annotated[
        bool, typer.Option("--twins", help="Run the twins and the placebo too: none is noticed")
    ] = False,
    remember: Annotated[
        bool, typer.Option("--remember", help="Keep what runs; leave out suites that ran on the same variants")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> int:
    """Show which tests of the reference and the honest suites notice each removal and probe. Status 1: a remark."""
    from harness.authoring.task_matrix import MatrixOrder, kill_matrix
    from harness.results.report.authoring_report import report_matrix
    from harness.results.report.catalog_report import tell

    order = MatrixOrder(fix=fix, honest=not reference, twins=twins, remember=remember)
    return report_matrix(kill_matrix(catalog_of(context), task, order, tell), as_json)


def preview_task(context: typer.Context, task: Annotated[str, typer.Argument(help="Task")]) -> int:
    """Show what an agent is told, and open its sandbox: each line of input is one of its commands."""
    from harness.authoring.task_preview import preview
    from harness.results.report.authoring_report import report_line

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
    from harness.authoring.task_check.command import absent_parts, check
    from harness.authoring.task_check.context import CheckOrder
    from harness.results.report.authoring_report import report_consistency
    from harness.results.report.catalog_report import tell
    from harness.results.report.task_check_report import report_task_checks, watching_checks
    from harness.runs.judges import judge_for
    from harness.specs.errors import UserError
    from harness.specs.task_facts import Level, StepId

    catalog, named = catalog_of(context), judge or []
    if consistency:
        if not named:
            raise UserError("--consistency asks judges; name one or several: --judge PROVIDER/MODEL")
        judges = [judge_for(catalog, name, not no_cache) for name in named]
        return report_consistency(judge_consistency(catalog, task, judges, votes, tell), as_json)
    if len(named) > 1:
        raise UserError("one --judge compares statements with checks; several go with --consistency")
    catalog.task(task)
    absent = absent_parts(catalog, {task: Level.QUICK}, read := (StepId.PROMPT, StepId.RUBRIC))
    if len(absent) == len(read) and not named:
        raise UserError(absent[0])
    reviewer = judge_for(catalog, named[0], cached=False) if named else None
    with watching_checks(1) as watch:
        order = CheckOrder(reviewer, frozenset(read))
        checks = check(catalog, {task: Level.QUICK}, 1, watch, order=order)
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
    """Run the common scaffold on a task some times, as an ordinary run: a first idea of the task's difficulty."""
    from harness.results.report.progress import warn, watching
    from harness.results.report.run_report import report_run
    from harness.runs.command import configure, execute

    options = {"tasks": [task], "scaffolds": ["mini"], "models": [model], "attempts": attempts}
    directory = output or Path("runs") / f"try-{task}"
    return report_run(execute(catalog_of(context), configure(options, None), directory, watching, warn), False)


def split_task(
    context: typer.Context,
    tasks: Annotated[list[str], typer.Argument(help="Task ids, globs or tag:NAME")],
    public: Annotated[Path, typer.Option(help="The catalog to publish: prompt, withheld tests, repository")],
    private: Annotated[Path, typer.Option(help="The catalog to keep: the whole tasks, rubrics and honest suites")],
    replace: Annotated[bool, typer.Option("--replace", help="Write halves anew that are there already")] = False,
) -> int:
    """Split tasks into a catalog to publish and one to keep. A suite is scored where both are named."""
    from harness.authoring.task_split import Halves, split
    from harness.results.report.authoring_report import report_written

    report_written(split(catalog_of(context), tasks, Halves(public, private), replace))
    return 0


def write_catalogue(
    context: typer.Context,
    records: Annotated[Path, typer.Option(help="Folder with a check record per task")] = Path("check-records"),
    to: Annotated[Path | None, typer.Option(help="Write the page to this file [default: print it]")] = None,
) -> int:
    """Tell all tasks on one page: what each asks for, its size, and the seconds of one judging."""
    from harness.authoring.catalogue import catalogue
    from harness.results.report.authoring_report import report_line, report_written

    page = catalogue(catalog_of(context), records)
    if to is None:
        report_line(page)
    else:
        to.write_text(page)
        report_written([to])
    return 0


def score_suites(
    context: typer.Context,
    tasks: Annotated[list[str] | None, typer.Argument(help="Tasks to measure: ids, globs or tag:NAME")] = None,
    records: Annotated[Path, typer.Option(help="Folder with the numbers of each task")] = Path("mutation-scores"),
    as_json: Json = False,
) -> int:
    """Measure how many mutants each suite of a task kills: the reference's and the honest suites'.

    Without a task it shows what was measured before. Status 1: lazy suites kill more than thorough ones.
    """
    import asyncio

    from harness.authoring.suite_scores import measure_all, out_of_order, read_scores, score_cells
    from harness.results.report.authoring_report import report_scores
    from harness.results.report.catalog_report import tell

    if tasks:
        catalog = catalog_of(context)
        asyncio.run(measure_all(catalog, catalog.select(tasks), records, tell))
    elif not records.is_dir():
        raise UserError(f"--records {records}: there is no such folder; name tasks to measure them")
    known = read_scores(records)
    rows = [(each.task, *score_cells(each)) for each in known]
    return report_scores(rows, [words for each in known for words in out_of_order(each)], as_json)


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
    task_app.command("split")(split_task)
    task_app.command("catalogue")(write_catalogue)
    task_app.command("scores")(score_suites)


def answered(option: str, given: str | None, question: str) -> str:
    """Return what is given, else the answer at a terminal.

    Raises:
        UserError: There is neither.
    """
    if given:
        return given
    if not sys.stdin.isatty():
        raise UserError(f"{option} is missing, and nobody is at a terminal to ask")
    return str(typer.prompt(question))


def next_command() -> str | None:
    """Return a line of standard input, asked for at a terminal; None at its end."""
    if sys.stdin.isatty():
        print("$ ", end="", flush=True)
    line = sys.stdin.readline()
    return line.rstrip("\n") if line else None


def several(option: str, given: Sequence[str] | None, question: str) -> tuple[str, ...]:
    """Return words from an option, or else asked for at a terminal."""
    return tuple(given) if given else tuple(answered(option, None, question).split())
