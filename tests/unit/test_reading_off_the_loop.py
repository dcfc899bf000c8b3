"""Reports are read beside the event loop, and one that takes too long is one arm's loss."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from harness.judging.testing.arm_job import TestRun, read_job
from harness.judging.testing.readers import Reader, Report
from harness.judging.testing.threads import CpuLimit, in_thread
from harness.sandbox.protocol import JobResult
from harness.specs.errors import Starved
from harness.specs.repo import REPORT_FORMATS
from harness.specs.test_results import CaseResult, Outcome, TestId
from harness.specs.variants import ArmStatus

TESTS = (TestId("a_test", "one"), TestId("b_test", "two"))
RUN = TestRun(TESTS, {}, frozenset(), (), (), 10)
RESULT = JobResult(0, False, False, b"", {"1.x": b"slow", "2.x": b"quick"}, True, 1.0)


class Slow:
    """A reader that is busy with a report `slow`, computing or waiting, until it is told to go on."""

    def __init__(self, busy: bool) -> None:
        self.begun, self.go_on, self.busy = threading.Event(), threading.Event(), busy

    def read(self, data: bytes, file: str) -> Report:
        if data == b"slow":
            self.begun.set()
            while not self.go_on.is_set():
                if not self.busy:
                    self.go_on.wait()
        return Report((CaseResult(test=TestId(file, file[0]), outcome=Outcome.PASSED),), collection_failed=False)

    def name_cases(self, report: Report, tests: tuple[TestId, ...]) -> Report:
        [case] = report.cases
        [mine] = [test for test in tests if test.file == case.test.file]
        return Report((case.model_copy(update={"test": mine}),), collection_failed=False)


@contextmanager
def registered(slow: Slow) -> Iterator[None]:
    REPORT_FORMATS.register("slow", Reader("x", slow.read, len, slow.name_cases))
    try:
        yield
    finally:
        slow.go_on.set()
        REPORT_FORMATS.unregister("slow")


async def test_the_loop_goes_on_while_a_report_is_read():
    slow = Slow(busy=False)
    with registered(slow):
        reading = asyncio.create_task(read_job("slow", RUN, (), RESULT))
        await asyncio.to_thread(slow.begun.wait)
        assert not reading.done()
        slow.go_on.set()  # by the loop itself: a reader that held it up would wait for ever
        assert [item.outcome for item in (await reading).results] == [Outcome.PASSED, Outcome.PASSED]


async def test_a_report_that_takes_too_long_is_none_and_the_others_count():
    with registered(Slow(busy=True)):
        reading = await read_job("slow", RUN, (), RESULT, CpuLimit(0.2, 600))
    assert [item.outcome for item in reading.results] == [Outcome.MISSING, Outcome.PASSED]
    assert reading.status is ArmStatus.DISAGREES
    assert reading.disagreement == "exit status 0 without a whole report for each file"


async def test_a_report_that_only_the_clock_ends_shows_nothing_of_its_arm():
    with registered(Slow(busy=False)), pytest.raises(Starved, match=r"wasn't done after 0.2 s, with 0 s of CPU"):
        await read_job("slow", RUN, (), RESULT, CpuLimit(600, 0.2))


async def test_what_a_call_raises_reaches_the_caller():
    with pytest.raises(ZeroDivisionError):
        await in_thread(lambda: 1 // 0, CpuLimit(10, 10))


async def test_a_caller_that_is_cancelled_leaves_the_call_alone():
    slow = Slow(busy=False)
    with registered(slow):
        reading = asyncio.create_task(read_job("slow", RUN, (), RESULT))
        await asyncio.to_thread(slow.begun.wait)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading


def test_twenty_thousand_table_cases_are_read():
    names = ["TestT", *(f"TestT/{number}" for number in range(20_000))]
    events = [{"Action": action, "Package": "p", "Test": name} for action in ("run", "pass") for name in names]
    lines = [json.dumps(event) + "\n" for event in [*events, {"Action": "pass", "Package": "p"}]]
    run = TestRun((TestId("p/a_test.go", "TestT"),), {}, frozenset(), (), (), 10)
    result = JobResult(0, False, False, b"", {"1.jsonl": "".join(lines).encode()}, True, 1.0)
    reading = asyncio.run(read_job("go-test", run, (), result, CpuLimit(cpu_seconds=10, wall_seconds=300)))
    assert (reading.status, reading.results[0].cases) == (ArmStatus.FINISHED, 20_001)
