"""TAP version 14 as run scripts of C repositories write it: one test program per report."""

import re
from pathlib import PurePosixPath

from harness.judging.testing.readers import Reader, Report, ReportError
from harness.specs.test_results import CaseResult, Outcome, Quality, TestId

MAX_REPORT_BYTES = 200_000
"""Run scripts keep the last few thousand bytes of what a program prints."""

# A report is these lines or nothing: one that is cut off lacks its end. `ended` is how the program's process ended.
_REPORT = re.compile(
    r"""TAP\ version\ 14\n
    1\.\.1\n
    (?P<result>ok|not\ ok)\ 1\ -\ (?P<program>[\w-]+)(?P<skip>\ \#\ SKIP)?\n
    \ {2}---\n
    \ {2}ended:\ (?P<ended>passed|skipped|not\ built|timed\ out|status\ \d{1,3}|signal\ \d{1,3})\n
    \ {2}seconds:\ (?P<seconds>\d{1,9}\.\d{6})\n
    \ {2}output:\ \|\n
    (?P<output>(?:(?:\ {4}[^\n]*)?\n)*)
    \ {2}\.\.\.\n""",
    re.VERBOSE | re.ASCII,
)
_HARD_ERROR = "status 99"
"""The end of automake's test programs that could not be set up."""
_PROGRAM = re.compile(r"\s*\S+: ")


def read_tap(data: bytes, file: str) -> Report:
    """Read the report of the test program that is built from `file`.

    Raises:
        ReportError: It is no whole report.
    """
    if len(data) > MAX_REPORT_BYTES:
        raise ReportError(f"larger than {MAX_REPORT_BYTES} bytes")
    try:
        found = _REPORT.fullmatch(data.decode("ascii"))
    except UnicodeDecodeError:
        raise ReportError("not ASCII") from None
    if found is None or "\0" in found["output"]:
        raise ReportError("not a whole TAP report of one program")
    if found["program"] != PurePosixPath(file).stem:
        raise ReportError(f"of another program than {file}")
    return _report(TestId(file, found["program"]), found)


def _report(test: TestId, found: re.Match[str]) -> Report:
    ended, passed = found["ended"], found["result"] == "ok"
    if passed != (ended in ("passed", "skipped")) or bool(found["skip"]) != (ended == "skipped"):
        raise ReportError("it contradicts itself")
    if ended == "not built":
        return Report((), collection_failed=True)
    outcome = Outcome.SKIPPED if found["skip"] else Outcome.PASSED if passed else Outcome.FAILED
    case = CaseResult(
        test=test,
        outcome=outcome,
        quality=_quality(ended, found["output"]) if outcome is Outcome.FAILED else None,
        seconds=float(found["seconds"]),
        message=f"{ended}\n{found['output']}".strip(),
    )
    return Report((case,), collection_failed=False)


def _quality(ended: str, output: str) -> Quality:
    """Return how a program failed: by status 1 or a failed assert() it says so, any other end is an accident."""
    if ended == "timed out":
        return Quality.TIMEOUT
    if ended == _HARD_ERROR:
        return Quality.SETUP
    if ended.startswith("signal"):
        return Quality.ASSERTION if any(map(_is_failed_assert, output.splitlines())) else Quality.CRASH
    return Quality.ASSERTION if ended == "status 1" else Quality.RAISED


def _is_failed_assert(line: str) -> bool:
    """Return what assert() prints: PROGRAM: FILE:LINE: FUNCTION: Assertion `...' failed."""
    program = _PROGRAM.match(line)
    begin = line.find(": Assertion `", program.end()) if program else -1
    return begin >= 0 and line.find("' failed.", begin) >= 0


def _count(data: bytes) -> int:
    return len(re.findall(rb"^(?:not )?ok ", data, re.MULTILINE))


READER = Reader("tap", read_tap, _count)
