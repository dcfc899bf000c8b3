"""One submission's judging, from bytes to verdict. Read top to bottom: intake, manifest, arms, judge, verdict."""

from dataclasses import dataclass, replace

from harness.judging.languages.found import TooMuchToRead
from harness.judging.languages.registry import language_of
from harness.judging.submission.extraction import Submission
from harness.judging.testing.reading_process import Text, try_code
from harness.judging.verify.arms import ArmContext, Suite
from harness.judging.verify.collected import by_collection
from harness.judging.verify.conduct.look import declaring_files
from harness.judging.verify.control import USUAL, ControlRules, control_round
from harness.judging.verify.evidence import Evidence, EvidenceCache, new_draw
from harness.judging.verify.examination import Examination, ask_judge
from harness.judging.verify.gathering import ArmPlan, gather_evidence
from harness.judging.verify.intake import Intake, ingest
from harness.judging.verify.judge.judge import Judge
from harness.judging.verify.judge.questions import JudgeIdentity
from harness.judging.verify.judgement import Judgement, judgement_of
from harness.judging.verify.manifest_check import ManifestCheck
from harness.judging.verify.neighbours import affected_tests
from harness.judging.verify.own_runs.package_run import package_run
from harness.judging.verify.own_runs.whole_run import whole_run
from harness.judging.verify.suite_checks import read_suite, too_many_programs, too_much
from harness.judging.verify.suite_reader import READING, SuiteReader, files_around
from harness.judging.verify.variants import VariantPlanner, plan_variants
from harness.models.allowance import Spending
from harness.sandbox.git_tree import GitTree
from harness.specs.errors import SandboxLost
from harness.specs.grading import ControlRound
from harness.specs.reasons import Reason, ReasonCode, Stage
from harness.specs.task import Task


@dataclass(frozen=True)
class Judging:
    """All that the judging of one submission needs.

    `judge` is asked what code can't decide, and its money counts in `spending`. `cache` may have what the arms
    showed earlier, and keeps it. `reader` finds the submission's tests, `planner` draws the variants. `control` says
    which kills are run again alone, and `control_rules` how; with `none`, what `cache` has is judged as it is.
    """

    task: Task
    context: ArmContext
    judge: Judge | None = None
    spending: Spending | None = None
    cache: EvidenceCache | None = None
    reader: SuiteReader = by_collection
    planner: VariantPlanner = plan_variants
    control: ControlRound = ControlRound.DRAWN
    control_rules: ControlRules = USUAL

    @property
    def named(self) -> JudgeIdentity | None:
        """The judge's identity, which each verdict has, also where the judge isn't asked; None without a judge."""
        return self.judge.identity if self.judge else None

    async def run(self, submission: Submission) -> Judgement:
        """Judge a submission in all stages. Nothing that it holds raises an error.

        Raises:
            UserError: The task itself is wrong.
            SandboxLost: An arm was lost again and again.
        """
        found = await read_submission(self.task, submission, self.context, self.reader)
        if self.task.is_public_half:
            return judgement_of(self.task, self.context, found, self.named)
        if not found.is_refused:
            found = with_evidence(found, await self.evidence(found))
        report = await ask_judge(self.judge, self.task, found, self.spending) if self.judge else None
        return judgement_of(self.task, self.context, found, self.named, report)

    async def evidence(self, found: Examination) -> Evidence:
        """Return what the arms show: read from `cache`, or run now.

        Raises:
            UserError: The task itself is wrong.
            SandboxLost: An arm was lost again and again.
        """
        known = self.cache.read() if self.cache else None
        if known:
            is_same, check = known.tests == found.check.tests, found.check
            known = replace(known, checking=check.checking, empty=check.empty) if is_same else None
        if known and (known.control.covers(self.control) or known.draw is None):
            return known
        draw = known.draw if known else self.cache.draw() if self.cache else None
        draw = draw or new_draw(self.task.digest)
        tree, every = GitTree(self.context.image.tree), self.context.every_twin
        sources = await self.planner(self.task, tree, self.context.toolchain, draw.code_seed, every)
        plan = ArmPlan(sources, suite_of(found), found.check, draw)
        log = self.cache.begin(found.check.tests, draw) if self.cache else None
        evidence = known or await gather_evidence(self.context, self.task, plan, log)
        evidence = await control_round(self.context, self.task, plan, evidence, self.control, log, self.control_rules)
        language = language_of(self.task.repo)
        evidence = await whole_run(self.context, self.task, plan, evidence, language, log)
        evidence = await package_run(self.context, self.task, plan, evidence, language, log)
        if self.cache:
            self.cache.keep(evidence)
        return evidence


async def read_submission(
    task: Task, submission: Submission, context: ArmContext, reader: SuiteReader = by_collection
) -> Examination:
    """Read a submission: which tests it has, or why it is refused.

    Args:
        task: What was asked for.
        submission: A patch and a manifest, written by whoever wants them accepted.
        context: Where the tree and the containers are.
        reader: Finds the tests. A reader may run them.

    Returns:
        With reasons where it is refused; nothing that it holds raises an error.
    """
    tree = GitTree(context.image.tree)
    intake = await ingest(tree, task.repo, submission.patch)
    if submission.refusal:
        refusal = Reason(code=ReasonCode.PATCH_TOO_LARGE, stage=Stage.INTAKE, words=submission.refusal)
        intake = Intake(reasons=(refusal,))
    if intake.reasons:
        return Examination(intake)
    try:
        await _try_texts(task, intake)
        language = await reader(task, intake, submission.manifest, context)
    except TooMuchToRead as error:
        return Examination(intake, ManifestCheck(reasons=(too_much(error),)))
    around = {} if task.probes else await files_around(tree, task, intake, language)
    declaring = await declaring_files(tree, task, language)
    check = await read_suite(
        task, submission.manifest, intake.changes, language=language, around=around, declaring=declaring
    )
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


async def _try_texts(task: Task, intake: Intake) -> None:
    """Read what is dear of a submission apart, each file and all code together. Raises TooMuchToRead."""
    suffixes = language_of(task.repo).suffixes
    texts = [Text(change.path, change.new) for change in intake.changes if change.new]
    code = [text for text in texts if text.path.endswith(suffixes)]
    joined = [Text(code[0].path, b"\n\n".join(text.data for text in code))] if len(code) > 1 else []
    if unread := await try_code([*texts, *joined], READING):
        raise TooMuchToRead(f"{unread.path}: {unread.words}")


def with_evidence(found: Examination, evidence: Evidence) -> Examination:
    """Return a submission's reading together with what its arms showed.

    Raises:
        SandboxLost: An arm is missing or shows nothing.
    """
    found = replace(found, evidence=evidence)
    for reason in found.mutation:
        if reason.code is ReasonCode.SANDBOX_LOST:
            raise SandboxLost(f"{reason.subject}: {reason.words}")
    return found


def suite_of(found: Examination) -> Suite:
    """Return the listed tests and the patch's files, as arms run them."""
    executable = frozenset(change.path for change in found.intake.changes if change.executable)
    return Suite(found.check.tests, found.intake.files, executable, found.intake.deleted)
