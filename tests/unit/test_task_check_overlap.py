"""covers.yaml against the kill matrix of one judging of the reference."""

import json
from pathlib import Path

import pytest

from harness.authoring.task_check.controls import overlap_problems
from harness.authoring.task_check.subject import Subject
from harness.judging.verify.rubric_check import CriterionResult
from harness.specs.catalog import Catalog
from harness.specs.problem import Severity
from harness.specs.rubric import GradedBy, Importance
from tests.support.small_task import small_task

FILE = "tests/test_add.py"


def problems(directory: Path, covers: dict[str, list[str]], overlaps: dict[str, str], **killed: list[str]):
    """`killed` are the tests that notice probe 1.1 (`p`) and probe 1.1-b (`q`)."""
    (directory / "tasks").mkdir()
    task = small_task(directory / "tasks" / "sums-add")
    (task.directory / "reference").mkdir()
    text = {"overlaps": overlaps, FILE: covers} if overlaps else {FILE: covers}
    (task.directory / "reference" / "covers.yaml").write_text(json.dumps(text, indent=1))
    names = {"p": "1.1", "q": "1.1-b"}
    result = CriterionResult(
        id="1.1", axis=1, importance=Importance.MUST, met=all(killed.values()), decided_by=GradedBy.PROBE, words="",
        killed_by={names[key]: tuple(f"{FILE}::{test}" for test in tests) for key, tests in killed.items()},
    )  # fmt: skip
    return overlap_problems(Subject(Catalog(directory), task), [result])


@pytest.mark.parametrize(
    ("covers", "killed"),
    [
        ({"a": ["1.1"]}, {"p": ["a"]}),
        ({"a": ["1.1"], "b": ["1.1"]}, {"p": ["a", "b"]}),
        ({"a": ["1.1"], "b": []}, {"p": ["a", "b"], "q": ["a"]}),
    ],
    ids=["one test", "all who notice are named", "one probe of two is enough"],
)
def test_covers_that_the_matrix_bears_out_is_no_problem(tmp_path, covers, killed):
    assert problems(tmp_path, covers, {}, **killed) == []


def test_a_probe_that_no_test_of_the_reference_notices_is_named(tmp_path):
    [unnoticed] = problems(tmp_path, {"a": ["1.1"]}, {}, p=["a"], q=[])
    assert (unnoticed.where, unnoticed.message) == (
        "tasks/sums-add/probes/1.1-b.patch", "no test of the reference notices it"
    )  # fmt: skip


def test_a_test_that_notices_nothing_of_its_criterion_is_named_with_its_line(tmp_path):
    [idle] = problems(tmp_path, {"a": ["1.1"], "idle": ["1.1"]}, {}, p=["a"])
    assert idle.where.startswith("tasks/sums-add/reference/covers.yaml:")
    assert "idle is said to be for criterion 1.1" in idle.message


def test_an_overlap_that_is_not_declared_is_an_error(tmp_path):
    [overlap] = problems(tmp_path, {"a": ["1.1"], "b": []}, {}, p=["a", "b"], q=["b", "a"])
    assert overlap.severity is Severity.ERROR
    assert f"still noticed (by {FILE}::b)" in overlap.message


def test_a_declared_overlap_is_no_problem(tmp_path):
    assert problems(tmp_path, {"a": ["1.1"], "b": []}, {"1.1": "b can't help it"}, p=["a", "b"]) == []


def test_a_declared_overlap_that_is_none_is_a_warning(tmp_path):
    [idle] = problems(tmp_path, {"a": ["1.1"]}, {"1.1": "b can't help it"}, p=["a"])
    assert (idle.severity, idle.message) == (Severity.WARNING, "overlaps: criterion 1.1 has none; take it out")
