"""The protocol of report readers, and the registry of readers by report format."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.specs.errors import UserError
from harness.specs.ids import TestId
from harness.specs.report_formats import REPORT_FORMATS
from harness.testing.report import Report


def _as_reported(report: Report, _tests: Sequence[TestId]) -> Report:
    return report


@dataclass(frozen=True)
class Reader:
    """How reports of one format are read. Everything here is pure, and takes time linear to the report.

    `run_tests` writes `N.SUFFIX` for the Nth distinct file it is given. `read` is given its bytes, which hostile code
    may have written, and the test file that was run; it raises ReportError for what is no whole report. `count` gives
    the number of cases in a file of a whole suite's run, 0 for one that can't be read. `name_cases` gives cases to
    the tests that they belong to, where a report's names are not those of the tests.
    """

    suffix: str
    read: Callable[[bytes, str], Report]
    count: Callable[[bytes], int]
    name_cases: Callable[[Report, Sequence[TestId]], Report] = _as_reported


def reader_of(report: str) -> Reader:
    """The reader of a report format. Raises UserError for an unknown name, or for what is no reader."""
    found = REPORT_FORMATS.get(report)
    if not isinstance(found, Reader):
        raise UserError(f"report format {report!r}: what is registered for it is no Reader, but {found!r}")
    return found
