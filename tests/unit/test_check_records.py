"""A check record is written of a task that passed in full, and of no other."""

import pytest

from harness.authoring.task_check.check_records import read_check_record, write_check_record
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
