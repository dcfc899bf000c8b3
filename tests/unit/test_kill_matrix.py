"""What an author is told of a kill matrix."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.authoring.matrix_memory import MatrixMemory
from harness.authoring.task_check.known_matrices import contradictions
from harness.authoring.task_matrix import left_out, write_expectation
from harness.judging.languages.python.language import LANGUAGE
from harness.judging.languages.variant_source import VariantSource
from harness.judging.verify.arms import Suite
from harness.results.report.authoring_report import report_matrix
from harness.runs.submissions import Case, Expectation
from harness.specs.catalog import Catalog
from harness.specs.reasons import NoteCode, Verdict
from harness.specs.task_facts import REFERENCE, Cell, KillMatrix, SuiteMatrix
from harness.specs.test_results import Outcome, Quality, TestId
from harness.specs.variants import VariantKind
from harness.specs.yaml_files import load_yaml

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
    assert [*suite.remarks()] == [
        "by-hand: b passes under removal.patch; is what garbage gives too close to what is right?"
    ]
    both = matrix("by-hand", removal=(KILLED, PASSED), garbage=(KILLED, PASSED))
    assert "b passes under removal.patch and under garbage.patch; " in next(both.remarks())


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


PROBED = {"probe-1.10": (PASSED, PASSED), "probe-1.2": (KILLED, PASSED), "probe-1.2-b": (PASSED, CRASHED)}


def test_criteria_are_told_of_which_a_probe_is_noticed_by_nobody() -> None:
    suite = matrix("hasty", removal=(KILLED, KILLED), **PROBED)
    assert suite.unnoticed() == ["1.10"]
    more = matrix("hasty", **PROBED, **{"probe-1.2-c": (PASSED, ABSENT), "twin-1.1": (PASSED, PASSED)})
    assert more.unnoticed() == ["1.2", "1.10"]


def test_what_nobody_notices_is_printed_for_each_honest_suite(capsys: pytest.CaptureFixture[str]) -> None:
    suites = (matrix(**PROBED), matrix("a-hasty", **PROBED), matrix("a-good", p=(KILLED, PASSED)))
    report_matrix(KillMatrix(task="t", suites=suites), as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert "a-hasty: nobody notices 1.10" in lines
    assert "a-good: every probe is noticed" in lines
    assert not [line for line in lines if line.startswith("reference: nobody")]


def test_an_expectation_is_written_from_what_nobody_notices_and_keeps_its_other_words(tmp_path: Path) -> None:
    path = tmp_path / "expect.yaml"
    path.write_text('about: "in a hurry"\ntask: t\nverdict: resolved\nnotes: [slow-tests]\n')
    assert write_expectation(path, "t", ["1.2", "1.10"]) == path
    assert path.read_text() == (
        'schema_version: 1\nabout: "in a hurry"\ntask: t\nverdict: failed\nreasons: [criterion-unmet]\n'
        'criteria: ["1.2", "1.10"]\nnotes:\n  - slow-tests\n'
    )
    write_expectation(path, "t", [])
    again = load_yaml(path, Expectation)
    assert (again.verdict, again.reasons, again.criteria) == (Verdict.RESOLVED, (), ())
    assert again.notes == (NoteCode.SLOW_TESTS,)


def test_an_expectation_that_a_matrix_contradicts_is_told() -> None:
    task = Catalog().task("cachetools-expiring-entries")

    def told(verdict: Verdict, criteria: tuple[str, ...] = ()) -> list[str]:
        expected = Expectation(task=task.id, verdict=verdict, criteria=criteria)
        suite = matrix("hasty", **{"probe-1.1": (PASSED, PASSED), "probe-1.2": (KILLED, PASSED)})
        return [*contradictions(Case("hasty", task, None, expected), suite)]

    assert told(Verdict.RESOLVED) == ["no test notices 1.1, and its expect.yaml says resolved"]
    assert told(Verdict.FAILED, ("1.1", "1.2")) == ["a test notices 1.2, and its expect.yaml names it as left open"]
    assert told(Verdict.FAILED, ("1.1",)) == []


def test_a_suite_is_remembered_until_it_or_a_variant_changes(tmp_path: Path) -> None:
    memory, made = MatrixMemory(tmp_path, "image"), matrix(p1=(KILLED, PASSED))
    suite = Suite((TestId("tests/test_a.py", "test_a"),), {"tests/test_a.py": b"def test_a(): pass"})
    sources = [VariantSource("baseline", VariantKind.BASELINE, {"a.py": b"1"}, {"a.py": b"1"})]
    assert memory.recall(suite, sources) is None
    memory.keep(suite, sources, made)
    assert memory.recall(suite, sources) == made
    changed = [replace(sources[0], code={"a.py": b"2"}), replace(sources[0], name="probe-1.1")]
    assert [memory.recall(suite, [each]) for each in changed] == [None, None]
    assert memory.recall(replace(suite, files={"tests/test_a.py": b""}), sources) is None
    assert MatrixMemory(tmp_path, "other image").recall(suite, sources) is None
