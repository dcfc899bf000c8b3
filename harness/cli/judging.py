"""`testwright verify`, `regrade` and `judge`."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.catalog_commands import TASK
from harness.cli.published import AllCriteria, ImageMap
from harness.specs.grading import ControlRound, GradingRules

judge_app = typer.Typer(help="The model that judges what code can't decide.", no_args_is_help=True)

JudgeModel = Annotated[str | None, typer.Option("--judge", help="Model that judges what code can't decide")]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Ask the judge again; ignore its cached answers")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON")]


def verify(
    context: typer.Context,
    task: Annotated[str | None, typer.Argument(help=TASK)] = None,
    patch: Annotated[Path | None, typer.Option(help="The submission's patch")] = None,
    manifest: Annotated[Path | None, typer.Option(help="The submission's manifest")] = None,
    batch: Annotated[
        Path | None, typer.Option(help="Folder of submissions: */patch.diff, */manifest.yaml and */expect.yaml")
    ] = None,
    judge: JudgeModel = None,
    no_cache: NoCache = False,
    protocol: Annotated[
        GradingRules, typer.Option(help="Grading rules: testwright, published (swe-atlas tasks) or both")
    ] = GradingRules.TESTWRIGHT,
    control: Annotated[
        ControlRound, typer.Option(help="Kills run again alone before a submission is resolved: none, drawn or all")
    ] = ControlRound.DRAWN,
    image_map: ImageMap = None,
    all_criteria: AllCriteria = False,
    sandbox: Annotated[str, typer.Option(help="auto, docker, local, swerex:URL or swerex:FILE")] = "auto",
    jobs: Annotated[int, typer.Option("-j", "--jobs", min=1, help="Submissions at once")] = 1,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Directory for verdicts and arms' output")
    ] = None,
    times: Annotated[
        int, typer.Option(min=1, help="Judge the submission so often, drawn anew each time, and compare the verdicts")
    ] = 1,
    mutants: Annotated[int, typer.Option(min=0, help="Beside the verdict: a mutation score on so many mutants")] = 0,
    mutant_seed: Annotated[int, typer.Option(help="How the mutants are drawn")] = 0,
    export_mutants: Annotated[
        Path | None, typer.Option(help="Write the mutants to this file, in Stryker's report format")
    ] = None,
    as_json: Json = False,
) -> int:
    """Judge a submission, or a folder of them.

    Status 1: one can't be scored, or differs from its expect.yaml, or from one time to the next (--times).
    """
    from harness.judging.verify.mutants.running import MutantOrder
    from harness.results.report.batch_report import progress_line, report_batch, report_one, report_times
    from harness.results.report.mutants_report import export_mutants as export
    from harness.runs.judges import judge_for
    from harness.runs.submissions import JudgingOrder, judge_again_and_again, judge_cases, read_batch, read_case
    from harness.specs.catalog import Catalog
    from harness.specs.errors import UserError
    from harness.specs.tracks import TaskOptions

    catalog = Catalog(context.obj, TaskOptions(image_map, all_criteria))
    if export_mutants and (batch or not mutants):
        raise UserError(
            "--export-mutants goes with --mutants N and one submission: TASK --patch FILE --manifest FILE"
        )
    named = judge_for(catalog, judge, not no_cache) if judge else None
    order = JudgingOrder(named, protocol, MutantOrder(mutants, mutant_seed) if mutants else None, control)
    if batch and times > 1:
        raise UserError("--times is for one submission: TASK --patch FILE --manifest FILE")
    if batch:
        cases = read_batch(catalog, batch, task)
        return report_batch(judge_cases(cases, sandbox, output, jobs, progress_line(len(cases)), order), as_json)
    if not (task and patch and manifest):
        raise UserError("verify needs TASK --patch FILE --manifest FILE, or --batch DIR")
    case = read_case(catalog.task(task), patch, manifest)
    judged = judge_again_and_again(case, times, sandbox, output, order)
    if export_mutants:
        export(judged[0], export_mutants)
    return report_times(judged, as_json) if times > 1 else report_one(judged[0], as_json)


def regrade(
    context: typer.Context,
    directory: Annotated[Path, typer.Argument(metavar="RUN", help="Run directory")],
    stage: Annotated[
        str, typer.Option(help="First stage to do again: manifest, mutation (runs the tests again) or rubric")
    ] = "rubric",
    same_draw: Annotated[
        bool,
        typer.Option("--same-draw", help="Run the arms as chance arranged them the last time (--stage mutation)"),
    ] = False,
    control: Annotated[
        ControlRound | None,
        typer.Option(
            help="Kills run again alone before a submission is resolved: none, drawn or all (--stage mutation)"
            " [default: the run's]"
        ),
    ] = None,
    judge: JudgeModel = None,
    no_cache: NoCache = False,
    as_json: Json = False,
) -> int:
    """Judge a run's submissions again, with another judge or rubric; the agents' work stays as it is.

    Without --judge the run's own judge is asked. Status 1: a trial has no new verdict, an unscored
    one, or one in which none of the judge's answers counts.
    """
    from harness.results.report.batch_report import report_regrading
    from harness.results.report.progress import warn
    from harness.runs.regrade import regrade as judge_again
    from harness.specs.catalog import Catalog

    catalog = Catalog(context.obj)
    again = judge_again(catalog, directory, stage, judge, not no_cache, warn, same_draw, control)
    return report_regrading(again, as_json)


@judge_app.command("test")
def try_judge(
    context: typer.Context,
    model: Annotated[str, typer.Option("-m", "--model", help="The judge")],
    corpus: Annotated[
        Path | None, typer.Option(help="Folder with attacks.yaml and benign.yaml [default: tests/injection]")
    ] = None,
    votes: Annotated[int, typer.Option(min=1, max=15, help="Votes on each case")] = 3,
    no_cache: NoCache = False,
    as_json: Json = False,
) -> int:
    """Measure how often patches manipulate a judge, and how often it misjudges honest patches."""
    from harness.results.injection import default_corpus, read_corpus
    from harness.results.injection import try_judge as let_patches_talk
    from harness.results.report.judge_report import report_injection
    from harness.runs.judges import judge_for
    from harness.specs.catalog import Catalog

    attacks, benign = read_corpus(corpus or default_corpus())
    judge = judge_for(Catalog(context.obj), model, not no_cache)
    return report_injection(let_patches_talk(judge, attacks, benign, votes), as_json)


@judge_app.command("calibrate")
def calibrate_judge(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run directories")],
    gold: Annotated[Path | None, typer.Option(help="YAML file with labels that people gave")] = None,
    as_json: Json = False,
) -> int:
    """Compare a judge's answers with those of probes, static checks and people: agreement and Cohen's kappa."""
    from harness.results.calibration import calibrate
    from harness.results.report.judge_report import report_calibration

    return report_calibration(calibrate(runs, gold), as_json)
