"""JUnit XML as pytest writes it (`junit_family=xunit1`)."""

import re
from collections.abc import Iterator
from math import isfinite
from xml.etree.ElementTree import Element, ParseError, fromstring

from harness.judging.languages.found import Start
from harness.judging.testing.readers import Reader, Report, ReportError
from harness.specs.test_results import CaseResult, Outcome, Quality, TestId

MAX_REPORT_BYTES = 20_000_000
_OTHER_ENCODING = re.compile(rb"""\s*<\?xml[^>]*encoding\s*=\s*["'](?!utf-8["'])""", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]{1,9}")
_TIMEOUT = re.compile(r"^Failed: Timeout \(")
_ASSERTION = re.compile(r"^(AssertionError\b|assert\b|Failed\b|\[XPASS)")


def read_junit(data: bytes, file: str) -> Report:
    """Read the report of one pytest process that ran tests of `file`.

    Entries of other files are left out: they can't be results of a test of this one.

    Raises:
        ReportError: It is no whole report.
    """
    if len(data) > MAX_REPORT_BYTES:
        raise ReportError(f"larger than {MAX_REPORT_BYTES} bytes")
    if b"\0" in data or _OTHER_ENCODING.match(data):
        raise ReportError("not UTF-8")
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise ReportError("it declares entities")
    try:
        return _read(data, file)
    except (ParseError, LookupError, ValueError, RecursionError) as error:
        raise ReportError(f"not JUnit XML: {type(error).__name__}") from None


def _read(data: bytes, file: str) -> Report:
    cases: list[CaseResult] = []
    starts: set[Start] = set()
    collection_failed = False
    for entry in _entries(data):
        if _is_collection_error(entry):
            collection_failed = True
        else:
            found = list(_case(entry, file))
            cases += found
            starts |= {Start(case.test, entry.get("file", ""), _line(entry)) for case in found}
    return Report(tuple(cases), collection_failed, starts=frozenset(starts))


def _entries(data: bytes) -> Iterator[Element]:
    """Yield a report's elements, raising ValueError where the root is no suite, and what the parser raises."""
    root = fromstring(data)
    if root.tag not in ("testsuite", "testsuites"):
        raise ValueError(f"a root {root.tag!r}")
    for suite in [root] if root.tag == "testsuite" else root.iterfind("testsuite"):
        yield from _cases_of(suite)


def _cases_of(suite: Element) -> Iterator[Element]:
    yield from suite.iterfind("testcase")
    for nested in suite.iterfind("testsuite"):
        yield from _cases_of(nested)


def _is_collection_error(entry: Element) -> bool:
    return any(error.get("message") == "collection failure" for error in entry.iter("error"))


def _case(entry: Element, file: str) -> Iterator[CaseResult]:
    module = file.removesuffix(".py").replace("/", ".")
    classname = entry.get("classname", "")
    if classname != module and not classname.startswith(f"{module}."):
        return
    classes = classname[len(module) :].lstrip(".")
    name, bracket, case = entry.get("name", "").partition("[")
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


def _line(entry: Element) -> int:
    """Return the first line of a test's function, decorators included; pytest counts from 0."""
    told = entry.get("line", "")
    return int(told) + 1 if _NUMBER.fullmatch(told) else 0


def _seconds(entry: Element) -> float:
    told = entry.get("time")
    seconds = float(told.replace(",", "")) if told else 0.0
    if not (isfinite(seconds) and seconds >= 0):
        raise ValueError(f"{seconds} seconds")
    return seconds


def _outcome(entry: Element) -> tuple[Outcome, Quality | None, str]:
    faults = [result for result in entry.iter() if result.tag in ("failure", "error")]
    if faults:
        qualities = list(Quality)
        first = min(faults, key=lambda fault: qualities.index(_quality(fault)))
        return Outcome.FAILED, _quality(first), f"{first.get('message', '')}\n{first.text or ''}".strip()
    for skip in entry.iter("skipped"):
        return Outcome.SKIPPED, None, skip.get("message", "")
    return Outcome.PASSED, None, ""


def _quality(fault: Element) -> Quality:
    message = fault.get("message", "")
    if fault.tag == "error":
        return Quality.TEARDOWN if message.startswith("failed on teardown") else Quality.SETUP
    if _TIMEOUT.search(message):
        return Quality.TIMEOUT
    return Quality.ASSERTION if _ASSERTION.search(message) else Quality.RAISED


def _count(data: bytes) -> int:
    try:
        return sum(1 for _ in _entries(data))
    except (ParseError, ValueError):
        return 0


READER = Reader("xml", read_junit, _count)
