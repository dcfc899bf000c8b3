"""What an author is told of a kill matrix."""

from pathlib import Path

from harness.authoring.task_matrix import left_out
from harness.judging.languages.python.language import LANGUAGE
from harness.specs.task_facts import REFERENCE, Cell, SuiteMatrix
from harness.specs.test_results import Outcome, Quality, TestId

PASSED = Cell(outcome=Outcome.PASSED)
KILLED = Cell(outcome=Outcome.FAILED, quality=Quality.ASSERTION)
CRASHED = Cell(outcome=Outcome.FAILED, quality=Quality.CRASH)
HUNG = Cell(outcome=Outcome.FAILED, quality=Quality.TIMEOUT)
ABSENT = Cell(outcome=Outcome.MISSING)


def matrix(suite: str = REFERENCE, **columns: tuple[Cell, Cell]) -> SuiteMatrix:
    """Two tests, and by variant how each ended."""
    cells = {test: {name: column[number] for name, column in columns.items()} for number, test in enumerate("ab")}
    return SuiteMatrix(suite=suite, variants=tuple(columns), cells=cells)


def test_a_matrix_in_which_each_probe_has_its_tests_needs_no_remark() -> None:
    assert [*matrix(removal=(KILLED, KILLED), p1=(KILLED, PASSED), p2=(PASSED, CRASHED)).remarks()] == [
        "p2: it only crashes or hangs; is there a typing error in it?"
    ]
    assert [*matrix(removal=(KILLED, PASSED), garbage=(PASSED, KILLED), p1=(KILLED, PASSED)).remarks()] == []


def test_a_probe_that_no_test_or_every_test_notices_is_told() -> None:
    told = [*matrix(removal=(KILLED, KILLED), p1=(PASSED, PASSED), p2=(KILLED, KILLED)).remarks()]
    assert told == ["p1: no test notices it", "p2: every test notices it; it says little about one criterion"]


def test_of_an_honest_suite_only_what_must_fail_counts() -> None:
    suite = matrix("by-hand", removal=(KILLED, PASSED), p1=(PASSED, PASSED))
    assert [*suite.remarks()] == ["by-hand: b passes without the behaviour; is the removal too mild?"]


def test_a_test_that_is_red_as_the_code_is_kills_nothing() -> None:
    suite = matrix(removal=(KILLED, KILLED), p1=(KILLED, PASSED)).model_copy(update={"baseline": ("a",)})
    assert suite.killers("p1") == []
    assert next(suite.remarks()) == "reference: a is not green on the code as it is"


def test_a_variant_that_hangs_is_told_with_its_tests() -> None:
    told = [*matrix("by-hand", removal=(KILLED, KILLED), p1=(HUNG, PASSED), p2=(HUNG, HUNG)).remarks()]
    assert told == [
        "by-hand: p1 hung until the time was over, in a",
        "by-hand: p2 hung until the time was over, in a, b",
    ]


def test_a_twin_or_placebo_that_some_test_notices_changes_behaviour() -> None:
    columns = {"twin-1.1": (PASSED, PASSED), "twin-1.2": (KILLED, PASSED), "placebo": (ABSENT, CRASHED)}
    told = [*matrix(removal=(KILLED, KILLED), **columns).remarks()]
    assert told == [
        "reference: twin-1.2 changes behaviour: a is not green on it",
        "reference: placebo changes behaviour: a, b are not green on it",
    ]


def test_what_a_manifest_loses_is_told(tmp_path: Path) -> None:
    manifest, ids = tmp_path / "manifest.yaml", LANGUAGE.ids
    assert [*left_out(manifest, [], ids)] == []
    manifest.write_text("- file: tests/test_a.py\n  tests: [test_a, B.test_inherited]\n")
    [told] = left_out(manifest, [TestId.parse("tests/test_a.py::test_a")], ids)
    assert told.startswith(f"{manifest}: tests/test_a.py::B.test_inherited is taken out")
