"""The JSON of @playwright/test: suites within suites, in them specs, and of each the runs in its projects."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from harness.judging.testing.readers import (
    Reader,
    Report,
    ReportError,
    bare,
    best_quality,
    claimed,
    read_json,
    seconds_of,
)
from harness.specs.test_results import CaseResult, Outcome, Quality, TestId

MAX_REPORT_BYTES = 20_000_000
MAX_MESSAGE = 20_000
SEPARATOR = " > "
_OUTCOMES = {
    "passed": Outcome.PASSED, "failed": Outcome.FAILED, "timedOut": Outcome.FAILED, "skipped": Outcome.SKIPPED,
}  # fmt: skip
"""An interrupted test has no result either way."""
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_ASSERTION = re.compile(r"^(\w*Error: )?expect(\.\w+)?\(|^AssertionError\b")
_LATE = r"^Test timeout of [0-9]+ms exceeded while "
_SETUP = re.compile(rf'{_LATE}(setting up |running "before)|^"beforeAll" hook timeout of ')
_TEARDOWN = re.compile(rf'{_LATE}(tearing down |running "after)|^"afterAll" hook timeout of ')
_TIMEOUT = re.compile(r"^Test timeout of ")


def read_playwright(data: bytes, file: str) -> Report:
    """Read the report of a run of `file`. Results of other files are left out.

    Raises:
        ReportError: It is no whole report.
    """
    if len(data) > MAX_REPORT_BYTES:
        raise ReportError(f"larger than {MAX_REPORT_BYTES} bytes")
    if b"\0" in data:
        raise ReportError("not text")
    try:
        whole = read_json(data)
        root = PurePosixPath(whole["config"]["rootDir"])
        mine = [suite for suite in whole["suites"] if _is_of(root / suite["file"], file)]
        cases = tuple(case for suite in mine for case in _cases(suite, file))
        failed = bool(whole["errors"]) and not cases
    except (ValueError, ArithmeticError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ReportError(f"not a report of Playwright: {type(error).__name__}") from None
    if not mine and not failed:
        raise ReportError("it has nothing of this file")
    return Report(cases, collection_failed=failed)


def _is_of(path: PurePosixPath, file: str) -> bool:
    wanted = PurePosixPath(file).parts
    return path.parts[-len(wanted) :] == wanted


def _cases(top: dict[str, Any], file: str) -> Iterator[CaseResult]:
    """Yield the cases of a file's suite, whose own title is the file's name and no part of a test's."""
    waiting: list[tuple[dict[str, Any], tuple[str, ...]]] = [(top, ())]
    while waiting:
        suite, titles = waiting.pop()
        for spec in suite["specs"]:
            name = SEPARATOR.join((*titles, spec["title"]))
            for test in spec["tests"]:
                yield from _case(TestId(file, name), f"{int(spec['line'])}:{int(spec['column'])}", test)
        for inner in suite.get("suites", ()):
            waiting.append((inner, (*titles, bare(inner["title"])) if inner["title"] else titles))


def _case(test: TestId, place: str, run: dict[str, Any]) -> Iterator[CaseResult]:
    """Yield what one project's runs of a test come to; nothing where it was interrupted before it had any."""
    results = run["results"]
    if not results or results[-1]["status"] not in _OUTCOMES:
        return
    outcome, quality = _OUTCOMES[results[-1]["status"]], None
    messages = [_COLOUR.sub("", error.get("message", "")) for result in results for error in result["errors"]]
    if len(results) > 1:
        outcome, quality = Outcome.FAILED, Quality.RETRIED
        messages.insert(0, f"it ran {len(results)} times in one run, and one result is wanted: take its retries away")
    elif run["expectedStatus"] != "passed":
        outcome = Outcome.SKIPPED
    elif outcome is Outcome.FAILED:
        quality = best_quality(map(_of_message, messages))
    yield CaseResult(
        test=test,
        case=f"{place} {run['projectName']}".strip(),
        outcome=outcome,
        quality=quality,
        seconds=seconds_of(sum(result["duration"] for result in results)),
        message="\n".join(messages)[:MAX_MESSAGE],
    )


def _of_message(message: str) -> Quality:
    """Return the quality of a failure by its message; a hook's error, but for a time-out, looks like the test's."""
    if _SETUP.search(message):
        return Quality.SETUP
    if _TEARDOWN.search(message):
        return Quality.TEARDOWN
    if _TIMEOUT.search(message):
        return Quality.TIMEOUT
    return Quality.ASSERTION if _ASSERTION.search(message) else Quality.RAISED


def _count(data: bytes) -> int:
    return data.count(b'"expectedStatus":')


READER = Reader("json", read_playwright, _count, claimed)
