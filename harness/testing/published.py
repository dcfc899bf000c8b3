"""What a published task's parser says of a log: `{"tests": [{"name", "status"}]}`, names as it finds them."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from harness.specs.ids import TestId
from harness.specs.results import CaseResult, Outcome, Quality
from harness.testing.published_names import attributed, is_of
from harness.testing.readers import Reader
from harness.testing.report import Report, ReportError

MAX_REPORT_BYTES = 20_000_000
_OUTCOMES = {
    "PASSED": (Outcome.PASSED, None),
    "FAILED": (Outcome.FAILED, Quality.RAISED),
    "SKIPPED": (Outcome.SKIPPED, None),
    "ERROR": (Outcome.FAILED, Quality.RAISED),
}


class ParsedTest(NamedTuple):
    """A name and one of PASSED, FAILED, SKIPPED, ERROR."""

    name: str
    status: str


class _Entry(BaseModel):
    model_config = ConfigDict(extra="ignore")

    name: Annotated[str, StringConstraints(min_length=1)]
    status: str


class _Parsed(BaseModel):
    model_config = ConfigDict(extra="ignore")

    tests: list[_Entry]
    again: list[_Entry] = []
    """Results of tests that have another one further up in the log, which is the one that the parser keeps."""


def parsed_tests(data: bytes) -> list[ParsedTest]:
    """A parser's output as it stands. Raises ReportError."""
    return _listed(_read(data).tests)


def _read(data: bytes) -> _Parsed:
    if len(data) > MAX_REPORT_BYTES:
        raise ReportError(f"larger than {MAX_REPORT_BYTES} bytes")
    try:
        found = _Parsed.model_validate_json(data)
    except ValidationError:
        raise ReportError("not what a parser writes: an object with a list 'tests' of 'name' and 'status'") from None
    for entry in (*found.tests, *found.again):
        if entry.status.upper() not in _OUTCOMES:
            raise ReportError(f"unknown status {entry.status!r}")
    return found


def _listed(entries: Iterable[_Entry]) -> list[ParsedTest]:
    return [ParsedTest(entry.name, entry.status.upper()) for entry in entries]


def read_published(data: bytes, file: str) -> Report:
    """Read what the parser made of one run of `file`. Raises ReportError.

    Names are left as they are, but for those that say they are of another file. That a test failed is all that a
    log says: failures and errors count as raised. Many runners call an exception of the test itself an error, so it
    can't be told from one of its set-up.
    """
    found = _read(data)
    tests, again = ([item for item in _listed(part) if is_of(item.name, file)] for part in (found.tests, found.again))
    cases = tuple(_case(TestId(file, name), status) for name, status in tests)
    return Report(cases, collection_failed=False, contradiction=_contradiction([*tests, *again]))


def _case(test: TestId, status: str) -> CaseResult:
    outcome, quality = _OUTCOMES[status]
    return CaseResult(test=test, outcome=outcome, quality=quality, message=status)


def _contradiction(tests: list[ParsedTest]) -> str:
    """A log in which one test both passes and fails was not written by the test run alone."""
    known: dict[str, set[str]] = defaultdict(set)
    for name, status in tests:
        known[name].add(status)
    if any({"PASSED", "FAILED"} <= statuses for statuses in known.values()):
        return "the log has one test both as passed and as failed"
    return ""


def _count(data: bytes) -> int:
    return data.partition(b'"again":')[0].count(b'"status":')


READER = Reader("json", read_published, _count, attributed)
