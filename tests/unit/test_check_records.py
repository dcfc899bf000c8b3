"""A check record is written of a task that passed in full, and of no other."""

import pytest

from harness.authoring.task_check.context import Memory
from harness.authoring.task_check.controls import read_check_record, write_check_record
from harness.specs.problem import Problem, Severity
from harness.specs.task_facts import CheckedStep, Level, StepId, StepOutcome, TaskCheck


def checked(level: Level, *severities: Severity) -> TaskCheck:
    problems = tuple(
        Problem(where="tasks/t/probes/1.1.patch", message="noticed", severity=item) for item in severities
    )
    step = CheckedStep(id=StepId.REFERENCE, outcome=StepOutcome.PASSED, seconds=6.0, problems=problems)
    return TaskCheck(task="t", level=level, task_digest="1", image_digest="2", isolation="docker", steps=(step,))


@pytest.mark.parametrize("warnings", [(), (Severity.WARNING,)])
def test_a_full_check_without_an_error_leaves_one(tmp_path, warnings):
    assert write_check_record(tmp_path / "records", checked(Level.FULL, *warnings))
    record = read_check_record(tmp_path / "records", "t")
    assert record is not None
    assert (record.task_digest, record.image_digest, record.reference_seconds) == ("1", "2", 2.0)
    assert [problem.severity for step in record.steps for problem in step.problems] == list(warnings)


@pytest.mark.parametrize(
    "check",
    [checked(Level.QUICK), checked(Level.BRIEF), checked(Level.GATE), checked(Level.FULL, Severity.ERROR)],
    ids=["quick", "brief", "gate", "with an error"],
)
def test_no_other_check_does(tmp_path, check):
    assert not write_check_record(tmp_path / "records", check)
    assert not (tmp_path / "records").exists()


def test_one_of_remembered_parts_has_them_as_they_ran_and_says_so(tmp_path):
    memory = Memory(tmp_path / "parts", {StepId.REFERENCE: "a" * 64, StepId.NOP: "b" * 64})
    ran = checked(Level.FULL, Severity.WARNING)
    memory.keep(ran.steps[0])
    memory.keep(CheckedStep(id=StepId.NOP, outcome=StepOutcome.FAILED))
    assert memory.recall(StepId.NOP) is None
    recalled = memory.recall(StepId.REFERENCE)
    assert recalled is not None
    assert write_check_record(tmp_path / "records", ran.model_copy(update={"steps": (recalled,)}))
    record = read_check_record(tmp_path / "records", "t")
    assert record is not None
    assert record.reference_seconds == 2.0
    assert record.steps[0].problems == ran.steps[0].problems
    assert record.steps[0].remarks == ("reference, several times: remembered",)
