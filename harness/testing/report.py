"""The content of a report, in any format."""

from dataclasses import dataclass

from harness.specs.results import CaseResult


class ReportError(Exception):
    """A report that isn't one: absent, too large, cut off, of another format."""


@dataclass(frozen=True)
class Report:
    """A file's cases, and whether collecting the file failed: it couldn't be imported, built or started.

    `contradiction` says how the report speaks against itself; nobody's tests alone write such a one.
    """

    cases: tuple[CaseResult, ...]
    collection_failed: bool
    contradiction: str = ""
