"""From a repo's report format to the file that `run_tests` writes and the function that reads it."""

from collections.abc import Callable
from typing import NamedTuple, assert_never

from harness.specs.repo import ReportFormat
from harness.testing.go_test import read_go_test
from harness.testing.junit import read_junit
from harness.testing.report import Report
from harness.testing.tap import read_tap
from harness.testing.vitest import read_vitest


class Reader(NamedTuple):
    """`run_tests` writes `N.SUFFIX` for the Nth distinct file it is given. `read` raises ReportError."""

    suffix: str
    read: Callable[[bytes, str], Report]
    computed_names: bool = False
    """Whether the report has names that a template or a table made."""


def reader_of(report: ReportFormat) -> Reader:
    match report:
        case ReportFormat.JUNIT:
            return Reader("xml", read_junit)
        case ReportFormat.TAP:
            return Reader("tap", read_tap)
        case ReportFormat.GO_TEST:
            return Reader("jsonl", read_go_test)
        case ReportFormat.VITEST:
            return Reader("json", read_vitest, computed_names=True)
        case _:
            assert_never(report)
