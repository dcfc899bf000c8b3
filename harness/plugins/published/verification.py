"""One submission judged as the published verifier does it, for parity: its rules, in containers of our own.

Two things are not as published, on purpose: agent and tests don't share a container, and an answer of the judge
that can't be read is asked for again and never passes for a yes. Each statement gets as many votes as in our own
judging: where both are asked for, most answers are known from there.
"""

from dataclasses import dataclass, replace

from harness.judging.submission.extraction import Submission
from harness.judging.verify.arms import ArmContext
from harness.judging.verify.evidence import BASELINE
from harness.judging.verify.examination import judge_manifest, listed_texts
from harness.judging.verify.intake import unpacking_fault
from harness.judging.verify.judge.judge import Judge, JudgeReport
from harness.judging.verify.judge.questions import Brief, questions_for
from harness.judging.verify.judgement import Judgement, judge_record, verdict_record
from harness.judging.verify.rubric_check import CriterionResult, judge_rubric, ungraded, with_opinion
from harness.judging.verify.suite_reader import read_apart
from harness.judging.verify.verdict import (
    ManifestStage,
    MutationStage,
    RubricStage,
    Stages,
    StageStatus,
    TestRecord,
    VerdictRecord,
    stage_status,
)
from harness.judging.verify.verification import Judging, read_submission
from harness.plugins.published.arms import AgentsTree, run_log
from harness.plugins.published.rule import is_test_path, judge_mutation, listed_names, log_records
from harness.plugins.published.seen_tests import by_grammar_or_run
from harness.plugins.published.task import PublishedTask, published_task
from harness.sandbox.git import GitError, GitTooMuchWork
from harness.sandbox.git_tree import GitTree
from harness.specs.grading import GradingRules
from harness.specs.reasons import Reason, ReasonCode, Stage
from harness.specs.rubric import Importance
from harness.specs.variants import ArmKey, Role

BEFORE, AFTER = ArmKey(Role.PUBLISHED, BASELINE), ArmKey(Role.PUBLISHED, "removal")
"""Its two test runs."""
_REGULAR = ("100644", "100755")


@dataclass(frozen=True)
class _Found:
    """Results of the test runs; they `ran` unless something was refused before."""

    names: tuple[str, ...]
    reasons: tuple[Reason, ...]
    ran: bool = False
    tests: tuple[TestRecord, ...] = ()


async def verify_by_ours(judging: Judging, submission: Submission) -> Judgement:
    """See `Grader`. Tests that no grammar shows are found by a run of the task's own script."""
    return await replace(judging, reader=by_grammar_or_run).run(submission)


async def verify_published(judging: Judging, submission: Submission) -> Judgement:
    """See `Grader`. Nothing of its test runs is kept for another time."""
    task, context, judge = published_task(judging.task), judging.context, judging.judge
    found = await _examine(task, submission, context)
    report = None
    if judge and not found.reasons:
        questions = questions_for(task, judge.identity.votes)
        texts = await _texts(task, submission, context)
        brief = Brief(prompt=task.objective, patch=submission.patch, tests=texts, questions=questions)
        report = await judge.ask(brief, judging.spending, trusting=True)
    return Judgement(_record(task, context, found, judge, report), submission.patch, judging=report)


async def _examine(task: PublishedTask, submission: Submission, context: ArmContext) -> _Found:
    names = tuple(listed_names(submission.manifest.decode("utf-8", "replace")))
    if submission.refusal:
        return _Found(names, (_reason(ReasonCode.PATCH_TOO_LARGE, Stage.INTAKE, submission.refusal),))
    if not submission.patch.strip():
        return _Found(names, (_reason(ReasonCode.EMPTY_SUBMISSION, Stage.INTAKE, "the patch is empty"),))
    if not names:
        words = "no line of the manifest names a test"
        return _Found(names, (_reason(ReasonCode.MANIFEST_MISSING, Stage.MANIFEST, words),))
    return await _mutation(task, submission, context, names)


async def _mutation(
    task: PublishedTask, submission: Submission, context: ArmContext, names: tuple[str, ...]
) -> _Found:
    tree = GitTree(context.image.tree)
    if fault := unpacking_fault(submission.patch):
        return _Found(names, (fault,))
    try:
        agents = await tree.apply(submission.patch)
    except GitTooMuchWork as error:
        return _Found(names, (_reason(ReasonCode.PATCH_TOO_LARGE, Stage.INTAKE, str(error)),))
    except GitError:
        words = "it does not apply to the task's tree"
        return _Found(names, (_reason(ReasonCode.PATCH_DOES_NOT_APPLY, Stage.INTAKE, words),))
    try:
        without = await tree.apply(task.patch("removal.patch"), onto=agents)
    except GitError:
        words = "the removal does not apply to what the patch makes of the code"
        return _Found(names, (_reason(ReasonCode.PATCH_DOES_NOT_APPLY, Stage.MUTATION, words),), ran=True)
    theirs = await agents_tree(tree, agents)
    removed = [change for change in await tree.changes(without, agents) if change.new]
    changed = await tree.read_all({change.path: change.new for change in removed if change.new})
    files = test_files(theirs)
    before = await run_log(context, task, theirs, {}, files, BEFORE)
    after = await run_log(context, task, theirs, changed, files, AFTER)
    reasons = judge_mutation(names, before, after, underscored=task.is_underscored)
    tests = log_records(names, before, after, underscored=task.is_underscored)
    return _Found(names, reasons, ran=True, tests=tests)


def test_files(tree: AgentsTree) -> list[str]:
    """Return what the run script is given: all that the published rule takes for a test file, data files too."""
    return [path for path in tree.files if is_test_path(path)]


async def agents_tree(tree: GitTree, agents: str) -> AgentsTree:
    """Return what differs between the image's tree and `agents`, the id of a tree of the same git directory."""
    changes = await tree.changes(agents)
    written = {change.path: change.new for change in changes if change.new and change.new.mode in _REGULAR}
    return AgentsTree(
        files=await tree.read_all(written),
        removed=tuple(change.path for change in changes if change.new is None),
        executable=frozenset(path for path, entry in written.items() if entry.mode == "100755"),
    )


async def _texts(task: PublishedTask, submission: Submission, context: ArmContext) -> dict[str, str]:
    """Return the tests' texts as our own judging finds them, so that a judge is asked the same.

    There are none where the manifest can't be read.
    """
    found = await read_submission(task, submission, context, by_grammar_or_run)
    discovery, check = found.discovery, found.check
    if discovery is None or check.reasons:
        return {}
    return await read_apart(lambda: listed_texts(discovery, found.intake.changes, check.tests))


def _record(
    task: PublishedTask, context: ArmContext, found: _Found, judge: Judge | None, judging: JudgeReport | None
) -> VerdictRecord:
    """Return the published verdict; unscored without a judge, which manifest and rubric need."""
    told = judge_manifest(judging) if judging else ()
    criteria = _criteria(task, judging) if not found.reasons else ()
    rubric = judge_rubric(criteria, task)
    reasons = (*found.reasons, *told, *rubric)
    at = {stage: [reason for reason in reasons if reason.stage is stage] for stage in Stage}
    refused = at[Stage.MANIFEST] or at[Stage.INTAKE]
    stages = Stages(
        manifest=ManifestStage(
            status=stage_status(refused) if judging or refused else StageStatus.NOT_JUDGED, tests=found.names
        ),
        mutation=MutationStage(
            status=stage_status(at[Stage.MUTATION]) if found.ran else StageStatus.NOT_JUDGED, tests=found.tests
        ),
        rubric=RubricStage(status=stage_status(at[Stage.RUBRIC]), criteria=criteria) if criteria else RubricStage(),
    )
    asked = judge_record(judge.identity if judge else None, judging)
    return verdict_record(task, context, reasons, stages=stages, judge=asked, rules=GradingRules.PUBLISHED)


def _criteria(task: PublishedTask, judging: JudgeReport | None) -> tuple[CriterionResult, ...]:
    opinions = judging.opinions if judging else {}
    return tuple(
        with_opinion(criterion, ungraded(criterion), opinions.get(criterion.id))
        for criterion in task.rubric.criteria
        if criterion.importance is Importance.MUST or task.all_criteria
    )


def _reason(code: ReasonCode, stage: Stage, words: str) -> Reason:
    return Reason(code=code, stage=stage, words=words)
