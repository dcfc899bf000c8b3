"""From a repo's report format to the file that `run_tests` writes and the function that reads it."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, assert_never

from harness.specs.ids import TestId
from harness.specs.repo import ReportFormat
from harness.testing.automake import read_automake
from harness.testing.computed_names import claimed
from harness.testing.go_test import read_go_test
from harness.testing.junit import read_junit
from harness.testing.published import read_published
from harness.testing.published_names import attributed
from harness.testing.report import Report
from harness.testing.tap import read_tap
from harness.testing.vitest import read_vitest


class Reader(NamedTuple):
    """`run_tests` writes `N.SUFFIX` for the Nth distinct file it is given. `read` raises ReportError.

    `name_cases` gives cases to the tests that they belong to, where a report's names are not those of the tests.
    """

    suffix: str
    read: Callable[[bytes, str], Report]
    name_cases: Callable[[Report, Sequence[TestId]], Report] = lambda report, _: report


def reader_of(report: ReportFormat) -> Reader:
    match report:
        case ReportFormat.JUNIT:
            return Reader("xml", read_junit)
        case ReportFormat.TAP:
            return Reader("tap", read_tap)
        case ReportFormat.AUTOMAKE:
            return Reader("trs", read_automake)
        case ReportFormat.GO_TEST:
            return Reader("jsonl", read_go_test)
        case ReportFormat.VITEST:
            return Reader("json", read_vitest, claimed)
        case ReportFormat.PUBLISHED:
            return Reader("json", read_published, attributed)
        case _:
            assert_never(report)
