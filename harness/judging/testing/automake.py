"""Automake's `.trs` files: what its parallel test harness notes of one test program.

The driver of TAP programs writes the program's result before those of its tests, the other one behind its only one.
"""

import re
from pathlib import PurePosixPath

from harness.judging.testing.readers import Reader, Report, ReportError
from harness.specs.test_results import CaseResult, Outcome, Quality, TestId

MAX_REPORT_BYTES = 200_000

# A crash is a failure like any other there: only the program's log tells it apart.
_RESULTS: dict[str, tuple[Outcome, Quality | None]] = {
    "PASS": (Outcome.PASSED, None),
    "FAIL": (Outcome.FAILED, Quality.RAISED),
    "SKIP": (Outcome.SKIPPED, None),
    "XFAIL": (Outcome.SKIPPED, None),
    "XPASS": (Outcome.FAILED, Quality.RAISED),
    "ERROR": (Outcome.FAILED, Quality.SETUP),
}
_FIELD = re.compile(r":(?P<name>[a-z-]+): *(?P<value>[\w-]*)(?P<rest>.*)")
_ONCE = ("global-test-result", "recheck", "copy-in-global-log")


def read_automake(data: bytes, file: str) -> Report:
    """Read the results of the test program that is built from `file`.

    Raises:
        ReportError: It is no whole report.
    """
    if len(data) > MAX_REPORT_BYTES:
        raise ReportError(f"larger than {MAX_REPORT_BYTES} bytes")
    fields = _fields(data)
    for name in _ONCE:
        if len(fields.get(name, [])) != 1:
            raise ReportError(f"it has not one line of {name}: it was cut off, or is of another format")
    [whole], parts = fields["global-test-result"], fields.get("test-result", [])
    unknown = {whole, *parts} - _RESULTS.keys()
    if unknown or not parts:
        raise ReportError("it has a result that automake doesn't know" if unknown else "it has no result")
    outcome, quality = _RESULTS[whole]
    if outcome is Outcome.PASSED and any(_RESULTS[part][0] is Outcome.FAILED for part in parts):
        raise ReportError("it contradicts itself: the program passes and a test of it fails")
    if outcome is Outcome.FAILED and not any(_RESULTS[part][0] is Outcome.FAILED for part in parts):
        raise ReportError("it contradicts itself: the program fails and none of its tests does")
    test = TestId(file, PurePosixPath(file).stem)
    return Report((CaseResult(test=test, outcome=outcome, quality=quality, message=whole),), collection_failed=False)


def _fields(data: bytes) -> dict[str, list[str]]:
    if data and not data.endswith(b"\n"):
        raise ReportError("its last line was cut off")
    try:
        lines = data.decode("ascii").splitlines()
    except UnicodeDecodeError:
        raise ReportError("not ASCII") from None
    found: dict[str, list[str]] = {}
    for line in lines:
        field = _FIELD.fullmatch(line)
        if field is None:
            raise ReportError("a line of it is no field of automake's")
        found.setdefault(field["name"], []).append(field["value"])
    return found


def _count(data: bytes) -> int:
    return len(re.findall(rb"^:global-test-result:", data, re.MULTILINE))


READER = Reader("trs", read_automake, _count)
