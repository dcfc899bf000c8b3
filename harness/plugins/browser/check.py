"""The parts of the check of a task of technique."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pydantic import Field

from harness.authoring.task_check.context import Part, TrackChecks
from harness.authoring.task_check.subject import Subject
from harness.judging.submission.extraction import Submission
from harness.judging.verify.verification import Judging
from harness.plugins.browser.application import data_directory
from harness.plugins.browser.arms_file import Edit
from harness.plugins.browser.grading import NOT_SHOWN, SHOWN, UNMEASURED, grade_technique, technique_of
from harness.plugins.browser.stage import edited
from harness.plugins.browser.task import ARMS, TechniqueTask, patch_of, technique_task
from harness.specs.errors import UserError
from harness.specs.problem import Problem
from harness.specs.reasons import ReasonCode, Verdict
from harness.specs.task_facts import Level, StepId
from harness.specs.yaml_files import FileModel, load_yaml

REFERENCE_TIMES = 5
SUITES, EXPECTED = "suites", "expected.yaml"


class Expected(FileModel):
    """`suites/NAME/expected.yaml`: what judging a suite must come to. `reasons` are some of those that it has."""

    verdict: Verdict
    technique: str = Field(pattern=f"^({SHOWN}|{NOT_SHOWN}|{UNMEASURED})$")
    reasons: tuple[ReasonCode, ...] = ()
    why: str


async def arm_problems(subject: Subject) -> list[Problem]:
    """Each edit must be of a place that the application's source has once."""
    task = technique_task(subject.task)
    problems = []
    for arm in (*task.arms.same, *task.arms.must_fail):
        try:
            edited(arm.edits, _source(arm.edits), subject.at(ARMS))
        except UserError as error:
            problems.append(Problem(where=subject.at(ARMS), message=str(error).partition(": ")[2]))
    return problems


def _source(edits: tuple[Edit, ...]) -> dict[str, str]:
    paths = {edit.file: data_directory() / "deskapp" / "app" / edit.file for edit in edits}
    return {name: path.read_text() for name, path in paths.items() if path.is_file()}


async def _reference(subject: Subject, times: int) -> list[Problem]:
    task = technique_task(subject.task)
    found = Expected(verdict=Verdict.RESOLVED, technique=SHOWN, why="it is the reference")
    problems: list[Problem] = []
    for _ in range(times):
        problems += await _judged(subject, task, task.directory / "reference", found)
    return problems


async def reference_problems(subject: Subject) -> list[Problem]:
    """The reference must be resolved each time: green in every arm of the same behaviour, and noticing each other."""
    return await _reference(subject, REFERENCE_TIMES)


async def reference_once(subject: Subject) -> list[Problem]:
    """The same, once."""
    return await _reference(subject, 1)


async def nop_problems(subject: Subject) -> list[Problem]:
    """Handing in nothing must be failed."""
    record = (await grade_technique(Judging(subject.task, subject.containers), Submission(b"", b""))).record
    if record.verdict is Verdict.FAILED:
        return []
    return [Problem(where=subject.at(subject.description), message=f"handing in nothing is {record.verdict}")]


async def suite_problems(subject: Subject) -> list[Problem]:
    """Honest, hasty and cheating suites must come to what their files say."""
    task = technique_task(subject.task)
    problems: list[Problem] = []
    for path in sorted((task.directory / SUITES).glob(f"*/{EXPECTED}")):
        problems += await _judged(subject, task, path.parent, load_yaml(path, Expected))
    return problems


async def _judged(subject: Subject, task: TechniqueTask, suite: Path, expected: Expected) -> list[Problem]:
    submission = Submission(patch_of(suite), (suite / "manifest.yaml").read_bytes())
    record = (await grade_technique(Judging(task, replace(subject.containers)), submission)).record
    told = "; ".join(f"{reason.code} {reason.subject}: {reason.words}" for reason in record.reasons) or "no reason"
    got, codes = (record.verdict, technique_of(record)), {reason.code for reason in record.reasons}
    subject.remarks.append(f"{suite.name}: {record.verdict}, technique {technique_of(record)}")
    missing = [code for code in expected.reasons if code not in codes]
    if got == (expected.verdict, expected.technique) and not missing:
        return []
    words = f"{got[0]}, technique {got[1]}; expected {expected.verdict}, {expected.technique}"
    also = f" because of {', '.join(missing)}" if missing else ""
    return [Problem(where=subject.at(suite.relative_to(task.directory).as_posix()), message=f"{words}{also}: {told}")]


STATIC: Mapping[StepId, Part] = {StepId.PATCHES: arm_problems}
_BRIEF: Mapping[StepId, Part] = {StepId.REFERENCE_ONCE: reference_once, StepId.NOP: nop_problems}
_GATE: Mapping[StepId, Part] = {
    StepId.REFERENCE: reference_problems,
    StepId.NOP: nop_problems,
    StepId.HONEST_SUITES: suite_problems,
}
DYNAMIC: Mapping[Level, Mapping[StepId, Part]] = {
    Level.QUICK: {},
    Level.BRIEF: _BRIEF,
    Level.GATE: _GATE,
    Level.FULL: _GATE,
}
CHECKS = TrackChecks(STATIC, DYNAMIC)
