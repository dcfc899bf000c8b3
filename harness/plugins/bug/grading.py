"""Grades a hand-in of this track: reproduction, place and repair, each whatever becomes of the others."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.judging.languages.toolchain import Toolchain
from harness.judging.languages.variant_source import VariantSource
from harness.judging.submission.extraction import Submission
from harness.judging.verify.evidence import Evidence, new_draw
from harness.judging.verify.examination import Examination, ask_judge
from harness.judging.verify.judgement import Judgement, judgement_of
from harness.judging.verify.variants import draw_variants
from harness.judging.verify.verdict import RubricStage, VerdictRecord, decide, stage_status
from harness.judging.verify.verification import Judging, read_submission, with_evidence
from harness.plugins.bug.handed_in import HandedIn, own_notes, read_parts
from harness.plugins.bug.hidden import reported_tests
from harness.plugins.bug.hidden_arms import HiddenArms
from harness.plugins.bug.parts import (
    Hidden,
    part_result,
    place_reasons,
    repair_reasons,
    reproduction_reasons,
    without_hidden,
)
from harness.plugins.bug.task import NO_WRONG_FIX, WRONG, WRONG_FIX, BugTask, Part, bug_task
from harness.plugins.bug.texts import read_bug_texts
from harness.sandbox.git_tree import GitTree
from harness.specs.errors import SandboxLost, UserError
from harness.specs.reasons import Reason, ReasonCode
from harness.specs.task import Task
from harness.specs.variants import Arm, ArmKey

Reasons = Mapping[Part, Sequence[Reason]]


async def bug_variants(
    task: Task,
    tree: GitTree,
    toolchain: Toolchain,
    code_seed: int,
    every_twin: bool = False,  # noqa: ARG001
    /,
) -> list[VariantSource]:
    """See `VariantPlanner`: the fixed code is the baseline, and every alternative fix is there, and the wrong one."""
    bug = bug_task(task)
    texts = await read_bug_texts(bug, tree)
    if WRONG_FIX.variant not in texts.probes:
        raise UserError(f"{bug.path(WRONG)}: {NO_WRONG_FIX}")
    drawn = bug.model_copy(update={"probes": (*bug.probes, WRONG_FIX)})
    return draw_variants(drawn, texts, toolchain.separates, code_seed, every_twin=True)


async def grade(judging: Judging, submission: Submission, /) -> Judgement:
    """See `Grader`."""
    task, context = bug_task(judging.task), judging.context
    handed = await read_parts(task, GitTree(context.image.tree), submission.patch)
    if submission.refusal:
        found = await read_submission(task, submission, context, judging.reader)
        return _refused(task, judgement_of(task, context, found, judging.named))
    if handed.refused:
        return _refused(task, judgement_of(task, context, Examination(handed.refused), judging.named))
    found = await read_submission(task, submission, context, judging.reader)
    found = replace(found, intake=own_notes(found.intake, handed))
    kept: dict[ArmKey, Arm] = {}
    if not found.is_refused and Part.REPRODUCE in task.file.parts:
        evidence, kept = without_hidden(await replace(judging, planner=bug_variants).evidence(found))
        found = with_evidence(found, evidence)
    hidden = await _hidden(judging, task, handed, found.evidence, kept)
    report = await ask_judge(judging.judge, task, found, judging.spending) if judging.judge else None
    judgement = judgement_of(task, context, found, judging.named, report)
    if found.evidence:
        whole = replace(found.evidence, arms={**found.evidence.arms, **hidden.arms})
        judgement = replace(judgement, evidence=whole)
        if judging.cache:
            judging.cache.keep(whole)
    else:  # no test of it is judged, so there is no kill to run again
        record = judgement.record.model_copy(update={"control": judging.control})
        judgement = replace(judgement, record=record)
    return replace(judgement, record=_told(task, judgement.record, _reasons(task, judgement.record, found, hidden)))


async def _hidden(
    judging: Judging, task: BugTask, handed: HandedIn, evidence: Evidence | None, kept: Mapping[ArmKey, Arm]
) -> Hidden:
    """Return what the hidden arms show: known from an earlier start, or run now. Raises SandboxLost, UserError."""
    texts = await read_bug_texts(task, GitTree(judging.context.image.tree))
    draw = (evidence.draw if evidence else None) or new_draw(task.digest)
    arms = HiddenArms(judging.context, task, texts, handed, draw.order_seed)
    shown = kept if kept and arms.expected <= kept.keys() else await arms.run()
    showing = task.hidden.shown_by | reported_tests(task)
    hidden = Hidden(showing, handed, shown, arms.buggy, arms.fixes)
    if hidden.wrong_variants:
        raise SandboxLost("a hidden arm could not show that its variant is what runs")
    return hidden


def _reasons(task: BugTask, record: VerdictRecord, found: Examination, hidden: Hidden) -> Reasons:
    partial = [probe.variant for probe in task.probes]
    told = {
        Part.REPRODUCE: reproduction_reasons(_of_tests(record), found.evidence, partial),
        Part.REPAIR: repair_reasons(hidden),
    }
    told[Part.LOCALISE] = place_reasons(hidden, is_repaired=not told[Part.REPAIR])
    return {part: told[part] for part in task.file.parts}


def _of_tests(record: VerdictRecord) -> list[Reason]:
    """Return the reasons of the tests alone; that none ran needs no word beside them."""
    return [reason for reason in record.reasons if reason.code is not ReasonCode.SANDBOX_LOST]


def _told(task: BugTask, record: VerdictRecord, reasons: Reasons) -> VerdictRecord:
    """Return the verdict with its parts as criteria, in the order of the task."""
    every = tuple(dict.fromkeys(reason for part in task.file.parts for reason in reasons[part]))
    criteria = tuple(part_result(part, reasons[part]) for part in task.file.parts)
    others = [reason for part in task.file.parts if part is not Part.REPRODUCE for reason in reasons[part]]
    of_tests = reasons.get(Part.REPRODUCE, ())
    mutation = record.stages.mutation
    if mutation.tests:
        mutation = mutation.model_copy(update={"status": stage_status(of_tests)})
    rubric = RubricStage(status=stage_status(others), criteria=criteria)
    stages = record.stages.model_copy(update={"mutation": mutation, "rubric": rubric})
    return record.model_copy(update={"reasons": every, "verdict": decide(every), "stages": stages})


def _refused(task: BugTask, judgement: Judgement) -> Judgement:
    """Return the judgement of a patch that can't be taken: no part of it is."""
    reasons = judgement.record.reasons
    criteria = tuple(part_result(part, reasons) for part in task.file.parts)
    stages = judgement.record.stages.model_copy(update={"rubric": RubricStage(criteria=criteria)})
    return replace(judgement, record=judgement.record.model_copy(update={"stages": stages}))
