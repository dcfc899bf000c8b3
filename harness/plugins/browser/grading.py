"""Grading on stages: the ordinary judging, with reasons that say what a failure there means."""

from collections.abc import Iterator
from dataclasses import fields, replace

from harness.judging.submission.extraction import Submission
from harness.judging.verify.control import ControlRules
from harness.judging.verify.evidence import Evidence, listed_arm
from harness.judging.verify.judgement import Judgement
from harness.judging.verify.variants import VariantPlanner
from harness.judging.verify.verdict import StageStatus, VerdictRecord, decide
from harness.judging.verify.verification import Judging
from harness.plugins.browser.arms_file import ArmsFile, SameArm
from harness.plugins.browser.beside import StagedJudging, beside_reasons
from harness.plugins.browser.reasons import APP_DEAD, DATA_DEPENDENT, ORDER_DEPENDENT, RETRIES, TECHNIQUE_NOT_SHOWN
from harness.plugins.browser.stage import APP_ENDED, plan_stages
from harness.plugins.browser.task import staged_task
from harness.specs.reasons import Reason, ReasonCode, Stage
from harness.specs.test_results import Outcome, Quality, TestId, TestResult

SHOWN, NOT_SHOWN, UNMEASURED = "shown", "not shown", "unmeasured"
KILLS = 2
CONTROL = ControlRules(KILLS, on_copy=False)
"""Each kill is four containers more, and an image with a browser has some 1.5 GB."""
_NOT_SHOWN = frozenset({TECHNIQUE_NOT_SHOWN, ORDER_DEPENDENT, DATA_DEPENDENT})
"""Neglect of a task's constraint: only where that speaks of order or of data are there arms with these reasons."""
_SAYS_NOTHING = frozenset({ReasonCode.BASELINE_RED, ReasonCode.BASELINE_MISSING, ReasonCode.BASELINE_SKIPPED})


async def grade_staged(judging: Judging, submission: Submission) -> Judgement:
    """See `Grader`."""
    judgement = await staged(judging).run(submission)
    arms = staged_task(judging.task).arms
    reasons = tuple(dict.fromkeys(_refined(reason, arms, judgement) for reason in judgement.record.reasons))
    if judgement.evidence:
        reasons = (*reasons, *beside_reasons(judgement.evidence, arms))
    if judgement.evidence and _app_died(judgement.evidence):
        reasons = (Reason(code=APP_DEAD, stage=Stage.MUTATION, words=APP_ENDED), *reasons)
    record = judgement.record.model_copy(update={"reasons": reasons, "verdict": decide(reasons)})
    return replace(judgement, record=record)


def staged(judging: Judging, planner: VariantPlanner = plan_stages) -> StagedJudging:
    """Return the judging on stages, with the arms beside."""
    own = {field.name: getattr(judging, field.name) for field in fields(Judging)}
    return StagedJudging(**{**own, "planner": planner, "control_rules": CONTROL})


def technique_of(record: VerdictRecord) -> str:
    """Say whether a submission shows the technique; unmeasured where its tests never ran, or weren't green."""
    codes = {reason.code for reason in record.reasons}
    if codes & _NOT_SHOWN:
        return NOT_SHOWN
    ran = record.stages.rubric.status is not StageStatus.NOT_JUDGED
    return SHOWN if ran and not codes & _SAYS_NOTHING else UNMEASURED


def _refined(reason: Reason, arms: ArmsFile, judgement: Judgement) -> Reason:
    evidence = judgement.evidence
    if reason.code is ReasonCode.CRITERION_UNMET:
        return _unmet(reason, arms, judgement)
    if evidence is None or reason.code not in (ReasonCode.PLACEBO_SENSITIVE, ReasonCode.BASELINE_RED):
        return reason
    test = TestId.parse(reason.subject)
    if any(item.quality is Quality.RETRIED for item in _results(evidence, test)):
        words = "it ran more than once in one run, where the application does what it should: take its retries away"
        return reason.model_copy(update={"code": RETRIES, "words": words})
    if reason.code is ReasonCode.BASELINE_RED:
        return reason
    red = [arm for arm in arms.same if evidence.outcome(listed_arm(arm.variant), test) is not Outcome.PASSED]
    # Several arms, one reason: the technique's goes first, since that is what is asked for.
    codes = [arm.code for arm in red]
    if TECHNIQUE_NOT_SHOWN in codes:
        return reason.model_copy(update={"code": TECHNIQUE_NOT_SHOWN, "words": _words(red)})
    return reason.model_copy(update={"code": codes[0], "words": _words(red)}) if codes else reason


def _unmet(reason: Reason, arms: ArmsFile, judgement: Judgement) -> Reason:
    """Return the reason of a criterion whose mutants go unnoticed, with the code that says why."""
    killed = {
        name: tests for item in judgement.record.stages.rubric.criteria for name, tests in item.killed_by.items()
    }
    alive = [arm for arm in arms.must_fail if arm.criterion == reason.subject and not killed.get(arm.probe)]
    if alive and all(arm.reason == RETRIES for arm in alive):
        words = f"{reason.words} A fault that shows the first time alone goes unnoticed."
        return reason.model_copy(update={"code": RETRIES, "words": words})
    ran = judgement.evidence.arms if judgement.evidence else {}
    seen = [item for arm in alive for item in ran[listed_arm(arm.variant)].results]
    if any(item.quality is Quality.RETRIED for item in seen):
        words = f"{reason.words} What failed ran again, which shows nothing: take its retries away."
        return reason.model_copy(update={"code": RETRIES, "words": words})
    if reason.subject in arms.technique:
        return reason.model_copy(update={"code": TECHNIQUE_NOT_SHOWN})
    return reason


def _results(evidence: Evidence, test: TestId) -> Iterator[TestResult]:
    """Yield a test's results in all arms of the same behaviour."""
    alike = (arm for arm in evidence.arms.values() if arm.kind.behaves_like_baseline)
    return (item for arm in alike for item in arm.results if item.test == test)


def _words(red: list[SameArm]) -> str:
    return f"it fails in {', '.join(arm.name for arm in red)}, where the application does what it should"


def _app_died(evidence: Evidence) -> bool:
    return any(item.quality is Quality.APP_ENDED for arm in evidence.arms.values() for item in arm.results)
