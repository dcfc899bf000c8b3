"""Grading of technique: the ordinary judging on stages, with reasons that say what a failure there means."""

from dataclasses import replace

from harness.judging.submission.extraction import Submission
from harness.judging.verify.evidence import Evidence, listed_arm
from harness.judging.verify.judgement import Judgement
from harness.judging.verify.verdict import StageStatus, VerdictRecord, decide
from harness.judging.verify.verification import Judging
from harness.plugins.browser.arms_file import ArmsFile, SameArm
from harness.plugins.browser.reasons import APP_DEAD, TECHNIQUE_NOT_SHOWN
from harness.plugins.browser.stage import APP_ENDED, plan_stages
from harness.plugins.browser.task import technique_task
from harness.specs.grading import ControlRound
from harness.specs.reasons import Reason, ReasonCode, Stage
from harness.specs.test_results import Outcome, TestId

SHOWN, NOT_SHOWN, UNMEASURED = "shown", "not shown", "unmeasured"
_SAYS_NOTHING = frozenset({ReasonCode.BASELINE_RED, ReasonCode.BASELINE_MISSING, ReasonCode.BASELINE_SKIPPED})


async def grade_technique(judging: Judging, submission: Submission) -> Judgement:
    """See `Grader`. Kills aren't run again apart: no arm has a text of the application to tell another one of."""
    staged = replace(judging, planner=plan_stages, control=ControlRound.NONE)
    judgement = await staged.run(submission)
    arms = technique_task(judging.task).arms
    reasons = tuple(dict.fromkeys(_refined(reason, arms, judgement.evidence) for reason in judgement.record.reasons))
    if judgement.evidence and _app_died(judgement.evidence):
        words = "the application ended while the tests ran"
        reasons = (Reason(code=APP_DEAD, stage=Stage.MUTATION, words=words), *reasons)
    record = judgement.record.model_copy(update={"reasons": reasons, "verdict": decide(reasons)})
    return replace(judgement, record=record)


def technique_of(record: VerdictRecord) -> str:
    """Say whether a submission shows the technique; unmeasured where its tests never ran, or weren't green."""
    codes = {reason.code for reason in record.reasons}
    if TECHNIQUE_NOT_SHOWN in codes:
        return NOT_SHOWN
    ran = record.stages.rubric.status is not StageStatus.NOT_JUDGED
    return SHOWN if ran and not codes & _SAYS_NOTHING else UNMEASURED


def _refined(reason: Reason, arms: ArmsFile, evidence: Evidence | None) -> Reason:
    if reason.code is ReasonCode.CRITERION_UNMET and reason.subject in arms.technique:
        return reason.model_copy(update={"code": TECHNIQUE_NOT_SHOWN})
    if reason.code is not ReasonCode.PLACEBO_SENSITIVE or evidence is None:
        return reason
    test = TestId.parse(reason.subject)
    red = [arm for arm in arms.same if evidence.outcome(listed_arm(arm.variant), test) is not Outcome.PASSED]
    # Several arms, one reason: the technique's goes first, since that is what is asked for.
    codes = [arm.code for arm in red]
    if TECHNIQUE_NOT_SHOWN in codes:
        return reason.model_copy(update={"code": TECHNIQUE_NOT_SHOWN, "words": _words(red)})
    return reason.model_copy(update={"code": codes[0], "words": _words(red)}) if codes else reason


def _words(red: list[SameArm]) -> str:
    return f"it fails in {', '.join(arm.name for arm in red)}, where the application does what it should"


def _app_died(evidence: Evidence) -> bool:
    return any(item.message == APP_ENDED for arm in evidence.arms.values() for item in arm.results)
