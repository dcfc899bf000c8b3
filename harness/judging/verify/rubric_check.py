"""Stage 3: the rubric. Must-haves are decided by probes and static checks wherever they can be."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pydantic import BaseModel, ConfigDict

from harness.judging.verify.evidence import Evidence, listed_arm
from harness.judging.verify.judge.replies import Opinion
from harness.judging.verify.probe_places import probes_beside
from harness.specs.reasons import Note, NoteCode, Reason, ReasonCode, Stage
from harness.specs.rubric import Criterion, GradedBy, Importance, StaticAnswer, named
from harness.specs.task import Probe, Task
from harness.specs.variants import ArmKey, ArmStatus


class CriterionResult(BaseModel):
    """A criterion's result: met or not; None where nothing could decide it. `killed_by` are tests, per probe.

    `judge` is the judge's answer where one was asked; `agrees` compares it with what probes or code decided.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    axis: int
    importance: Importance
    met: bool | None
    decided_by: GradedBy | None
    words: str
    killed_by: dict[str, tuple[str, ...]] = {}
    judge: Opinion | None = None
    agrees: bool | None = None


def grade(
    task: Task, evidence: Evidence, static: Mapping[str, StaticAnswer], opinions: Mapping[str, Opinion] | None = None
) -> tuple[CriterionResult, ...]:
    """Grade every criterion of the task's rubric. Pure.

    Args:
        task: Whose rubric.
        evidence: What the arms of the probes showed.
        static: Answers of static checks, by criterion.
        opinions: A judge's answers, by criterion.

    Returns:
        One result for each criterion, in the rubric's order.
    """
    results = {criterion: _grade(task, criterion, evidence, static) for criterion in task.rubric.criteria}
    return tuple(with_opinion(of, result, (opinions or {}).get(of.id)) for of, result in results.items())


def judge_rubric(results: Iterable[CriterionResult], task: Task) -> tuple[Reason, ...]:
    """Return a reason for each must-have that isn't met or that nothing could decide."""
    statements = {criterion.id: criterion for criterion in task.rubric.criteria}
    return tuple(
        _reason(result, statements[result.id])
        for result in results
        if result.importance is Importance.MUST and result.met is not True
    )


def disagreements(results: Iterable[CriterionResult]) -> tuple[Note, ...]:
    """Return a note for each criterion on which the judge and the probes differ. The probes decide."""
    return tuple(
        Note(
            code=NoteCode.JUDGE_PROBE_DISAGREE,
            subject=result.id,
            words=f"by the probes it is {'met' if result.met else 'unmet'}, by the judge {result.judge.answer}",
        )
        for result in results
        if result.agrees is False and result.decided_by is GradedBy.PROBE and result.judge
    )


def with_opinion(criterion: Criterion, result: CriterionResult, opinion: Opinion | None) -> CriterionResult:
    """Return a result with the judge's opinion: it decides what nothing else does, elsewhere it is recorded only."""
    if opinion is None:
        return result
    if result.decided_by is None:
        met = met_by(criterion, opinion)
        return result.model_copy(
            update={"met": met, "decided_by": GradedBy.JUDGE, "words": opinion.words, "judge": opinion}
        )
    agrees = None if None in (result.met, opinion.met) else result.met == opinion.met
    return result.model_copy(update={"judge": opinion, "agrees": agrees})


def met_by(criterion: Criterion, opinion: Opinion) -> bool | None:
    """Return whether a judge's opinion of a statement makes its criterion met; None where the judge can't tell."""
    return opinion.met if opinion.met is None else opinion.met is not criterion.negative


def _grade(
    task: Task, criterion: Criterion, evidence: Evidence, static: Mapping[str, StaticAnswer]
) -> CriterionResult:
    if GradedBy.PROBE in criterion.graded_by:
        probes = [probe for probe in task.probes if probe.criterion == criterion.id]
        return _by_probes(criterion, probes, evidence, task)
    if criterion.static is not None:
        return _by_static(criterion, static.get(criterion.id, StaticAnswer(criterion.static, (), ())))
    return ungraded(criterion)


def ungraded(criterion: Criterion) -> CriterionResult:
    """Return the result of a criterion that only a judge can decide, before one has been asked."""
    return _result(criterion, None, None, "asks for a judge, and none is named")


def _by_probes(criterion: Criterion, probes: Sequence[Probe], evidence: Evidence, task: Task) -> CriterionResult:
    arms = [evidence.arms.get(listed_arm(probe.variant)) for probe in probes]
    if not arms or any(arm is None or arm.status is ArmStatus.WRONG_VARIANT for arm in arms):
        return _result(criterion, None, GradedBy.PROBE, "a probe is missing or could not be run")
    killed_by = {probe.name: tuple(_killers(evidence, listed_arm(probe.variant))) for probe in probes}
    survivors = [probe for probe in probes if not killed_by[probe.name]]
    names = ", ".join(probe.name for probe in survivors)
    words = f"no test fails under probe {names}{_around(task, survivors, evidence)}"
    words = words if survivors else "a test fails under each probe"
    result = _result(criterion, not survivors, GradedBy.PROBE, words)
    return result.model_copy(update={"killed_by": killed_by})


def _around(task: Task, survivors: Sequence[Probe], evidence: Evidence) -> str:
    """Say whether tests notice other changes of the code that these probes change; empty where there are none."""
    others = [probe for probe in probes_beside(task.probes, survivors) if listed_arm(probe.variant) in evidence.arms]
    if not others:
        return ""
    found = {test for probe in others for test in _killers(evidence, listed_arm(probe.variant))}
    tests = [str(test) for test in evidence.tests if str(test) in found]
    if not tests:
        return ", nor under another change of the same code: nothing tests it"
    return f"; other changes of the same code are noticed by {named(tests)}: it is tested, but not for this"


def _killers(evidence: Evidence, key: ArmKey) -> Iterator[str]:
    yield from (str(test) for test in evidence.tests if evidence.kills(key, test))


def _by_static(criterion: Criterion, answer: StaticAnswer) -> CriterionResult:
    words = str(answer) if answer.holds else f"{criterion.statement.rstrip('.')}: {answer}"
    return _result(criterion, answer.holds, GradedBy.STATIC, words)


def _result(criterion: Criterion, met: bool | None, by: GradedBy | None, words: str) -> CriterionResult:
    return CriterionResult(
        id=criterion.id, axis=criterion.axis, importance=criterion.importance, met=met, decided_by=by, words=words
    )


def _reason(result: CriterionResult, criterion: Criterion) -> Reason:
    if result.met is False:
        return Reason(
            code=ReasonCode.CRITERION_UNMET, stage=Stage.RUBRIC, subject=result.id, words=criterion.statement
        )
    missing = result.judge.missing if result.judge else None
    code = missing or ReasonCode.JUDGE_UNAVAILABLE
    if result.decided_by is GradedBy.PROBE:
        code = ReasonCode.PROBE_UNAVAILABLE
    return Reason(code=code, stage=Stage.RUBRIC, subject=result.id, words=result.words)
