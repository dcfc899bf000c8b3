"""Every way to fail is shown by a submission that is kept, and each has to end for its own reason."""

from pathlib import Path

import pytest

from harness.runs.submissions import Expectation
from harness.specs.reasons import NoteCode, ReasonCode, Verdict
from tests.support.corpora import BEHAVIOUR_TASKS, submissions

TESTS = Path(__file__).parents[1]
CASES = [*submissions("adversarial"), *submissions("honest")]
EXPECTED: list[Expectation] = [case.expected for case in CASES if case.expected]
ELSEWHERE = {
    ReasonCode.ARM_TIMEOUT: ("takes the task's 120 seconds an arm", "docker/test_hidden_tests.py"),
    ReasonCode.MANIFEST_AMBIGUOUS: ("only in tasks of the published layout", "docker/test_swe_atlas_more.py"),
    NoteCode.SLOW_TESTS: ("takes 30 seconds an arm", "unit/test_gathering_evidence.py"),
    NoteCode.ABSENT_NAME: ("only where a run looks for them", "unit/test_looks.py"),
    NoteCode.FLAKY_ONCE: ("nobody can expect what chance does", "unit/test_gathering_evidence.py"),
}
"""Why no submission of the corpora has to end so, and the tests that show it instead."""


def test_every_submission_says_what_it_must_come_to():
    assert len(EXPECTED) == len(CASES)
    assert not [case.name for case in CASES if case.expected and case.expected.verdict is None]


@pytest.mark.parametrize("code", [code for code in ReasonCode if code.verdict is not Verdict.UNSCORED])
def test_every_reason_that_fails_or_voids_a_submission_has_one(code):
    assert (code in ELSEWHERE) != any(code in expected.codes for expected in EXPECTED)


@pytest.mark.parametrize("code", NoteCode)
def test_every_note_has_one(code):
    assert (code in ELSEWHERE) != any(code in expected.notes for expected in EXPECTED)


@pytest.mark.parametrize("code", ELSEWHERE)
def test_what_no_submission_shows_is_asserted_by_the_tests_that_are_named(code):
    """Its name or its value is in the text of a test."""
    _, place = ELSEWHERE[code]
    text = (TESTS / place).read_text()
    assert f"{type(code).__name__}.{code.name}" in text or f'"{code}"' in text


def test_each_cheat_is_pinned_to_a_reason_a_note_or_an_ending():
    loose = [
        case.name
        for case in CASES
        if case.expected
        and case.expected.verdict is not Verdict.RESOLVED
        and not (case.expected.codes or case.expected.notes or case.expected.ending)
        and not (case.expected.any_of or case.expected.refused)
    ]
    assert not loose


def test_every_task_has_two_sufficient_and_two_insufficient_honest_suites():
    for task in BEHAVIOUR_TASKS:
        mine = [expected for expected in EXPECTED if expected.task == task.id and expected.about]
        honest = [case.expected for case in CASES if case.expected in mine and case.name.startswith(f"{task.id}/")]
        verdicts = [expected.verdict for expected in honest]
        assert verdicts.count(Verdict.RESOLVED) >= 2
        assert verdicts.count(Verdict.FAILED) >= 2
        assert all(expected.criteria for expected in honest if expected.verdict is Verdict.FAILED)


def test_every_reason_and_note_is_explained():
    page = (TESTS.parent / "docs" / "verification.md").read_text()
    for code in ReasonCode:
        assert f"| `{code}` | {code.verdict} |" in page
    assert not [code for code in NoteCode if f"`{code}`" not in page]


def test_each_row_of_the_page_has_what_its_submission_must_come_to_and_nothing_else():
    page = (TESTS.parent / "docs" / "validity.md").read_text().splitlines()
    rows = dict(line.strip("| ").split(" | ", 1) for line in page if line.count(" | ") == 3)
    wrong = []
    for case in CASES:
        expected = case.expected
        assert expected is not None
        *_, verdict, why = rows[case.name].split(" | ")
        told = {*why.split(", ")} - {"-", f"ended by {expected.ending}"}
        must = {*map(str, (*expected.reasons, *expected.notes)), *expected.criteria}
        must |= {f"one of: {' / '.join(expected.any_of)}"} if expected.any_of else set()
        may = {*must, *map(str, expected.codes)}
        if verdict != expected.verdict or not must <= told <= may:
            wrong.append(rows[case.name])
    assert not wrong
