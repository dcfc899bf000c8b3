"""What must hold for every reader of reports, on reports of real runs."""

import re
from math import isfinite
from pathlib import Path

import pytest

from harness.judging.testing.readers import Report, ReportError, reader_of
from harness.specs.repo import REPORT_FORMATS
from harness.specs.test_results import Outcome, TestId, combine

REPORTS = Path(__file__).parents[1] / "fixtures" / "reports"
OWN = {
    "junit": (Path(__file__).parent / "reports", "*.xml", "test_b.py"),
    "tap": (REPORTS / "c", "*.tap", "test/suites/api/{}.c"),
    "automake": (REPORTS / "automake", "*.trs", "t/{}.c"),
    "go-test": (REPORTS / "go", "*.jsonl", "internal/sample/sample_test.go"),
    "vitest": (REPORTS / "typescript", "*.json", "src/tests/{}.test.ts"),
    "playwright-json": (REPORTS / "playwright", "*.json", "e2e/{}.spec.ts"),
    "published": (REPORTS / "published", "*.json", "tests/test_a.py"),
}
CUTS = 150
"""Of each report, at even distances and at each of its last bytes."""
NUMBER = re.compile(rb"\d+(\.\d+)?")
NUMBERS = 30
"""Of each report, at even distances."""


def reports(kind: str) -> list[tuple[bytes, str]]:
    folder, pattern, file = OWN[kind]
    return [(path.read_bytes(), file.format(path.stem)) for path in sorted(folder.glob(pattern))]


def outcomes(report: Report) -> dict[TestId, Outcome]:
    tests = {case.test for case in report.cases}
    return {test: combine(test, [case for case in report.cases if case.test == test]).outcome for test in tests}


def read(kind: str, data: bytes, file: str) -> dict[TestId, Outcome]:
    try:
        return outcomes(reader_of(kind).read(data, file))
    except ReportError:
        return {}


@pytest.mark.parametrize("kind", REPORT_FORMATS.names)
def test_every_reader_can_record_each_outcome(kind):
    found = {outcome for data, file in reports(kind) for outcome in read(kind, data, file).values()}
    assert found == {Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED}


@pytest.mark.parametrize("kind", REPORT_FORMATS.names)
def test_a_report_that_is_cut_off_anywhere_yields_no_pass_that_the_whole_has_not(kind):
    for data, file in reports(kind):
        whole = read(kind, data, file)
        for length in {*range(0, len(data), max(1, len(data) // CUTS)), *range(max(0, len(data) - 20), len(data))}:
            passed = [test for test, outcome in read(kind, data[:length], file).items() if outcome is Outcome.PASSED]
            assert all(whole.get(test) is Outcome.PASSED for test in passed), (file, length)


@pytest.mark.parametrize("kind", REPORT_FORMATS.names)
@pytest.mark.parametrize("data", [b"", b"\0", b"\xff\xfe", b"passed\n", b"{}", b"[]", b"<a/>", b"1..1\nok 1\n"])
def test_what_is_no_report_says_nothing(kind, data):
    assert read(kind, data, OWN[kind][2]) == {}


@pytest.mark.parametrize("kind", REPORT_FORMATS.names)
@pytest.mark.parametrize("other", [b"1e999", b"9" * 400, b"9" * 400 + b".0", b"-1", b"NaN", b"null", b"[]", b'"x"'])
def test_whatever_stands_in_place_of_a_number_the_results_can_be_kept(kind, other):
    for data, file in reports(kind):
        places = [match.span() for match in NUMBER.finditer(data)]
        for first, end in places[:: max(1, len(places) // NUMBERS)]:
            try:
                report = reader_of(kind).read(data[:first] + other + data[end:], file)
            except ReportError:
                continue
            for case in report.cases:
                assert isfinite(case.seconds)
                assert case.seconds >= 0
                assert type(case).model_validate_json(case.model_dump_json()) == case
