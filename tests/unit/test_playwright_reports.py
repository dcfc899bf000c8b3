"""Reports of @playwright/test, as its own JSON reporter wrote them: tests/fixtures/reports/playwright."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.judging.testing.readers import Report, ReportError, reader_of
from harness.specs.test_results import Outcome, Quality, TestId

FOLDER = Path(__file__).parents[1] / "fixtures" / "reports" / "playwright"
READER = reader_of("playwright-json")


def report(name: str, **changed: Any) -> Report:
    whole = {**json.loads((FOLDER / f"{name}.json").read_text()), **changed}
    return READER.read(json.dumps(whole).encode(), f"e2e/{name}.spec.ts")


def found(name: str) -> dict[str, tuple[Outcome, Quality | None]]:
    return {case.test.name: (case.outcome, case.quality) for case in report(name).cases}


def test_titles_of_blocks_are_joined_and_a_block_without_one_adds_nothing() -> None:
    names = [case.test for case in report("kinds").cases]
    assert TestId("e2e/kinds.spec.ts", "settling > weights") in names
    assert TestId("e2e/kinds.spec.ts", "in a block without a title") in names


@pytest.mark.parametrize(
    ("file", "name", "outcome", "quality"),
    [
        ("kinds", "adds", Outcome.PASSED, None),
        ("kinds", "settling > weights", Outcome.FAILED, Quality.ASSERTION),
        ("kinds", "settling > soft", Outcome.FAILED, Quality.ASSERTION),
        ("kinds", "settling > raises", Outcome.FAILED, Quality.RAISED),
        ("kinds", "settling > hangs", Outcome.FAILED, Quality.TIMEOUT),
        ("kinds", "settling > left out", Outcome.SKIPPED, None),
        ("kinds", "settling > later", Outcome.SKIPPED, None),
        ("kinds", "settling > skips itself", Outcome.SKIPPED, None),
        ("kinds", "settling > expected to fail", Outcome.SKIPPED, None),
        ("kinds", "settling > says it fails and does not", Outcome.SKIPPED, None),
        ("times", "polls", Outcome.FAILED, Quality.ASSERTION),
        ("times", "passes", Outcome.PASSED, None),
        ("times", "in a fixture", Outcome.FAILED, Quality.SETUP),
        ("times", "before > waits", Outcome.FAILED, Quality.SETUP),
        ("times", "after > waits too", Outcome.FAILED, Quality.TEARDOWN),
    ],
)
def test_a_test_has_the_outcome_and_quality_that_its_result_shows(
    file: str, name: str, outcome: Outcome, quality: Quality | None
) -> None:
    assert found(file)[name] == (outcome, quality)


def test_a_test_that_ran_more_than_once_has_failed_whatever_came_of_it() -> None:
    cases = report("retried").cases
    assert {(case.test.name, case.outcome, case.quality) for case in cases} == {
        ("passes the second time", Outcome.FAILED, Quality.RETRIED),
        ("never passes", Outcome.FAILED, Quality.RETRIED),
    }
    assert not Quality.RETRIED.kills
    assert [case.case for case in cases if case.test.name == "never passes"] == ["5:1 narrow", "5:1 wide"]


def test_cases_of_a_loop_belong_to_the_template_that_made_them() -> None:
    listed = TestId("e2e/kinds.spec.ts", "of ${year}")
    cases = [case for case in READER.name_cases(report("kinds"), [listed]).cases if case.test == listed]
    assert [case.outcome for case in cases] == [Outcome.PASSED, Outcome.FAILED]


def test_a_file_that_cannot_be_imported_has_failed_to_collect() -> None:
    assert report("broken").collection_failed
    assert not report("broken").cases


def test_a_message_has_no_colours() -> None:
    assert not [case for case in report("kinds").cases if "\x1b" in case.message]


def test_what_is_of_another_file_or_was_interrupted_is_no_result() -> None:
    with pytest.raises(ReportError, match="nothing of this file"):
        READER.read((FOLDER / "kinds.json").read_bytes(), "e2e/other.spec.ts")
    text = (FOLDER / "retried.json").read_text().replace('"status": "failed"', '"status": "interrupted"')
    left = READER.read(text.replace('"status": "passed"', '"status": "interrupted"').encode(), "e2e/retried.spec.ts")
    assert left.cases == ()


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), "x"])
def test_a_duration_that_is_no_number_is_refused(seconds: object) -> None:
    result = {"status": "passed", "duration": seconds, "errors": []}
    test = {"projectName": "", "expectedStatus": "passed", "results": [result]}
    spec = {"title": "a", "line": 1, "column": 1, "tests": [test]}
    with pytest.raises(ReportError):
        report("kinds", suites=[{"title": "kinds.spec.ts", "file": "kinds.spec.ts", "specs": [spec]}])


def test_tests_are_counted_in_a_report_of_a_whole_suite() -> None:
    assert READER.count((FOLDER / "kinds.json").read_bytes()) == len(report("kinds").cases)
