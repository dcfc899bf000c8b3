"""One submission's judging, from bytes to verdict. Read top to bottom: intake, manifest, arms, judge, verdict."""

from dataclasses import replace

from harness.judging.languages.found import TooMuchToRead
from harness.judging.submission.extraction import Submission
from harness.judging.verify.arms import ArmContext, Suite
from harness.judging.verify.evidence import ArmLog, Draw, Evidence, EvidenceCache, UnkeptArms, new_draw
from harness.judging.verify.examination import Examination, ask_judge
from harness.judging.verify.gathering import gather_evidence
from harness.judging.verify.intake import Intake, ingest
from harness.judging.verify.judge.judge import Judge
from harness.judging.verify.judgement import Judgement, combine
from harness.judging.verify.manifest_check import ManifestCheck, affected_tests
from harness.judging.verify.suite_checks import read_suite, too_many_programs, too_much
from harness.judging.verify.suite_reader import SuiteReader, by_grammar, files_around
from harness.judging.verify.variants import plan_variants
from harness.models.allowance import Spending
from harness.sandbox.git_tree import GitTree
from harness.specs.errors import SandboxLost
from harness.specs.reasons import Reason, ReasonCode, Stage
from harness.specs.task import Task


async def verify(
    task: Task,
    submission: Submission,
    context: ArmContext,
    judge: Judge | None = None,
    spending: Spending | None = None,
    cache: EvidenceCache | None = None,
    reader: SuiteReader = by_grammar,
) -> Judgement:
    """Judge a submission in all stages. Never raises for what a submission holds.

    `cache` may have what the arms showed earlier; `spending` is what the judge's money is counted in; `reader` finds
    the submission's tests.
    Raises UserError where the task itself is wrong, and SandboxLost where an arm was lost again and again.
    """
    found = await examine(task, submission, context, cache, reader)
    judging = await ask_judge(judge, task, found, spending) if judge else None
    return combine(task, context, found, judge.identity if judge else None, judging)


async def examine(
    task: Task,
    submission: Submission,
    context: ArmContext,
    cache: EvidenceCache | None = None,
    reader: SuiteReader = by_grammar,
) -> Examination:
    """All that is found out without a model. Arms run only for what is not in the cache. See `verify` for errors."""
    found = await read_submission(task, submission, context, reader)
    if found.is_refused:
        return found
    known = cache.read() if cache else None
    if known and known.tests == found.check.tests:
        return replace(found, evidence=known)
    draw = (cache.draw() if cache else None) or new_draw(task.digest)
    log = cache.begin(found.check.tests, draw) if cache else UnkeptArms()
    evidence = await _run_arms(task, context, found, draw, log)
    if cache:
        cache.keep(evidence)
    return with_evidence(found, evidence)


async def read_submission(
    task: Task, submission: Submission, context: ArmContext, reader: SuiteReader = by_grammar
) -> Examination:
    """What a submission's text shows: which tests it has, or why it is refused. Runs it only where `reader` does."""
    tree = GitTree(context.image.tree)
    intake = await ingest(tree, task.repo, submission.patch)
    if submission.refusal:
        refusal = Reason(code=ReasonCode.PATCH_TOO_LARGE, stage=Stage.INTAKE, words=submission.refusal)
        intake = Intake(reasons=(refusal,))
    if intake.reasons:
        return Examination(intake)
    try:
        language = await reader(task, intake, submission.manifest, context)
    except TooMuchToRead as error:
        return Examination(intake, ManifestCheck(reasons=(too_much(error),)))
    around = {} if task.probes else await files_around(tree, task, intake, language)
    check = await read_suite(task, submission.manifest, intake.changes, language=language, around=around)
    if check.reasons:
        return Examination(intake, check)
    try:
        affected = await affected_tests(tree, intake.changes, language)
    except TooMuchToRead as error:
        return Examination(intake, replace(check, reasons=(too_much(error),)))
    existing = (*check.existing, *affected)
    too_many = too_many_programs(task, (*check.tests, *existing))
    check = replace(check, existing=existing, reasons=(too_many,) if too_many else ())
    return Examination(intake, check, discovery=language.discovery)


def with_evidence(found: Examination, evidence: Evidence) -> Examination:
    """What was found, with what arms showed. Raises SandboxLost where an arm is missing or shows nothing."""
    found = replace(found, evidence=evidence)
    for reason in found.mutation:
        if reason.code is ReasonCode.SANDBOX_LOST:
            raise SandboxLost(f"{reason.subject}: {reason.words}")
    return found


def suite_of(found: Examination) -> Suite:
    """The listed tests and the patch's files, as arms run them."""
    executable = frozenset(change.path for change in found.intake.changes if change.executable)
    return Suite(found.check.tests, found.intake.files, executable, found.intake.deleted)


async def _run_arms(task: Task, context: ArmContext, found: Examination, draw: Draw, log: ArmLog) -> Evidence:
    tree = GitTree(context.image.tree)
    sources = await plan_variants(task, tree, context.toolchain, draw.code_seed, context.every_twin)
    return await gather_evidence(context, task, sources, suite_of(found), found.check, draw, log)
