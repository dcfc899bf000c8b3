"""From a repo's report format to the file that `run_tests` writes and the function that reads it."""

from collections.abc import Callable
from typing import NamedTuple, assert_never

from harness.specs.repo import ReportFormat
from harness.testing.junit import read_junit
from harness.testing.report import Report


class Reader(NamedTuple):
    """`run_tests` writes `N.SUFFIX` for the Nth distinct file it is given. `read` raises ReportError."""

    suffix: str
    read: Callable[[bytes, str], Report]


def reader_of(report: ReportFormat) -> Reader:
    match report:
        case ReportFormat.JUNIT:
            return Reader("xml", read_junit)
        case _:
            assert_never(report)
