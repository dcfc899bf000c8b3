"""Results that automake's parallel test harness has noted: real ones, cut ones, contradictory ones."""

from pathlib import Path

import pytest

from harness.judging.testing.automake import MAX_REPORT_BYTES, read_automake
from harness.judging.testing.readers import ReportError
from harness.specs.test_results import Outcome, Quality

REPORTS = Path(__file__).parents[1] / "fixtures" / "reports" / "automake"
PASSED = (REPORTS / "test_pass.trs").read_bytes()


@pytest.mark.parametrize(
    ("program", "outcome", "quality"),
    [
        ("test_pass", Outcome.PASSED, None),
        ("test_fail", Outcome.FAILED, Quality.RAISED),
        ("test_crash", Outcome.FAILED, Quality.RAISED),
        ("test_hard", Outcome.FAILED, Quality.SETUP),
        ("test_skip", Outcome.SKIPPED, None),
        ("test_xfail", Outcome.SKIPPED, None),
        ("test_xpass", Outcome.FAILED, Quality.RAISED),
        ("test_tap", Outcome.FAILED, Quality.RAISED),
        ("test_tap_cut", Outcome.FAILED, Quality.SETUP),
    ],
)
def test_every_end_of_a_real_test_program_is_told_apart(program, outcome, quality):
    [case] = read_automake((REPORTS / f"{program}.trs").read_bytes(), f"t/{program}.c").cases
    assert str(case.test) == f"t/{program}.c::{program}"
    assert (case.outcome, case.quality) == (outcome, quality)


@pytest.mark.parametrize("length", range(len(PASSED)))
def test_a_result_that_is_cut_off_anywhere_is_none(length):
    with pytest.raises(ReportError):
        read_automake(PASSED[:length], "t/test_pass.c")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b":test-result: PASS", b":test-result: FAIL"),
        (b":global-test-result: PASS", b":global-test-result: FAIL"),
        (b":test-result: PASS\n", b""),
        (b":recheck: no\n", b":recheck: no\n:recheck: no\n"),
        (b"PASS", b"FINE"),
        (b":recheck", b"recheck"),
        (b"no\n", b"\xff\n"),
    ],
)
def test_a_result_that_contradicts_itself_or_is_of_another_format_is_refused(old, new):
    assert old in PASSED
    with pytest.raises(ReportError):
        read_automake(PASSED.replace(old, new), "t/test_pass.c")


def test_a_huge_file_is_refused():
    with pytest.raises(ReportError, match="larger"):
        read_automake(PASSED * MAX_REPORT_BYTES, "t/test_pass.c")
