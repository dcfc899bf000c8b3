"""JUnit XML as pytest writes it (`junit_family=xunit1`)."""

import re
from collections.abc import Iterator
from math import isfinite
from xml.etree.ElementTree import ParseError

from junitparser import Error, Failure, JUnitXml, JUnitXmlError, Skipped, TestCase, TestSuite

from harness.judging.testing.readers import Reader, Report, ReportError
from harness.specs.test_results import CaseResult, Outcome, Quality, TestId

MAX_REPORT_BYTES = 20_000_000
_OTHER_ENCODING = re.compile(rb"""\s*<\?xml[^>]*encoding\s*=\s*["'](?!utf-8["'])""", re.IGNORECASE)
_TIMEOUT = re.compile(r"^Failed: Timeout \(")
_ASSERTION = re.compile(r"^(AssertionError\b|assert\b|Failed\b|\[XPASS)")


def read_junit(data: bytes, file: str) -> Report:
    """Read the report of one pytest process that ran tests of `file`. Raises ReportError.

    Entries of other files are left out: they can't be results of a test of this one.
    """
    if len(data) > MAX_REPORT_BYTES:
        raise ReportError(f"larger than {MAX_REPORT_BYTES} bytes")
    if b"\0" in data or _OTHER_ENCODING.match(data):
        raise ReportError("not UTF-8")
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise ReportError("it declares entities")
    try:
        return _read(JUnitXml.fromstring(data), file)
    except (ParseError, JUnitXmlError, LookupError, ValueError, RecursionError) as error:
        raise ReportError(f"not JUnit XML: {type(error).__name__}") from None


def _read(root: JUnitXml | TestSuite, file: str) -> Report:
    cases: list[CaseResult] = []
    collection_failed = False
    for entry in _entries(root):
        if _is_collection_error(entry):
            collection_failed = True
        else:
            cases += _case(entry, file)
    return Report(tuple(cases), collection_failed)


def _entries(root: JUnitXml | TestSuite) -> Iterator[TestCase]:
    for suite in root if isinstance(root, JUnitXml) else [root]:
        yield from (entry for entry in suite if isinstance(entry, TestCase))


def _is_collection_error(entry: TestCase) -> bool:
    return any(isinstance(result, Error) and result.message == "collection failure" for result in entry.result)


def _case(entry: TestCase, file: str) -> Iterator[CaseResult]:
    module = file.removesuffix(".py").replace("/", ".")
    classname = entry.classname or ""
    if classname != module and not classname.startswith(f"{module}."):
        return
    classes = classname[len(module) :].lstrip(".")
    name, bracket, case = (entry.name or "").partition("[")
    test = TestId(file, f"{classes}.{name}" if classes else name)
    outcome, quality, message = _outcome(entry)
    yield CaseResult(
        test=test,
        case=f"{bracket}{case}",
        outcome=outcome,
        quality=quality,
        seconds=_seconds(entry),
        message=message,
    )


def _seconds(entry: TestCase) -> float:
    seconds = float(entry.time or 0)
    if not (isfinite(seconds) and seconds >= 0):
        raise ValueError(f"{seconds} seconds")
    return seconds


def _outcome(entry: TestCase) -> tuple[Outcome, Quality | None, str]:
    faults = [result for result in entry.result if isinstance(result, Failure | Error)]
    if faults:
        qualities = list(Quality)
        first = min(faults, key=lambda fault: qualities.index(_quality(fault)))
        return Outcome.FAILED, _quality(first), f"{first.message or ''}\n{first.text or ''}".strip()
    skips = [result for result in entry.result if isinstance(result, Skipped)]
    if skips:
        return Outcome.SKIPPED, None, skips[0].message or ""
    return Outcome.PASSED, None, ""


def _quality(fault: Failure | Error) -> Quality:
    message = fault.message or ""
    if isinstance(fault, Error):
        return Quality.TEARDOWN if message.startswith("failed on teardown") else Quality.SETUP
    if _TIMEOUT.search(message):
        return Quality.TIMEOUT
    return Quality.ASSERTION if _ASSERTION.search(message) else Quality.RAISED


def _count(data: bytes) -> int:
    try:
        return sum(len(suite) for suite in JUnitXml.fromstring(data))
    except (JUnitXmlError, SyntaxError):
        return 0


READER = Reader("xml", read_junit, _count)
