import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judging.testing.junit import read_junit
from harness.judging.testing.readers import ReportError
from harness.specs.test_results import Outcome, Quality, TestId, combine

REPORTS = Path(__file__).parent / "reports"
OUTCOMES = (REPORTS / "pytest-outcomes.xml").read_bytes()


def result(name: str):
    test = TestId("test_b.py", name)
    return combine(test, [case for case in read_junit(OUTCOMES, "test_b.py").cases if case.test == test])


@pytest.mark.parametrize(
    ("name", "outcome", "quality"),
    [
        ("test_pass", Outcome.PASSED, None),
        ("test_fail", Outcome.FAILED, Quality.ASSERTION),
        ("test_failmsg", Outcome.FAILED, Quality.ASSERTION),
        ("test_ownassert", Outcome.FAILED, Quality.ASSERTION),
        ("test_dnr", Outcome.FAILED, Quality.ASSERTION),
        ("test_pf", Outcome.FAILED, Quality.ASSERTION),
        ("test_raise", Outcome.FAILED, Quality.RAISED),
        ("test_exit", Outcome.FAILED, Quality.RAISED),
        ("test_setup", Outcome.FAILED, Quality.SETUP),
        ("test_to", Outcome.FAILED, Quality.TIMEOUT),
        ("test_tear", Outcome.FAILED, Quality.TEARDOWN),
        ("test_tear_fail", Outcome.FAILED, Quality.ASSERTION),
        ("test_skip", Outcome.SKIPPED, None),
        ("test_xf", Outcome.SKIPPED, None),
        ("test_p", Outcome.FAILED, Quality.ASSERTION),
        ("Test1.TestIn.test_q", Outcome.PASSED, None),
        ("U.test_u", Outcome.FAILED, Quality.ASSERTION),
        ("U.test_sub", Outcome.FAILED, Quality.ASSERTION),
        ("test_absent", Outcome.MISSING, None),
    ],
)
def test_every_outcome_of_a_real_pytest_run_is_told_apart(name, outcome, quality):
    found = result(name)
    assert (found.outcome, found.quality) == (outcome, quality)


def test_failures_of_collection_and_teardown_and_those_tried_again_never_kill():
    never = {Quality.COLLECTION, Quality.TEARDOWN, Quality.RETRIED}
    assert {quality for quality in Quality if not quality.kills} == never


def test_a_file_that_cannot_be_imported_is_a_collection_failure():
    report = read_junit((REPORTS / "pytest-collection-error.xml").read_bytes(), "test_a.py")
    assert report.collection_failed
    assert not report.cases


def test_entries_of_other_files_are_no_results_of_this_one():
    assert read_junit(OUTCOMES, "tests/test_b.py").cases == ()


def test_parametrised_cases_belong_to_their_test():
    cases = [case for case in read_junit(OUTCOMES, "test_b.py").cases if case.test.name == "test_p"]
    assert [case.case for case in cases] == ["[x::y]", "[a.b[c]]"]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"<html></html>",
        b"<!DOCTYPE lolz [<!ENTITY lol 'lol'>]><testsuites/>",
        b"<testsuites>" * 10,
        b"\x00\xff",
    ],
)
def test_what_is_no_report_is_refused(data):
    with pytest.raises(ReportError):
        read_junit(data, "test_b.py")


@given(st.integers(min_value=0, max_value=len(OUTCOMES) - 1))
def test_a_report_cut_off_anywhere_never_yields_a_pass(length):
    try:
        report = read_junit(OUTCOMES[:length], "test_b.py")
    except ReportError:
        return
    assert not report.cases


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_but_a_report_error(data):
    with contextlib.suppress(ReportError):
        read_junit(data, "test_b.py")
