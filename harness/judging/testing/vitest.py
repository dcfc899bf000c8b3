"""The JSON of vitest and of jest: one object with a result for each `it` of each file."""

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any

from harness.judging.languages.found import Start
from harness.judging.testing.readers import Reader, Report, ReportError, best_quality, claimed, read_json, seconds_of
from harness.specs.test_results import CaseResult, Outcome, Quality, TestId

MAX_REPORT_BYTES = 20_000_000
MAX_MESSAGE = 20_000
SEPARATOR = " > "
_OUTCOMES = {
    "passed": Outcome.PASSED, "failed": Outcome.FAILED, "skipped": Outcome.SKIPPED, "todo": Outcome.SKIPPED,
    "disabled": Outcome.SKIPPED,
}  # fmt: skip
_UNFINISHED = "pending"
"""In vitest's reports a test that had begun, in jest's one that is skipped: no result in either case."""
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_TIMEOUT = re.compile(r"^\w*Error: ((Test|Hook) timed out in|thrown: \"Exceeded timeout)")
_ASSERTION = re.compile(
    r"^(JestAssertionError|AssertionError|assert\.\w+\(|(\w*Error: )?expect\()"
    r"|^Error: (Snapshot `|Expect test to fail|Failing test passed)"
)


def read_vitest(data: bytes, file: str) -> Report:
    """Read the report of a run of `file`.

    Results of other files are left out. Failures of hooks that `run_tests` reports are read from their messages.

    Raises:
        ReportError: It is no whole report.
    """
    if len(data) > MAX_REPORT_BYTES:
        raise ReportError(f"larger than {MAX_REPORT_BYTES} bytes")
    if b"\0" in data:
        raise ReportError("not text")
    try:
        whole = read_json(data)
        mine = [entry for entry in whole["testResults"] if _is_of(entry["name"], file)]
        cases = tuple(case for entry in mine for case in _cases(entry, file))
        registered = _registered(cases) if _tells_all(mine) else frozenset[Start]()
        has_cases = [bool(entry["assertionResults"]) for entry in mine if entry["status"] == "failed"]
    except (ValueError, ArithmeticError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ReportError(f"not a report of vitest: {type(error).__name__}") from None
    if not mine:
        raise ReportError("it has nothing of this file")
    return Report(cases, collection_failed=False in has_cases, file_failed=bool(has_cases), registered=registered)


def _tells_all(entries: list[dict[str, Any]]) -> bool:
    """Return whether a report has the tests that a run has left out: jest calls them pending."""
    return all(result["status"] != _UNFINISHED for entry in entries for result in entry["assertionResults"])


def _registered(cases: Iterable[CaseResult]) -> frozenset[Start]:
    return frozenset(Start(case.test, case.test.file, int(case.case.partition(":")[0] or 0)) for case in cases)


def _is_of(path: str, file: str) -> bool:
    parts, wanted = PurePosixPath(path).parts, PurePosixPath(file).parts
    return parts[-len(wanted) :] == wanted


def _cases(entry: dict[str, Any], file: str) -> Iterator[CaseResult]:
    for result in entry["assertionResults"]:
        status = result["status"]
        if status == _UNFINISHED:
            continue
        title = SEPARATOR.join([*(part for part in result["ancestorTitles"] if part), result["title"]])
        message = _COLOUR.sub("", "\n".join(result["failureMessages"] or ()))
        quality = None
        if _OUTCOMES[status] is Outcome.FAILED:
            quality = best_quality(_of_message(_COLOUR.sub("", text)) for text in result["failureMessages"])
        yield CaseResult(
            test=TestId(file, title),
            case=_place(result.get("location")),
            outcome=_OUTCOMES[status],
            quality=quality,
            seconds=seconds_of(result.get("duration") or 0),
            message=message[:MAX_MESSAGE],
        )


def _place(location: dict[str, int] | None) -> str:
    """Return line and column of the call that registered a test; empty where the report has none."""
    return f"{int(location['line'])}:{int(location['column'])}" if location else ""


def _of_message(message: str) -> Quality:
    if message.startswith("setup failed: "):
        return Quality.SETUP
    if message.startswith("teardown failed: "):
        return Quality.TEARDOWN
    if _TIMEOUT.search(message):
        return Quality.TIMEOUT
    return Quality.ASSERTION if _ASSERTION.search(message) else Quality.RAISED


def _count(data: bytes) -> int:
    return data.count(b'"ancestorTitles":')


READER = Reader("json", read_vitest, _count, claimed)
