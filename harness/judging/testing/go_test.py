"""Go's test events (`go test -json`, `go tool test2json`), one JSON object a line."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from operator import itemgetter
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from harness.judging.testing.readers import Reader, Report, ReportError, read_json
from harness.specs.test_results import CaseResult, Outcome, Quality, TestId

MAX_REPORT_BYTES = 20_000_000
MAX_MESSAGE = 20_000
_ENDS = {"pass": Outcome.PASSED, "fail": Outcome.FAILED, "skip": Outcome.SKIPPED}
_ACTIONS = frozenset({"start", "run", "pause", "cont", "output", "bench", *_ENDS})
_BUILD_FAILED = re.compile(r"^FAIL\t\S+ \[(build|setup) failed\]$", re.MULTILINE)
_TIMED_OUT = re.compile(r"^panic: test timed out after ", re.MULTILINE)
_PANIC = re.compile(r"^(panic|fatal error): ", re.MULTILINE)
# A result that stands behind what its test printed without a line end; the converter takes no notice of it.
_GLUED = re.compile(r"--- (PASS|FAIL|SKIP): (\S+) \((\d{1,9}\.\d{1,9})s\)\n$")
# Its events tell no time where it adds none to them; the line that it reads them from always does.
_SPENT = re.compile(r"^ *--- (?:PASS|FAIL|SKIP): (\S+) \((\d{1,9}\.\d{1,9})s\)\n$")


class _Event(NamedTuple):
    action: str
    package: str
    test: str
    seconds: float
    output: str


@dataclass
class _Run:
    """One test or subtest of a report. `end` is None while it runs; `broke` where its process broke down in it.

    `told` says that the test's own output has its failure, `panicked` that it or a subtest of it printed a panic.
    """

    end: Outcome | None = None
    seconds: float = 0.0
    output: list[str] = field(default_factory=list)
    broke: Quality | None = None
    told: bool = False
    panicked: bool = False

    @property
    def printed(self) -> str:
        return "".join(self.output)


def read_go_test(data: bytes, file: str) -> Report:
    """Read the report of one test process that ran tests of `file`.

    A report without the package's end was cut off. Events of other packages are left out.

    Raises:
        ReportError: It is no whole report.
    """
    events = list(_events(data))
    if not events or events[-1].test or events[-1].action not in _ENDS:
        raise ReportError("it ends before its package does")
    package = str(PurePosixPath(file).parent)
    mine = [event for event in events if event.package == package or event.package.endswith(f"/{package}")]
    output = "".join(event.output for event in mine)
    runs = _runs(mine)
    _blame(runs, output, events[-1].action)
    _note_panics(runs)
    cases = tuple(_case(file, name, run) for name, run in runs.items() if run.end is not None)
    failed = any(event.action == "fail" and not event.test for event in mine)
    return Report(cases, collection_failed=failed and (not runs or _BUILD_FAILED.search(output) is not None))


def _events(data: bytes) -> Iterator[_Event]:
    if len(data) > MAX_REPORT_BYTES:
        raise ReportError(f"larger than {MAX_REPORT_BYTES} bytes")
    if b"\0" in data:
        raise ReportError("not text")
    if data and not data.endswith(b"\n"):
        raise ReportError("its last line is cut off")
    for line in data.splitlines():
        try:
            yield _event(read_json(line))
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            raise ReportError(f"not events of go test: {type(error).__name__}") from None


def _event(event: Any) -> _Event:
    if not isinstance(event, dict) or event.get("Action") not in _ACTIONS:
        raise ValueError("no event")
    texts = [event.get(key, "") for key in ("Package", "Test", "Output")]
    seconds = event.get("Elapsed", 0)
    if not all(isinstance(text, str) for text in texts) or isinstance(seconds, bool):
        raise ValueError("no event")
    if not (isfinite(seconds) and seconds >= 0):
        raise ValueError(f"{seconds} seconds")
    package, test, output = texts
    return _Event(event["Action"], package, test, float(seconds), output)


def _runs(events: Iterable[_Event]) -> dict[str, _Run]:
    """Return every test and subtest that was started, and how it ended. The worst of several ends counts."""
    runs: dict[str, _Run] = {}
    for event in events:
        if event.action == "run" and event.test:
            runs.setdefault(event.test, _Run())
        run = runs.get(event.test)
        if run is None:
            continue
        run.output.append(event.output)
        run.told = run.told or f"--- FAIL: {event.test} (" in event.output
        if (spent := _SPENT.search(event.output)) and spent[1] == event.test and run.end is None:
            run.seconds = float(spent[2])
        # Where a process breaks down, the converter ends whichever test it saw last: that is no result of a test.
        if event.action in _ENDS and (event.action != "fail" or run.told):
            _end(run, _ENDS[event.action], event.seconds or run.seconds)
    for event in events:
        if (glued := _GLUED.search(event.output)) and (run := runs.get(glued[2])) and run.end is None:
            _end(run, _ENDS[glued[1].lower()], float(glued[3]))
    return runs


def _end(run: _Run, outcome: Outcome, seconds: float) -> None:
    if run.end is not Outcome.FAILED:
        run.end, run.seconds = outcome, seconds


def _blame(runs: dict[str, _Run], output: str, end: str) -> None:
    """Fail the test during which a process broke down.

    Of several that ran side by side none can be blamed: what each does alone tells.
    """
    unfinished = [name for name, run in runs.items() if run.end is None]
    if end == "fail" and len({name.partition("/")[0] for name in unfinished}) == 1:
        quality = Quality.TIMEOUT if _TIMED_OUT.search(output) else Quality.CRASH
        for name in unfinished:
            runs[name].end, runs[name].broke = Outcome.FAILED, quality


def _note_panics(runs: Mapping[str, _Run]) -> None:
    """Count a panic for the test that printed it and for those that it is a subtest of.

    Sorted with a slash behind each name, subtests follow their test at once: every name is looked at once.
    """
    open_runs: list[tuple[str, _Run]] = []
    for name, run in sorted(((f"{name}/", run) for name, run in runs.items()), key=itemgetter(0)):
        while open_runs and not name.startswith(open_runs[-1][0]):
            _close(open_runs)
        run.panicked = _PANIC.search(run.printed) is not None
        open_runs.append((name, run))
    while open_runs:
        _close(open_runs)


def _close(open_runs: list[tuple[str, _Run]]) -> None:
    _, run = open_runs.pop()
    if open_runs and run.panicked:
        open_runs[-1][1].panicked = True


def _case(file: str, name: str, run: _Run) -> CaseResult:
    assert run.end is not None
    test, _, case = name.partition("/")
    quality = run.broke or (Quality.RAISED if run.panicked else Quality.ASSERTION)
    return CaseResult(
        test=TestId(file, test),
        case=case,
        outcome=run.end,
        quality=quality if run.end is Outcome.FAILED else None,
        seconds=0.0 if case else run.seconds,
        message="" if run.end is Outcome.PASSED else run.printed[-MAX_MESSAGE:].strip(),
    )


def _count(data: bytes) -> int:
    return len(re.findall(rb'"Action":"(?:pass|fail|skip)"[^\n]*"Test":', data))


READER = Reader("jsonl", read_go_test, _count)
