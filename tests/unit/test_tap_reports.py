from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judging.testing.readers import Report, ReportError, reader_of
from harness.judging.testing.tap import MAX_REPORT_BYTES, read_tap
from harness.specs.test_results import Outcome, Quality

REPORTS = Path(__file__).parents[1] / "fixtures" / "reports" / "c"
PROGRAMS = sorted(path.stem for path in REPORTS.glob("*.tap"))
PASSED = (REPORTS / "test_passes.tap").read_bytes()


def text(program: str) -> bytes:
    return (REPORTS / f"{program}.tap").read_bytes()


def read(program: str) -> Report:
    return read_tap(text(program), f"test/suites/api/{program}.c")


@pytest.mark.parametrize(
    ("program", "outcome", "quality"),
    [
        ("test_passes", Outcome.PASSED, None),
        ("test_fails", Outcome.FAILED, Quality.ASSERTION),
        ("test_asserts", Outcome.FAILED, Quality.ASSERTION),
        ("test_glued", Outcome.FAILED, Quality.ASSERTION),
        ("test_noise", Outcome.FAILED, Quality.ASSERTION),
        ("test_status_3", Outcome.FAILED, Quality.RAISED),
        ("test_crashes", Outcome.FAILED, Quality.CRASH),
        ("test_aborts", Outcome.FAILED, Quality.CRASH),
        ("test_hard_error", Outcome.FAILED, Quality.SETUP),
        ("test_hangs", Outcome.FAILED, Quality.TIMEOUT),
        ("test_skips", Outcome.SKIPPED, None),
    ],
)
def test_every_end_of_a_real_test_program_is_told_apart(program, outcome, quality):
    (case,) = read(program).cases
    assert str(case.test) == f"test/suites/api/{program}.c::{program}"
    assert (case.outcome, case.quality) == (outcome, quality)


@pytest.mark.parametrize("program", ["test_does_not_build", "test_does_not_link"])
def test_a_program_that_cannot_be_built_is_a_collection_failure(program):
    assert read(program) == Report((), collection_failed=True)


def test_the_message_is_what_the_program_printed_last():
    assert read("test_fails").cases[0].message == "status 1\n    test/suites/api/test_fails.c:6: json_true failed"


def test_seconds_are_those_of_the_program():
    assert 1 <= read("test_hangs").cases[0].seconds < 2


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_report_that_is_cut_off_anywhere_is_none(program):
    whole = text(program)
    for end in range(max(0, len(whole) - 700), len(whole)):
        with pytest.raises(ReportError):
            read_tap(whole[:end], f"{program}.c")


@given(st.sampled_from(PROGRAMS), st.data())
def test_no_damage_to_a_report_turns_what_did_not_pass_into_a_pass(program, data):
    whole = text(program)
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, len(whole)))
    try:
        report = read_tap(whole[:start] + whole[end:], f"test/suites/api/{program}.c")
    except ReportError:
        return
    if program != "test_passes":
        assert all(case.outcome is not Outcome.PASSED for case in report.cases)


@given(st.binary(max_size=300))
def test_any_bytes_are_refused_and_never_break_the_reader(data):
    with pytest.raises(ReportError):
        read_tap(data, "test_a.c")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"ok 1", b"not ok 1"),
        (b"ended: passed", b"ended: status 1"),
        (b"ended: passed", b"ended: skipped"),
        (b"ended: passed", b"ended: not built"),
        (b"test_passes\n", b"test_passes # SKIP\n"),
        (b"test_passes", b"test_other"),
        (b"1..1", b"1..2"),
        (b"seconds: ", b"seconds: -"),
        (b"output: |\n", b"output: |\n    \0\n"),
        (b"output: |\n", b"output: |\n    \xff\n"),
        (b"  ...\n", b"  ...\nok 2 - test_passes\n"),
    ],
)
def test_a_report_that_contradicts_itself_or_holds_more_is_refused(old, new):
    assert old in PASSED
    with pytest.raises(ReportError):
        read_tap(PASSED.replace(old, new), "test_passes.c")


def test_a_report_of_another_program_is_refused():
    with pytest.raises(ReportError, match="test_other"):
        read_tap(PASSED, "test/test_other.c")


def test_a_huge_report_is_refused():
    with pytest.raises(ReportError, match="larger"):
        read_tap(PASSED + b" " * MAX_REPORT_BYTES, "test_passes.c")


def test_c_repositories_are_read_by_this_reader():
    reader = reader_of("tap")
    assert (reader.suffix, reader.read) == ("tap", read_tap)
