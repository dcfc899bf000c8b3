"""The parts of a design's check: its files, the reference, values beside the edges, and a design of nothing."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from harness.authoring.task_check.context import Part, TrackChecks
from harness.authoring.task_check.subject import Subject
from harness.judging.submission.extraction import Submission
from harness.judging.verify.arms import ArmRunner
from harness.judging.verify.evidence import AT_BASELINE, Evidence, listed_arm
from harness.judging.verify.verification import Judging
from harness.plugins.design.arms import Bench, suite
from harness.plugins.design.design_file import MutantKind, line_with
from harness.plugins.design.figures import figures_of
from harness.plugins.design.grading import AT_OTHER, design_task, grade_design
from harness.plugins.design.task import CASES, DESIGN, NEIGHBOURS, REFERENCE, DesignTask
from harness.plugins.design.task_files import change_problems, files_problems, prompt_problems
from harness.specs.problem import Problem, Severity
from harness.specs.reasons import Verdict
from harness.specs.task_facts import Level, StepId
from harness.specs.test_results import Outcome, TestId

_MOST_REDUNDANT = 3.0


async def reference_problems(subject: Subject) -> list[Problem]:
    """Return why the reference isn't resolved: a living mutant, a wrong case, or more cases than needed."""
    task = design_task(subject.task)
    submission = Submission(task.patch("reference/tests.patch"), task.patch("reference/manifest.yaml"))
    judged = await grade_design(Judging(task, subject.containers), submission)
    problems = [
        Problem(
            where=subject.at(REFERENCE, reason.subject.rpartition("::")[2]), message=f"{reason.code}: {reason.words}"
        )
        for reason in judged.record.reasons
    ]
    figures = figures_of(judged.record)
    if figures is None:
        return problems or [Problem(where=subject.at(REFERENCE), message="no case was played")]
    problems += [
        Problem(where=subject.at(DESIGN, name), message=f"{name}: no case of {REFERENCE} kills it")
        for name, cases in figures.killed.items()
        if not cases
    ]
    subject.remarks.append(f"{figures.cases} cases, {figures.cover} in a greedy cover, {len(figures.killed)} mutants")
    if figures.redundancy and figures.redundancy > _MOST_REDUNDANT:
        words = f"{figures.cases} cases where {figures.cover} kill as much; leave some out"
        problems.append(Problem(where=subject.at(REFERENCE), message=words, severity=Severity.WARNING))
    return problems


async def neighbours_problems(subject: Subject) -> list[Problem]:
    """Return the mutants of boundaries that a value beside the edge kills, and neighbours that are wrong."""
    task = design_task(subject.task)
    mutants = task.mutants(MutantKind.BOUNDARY)
    if not mutants:
        return []
    cases = task.cases(NEIGHBOURS)
    bench = await Bench.of(task, subject.containers)
    compiled = await bench.compile(task, mutants)
    arms = [(listed_arm(name), item) for name, item in compiled.items()]
    shown = await ArmRunner(bench.context, task).run_suite(suite(CASES, cases), arms)
    evidence = Evidence(suite(CASES, cases).tests, shown, required=tuple(key for key, _ in arms))
    return [*_wrong_neighbours(subject, evidence), *_telling_neighbours(subject, task, evidence)]


def _wrong_neighbours(subject: Subject, evidence: Evidence) -> Iterator[Problem]:
    for test in evidence.tests:
        for key in (AT_BASELINE, AT_OTHER):
            if evidence.outcome(key, test) is not Outcome.PASSED:
                message = f"{test.name} must hold on every correct implementation; {key} fails it"
                yield Problem(where=subject.at(NEIGHBOURS, test.name), message=message)


def _telling_neighbours(subject: Subject, task: DesignTask, evidence: Evidence) -> Iterator[Problem]:
    for mutant in task.mutants(MutantKind.BOUNDARY):
        for name in mutant.neighbours:
            if evidence.outcome(listed_arm(f"probe-{mutant.id}"), TestId(CASES, name)) is not Outcome.PASSED:
                where = f"{task.path(DESIGN)}:{line_with(task.path(DESIGN), mutant.id)}"
                words = f"{mutant.id}: {name}, a value beside the edge, kills it; only the edge itself may"
                yield Problem(where=where.removeprefix(f"{subject.catalog.directory}/"), message=words)


async def nop_problems(subject: Subject) -> list[Problem]:
    """Return an error where handing in nothing is resolved."""
    task = design_task(subject.task)
    judged = await grade_design(Judging(task, replace(subject.containers)), Submission(b"", b""))
    if judged.record.verdict is Verdict.RESOLVED:
        return [Problem(where=subject.at(subject.description), message="handing in nothing is resolved")]
    return []


STATIC: Mapping[StepId, Part] = {
    StepId.FILES: files_problems,
    StepId.PROMPT: prompt_problems,
    StepId.PATCHES: change_problems,
}
_BRIEF: Mapping[StepId, Part] = {StepId.REFERENCE_ONCE: reference_problems, StepId.NOP: nop_problems}
_WHOLE: Mapping[StepId, Part] = {**_BRIEF, StepId.NEIGHBOURS: neighbours_problems}
_LEVELS: Sequence[Level] = (Level.GATE, Level.FULL)
CHECKS = TrackChecks(STATIC, {Level.QUICK: {}, Level.BRIEF: _BRIEF, **dict.fromkeys(_LEVELS, _WHOLE)})
