"""Hostile texts are tried in a process with limits: they cost neither our memory nor the event loop's time."""

import asyncio
import resource
import time

import pytest

from harness.judging.languages.registry import MOST_REMEMBERED, RememberingDiscovery, language_at
from harness.judging.testing.arm_job import TestRun, read_job
from harness.judging.testing.reading_process import LIGHT_BRACKETS, LIGHT_BYTES, Text, heavy, try_code, try_report
from harness.judging.testing.threads import CpuLimit
from harness.sandbox.protocol import JobResult
from harness.specs.test_results import TestId
from harness.specs.variants import ArmStatus

LIMIT = CpuLimit(cpu_seconds=20, wall_seconds=300)
CASE = b'<testcase classname="tests.test_x" name="test_%d" time="0.001"></testcase>'


def own_peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def childrens_peak() -> int:
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024


async def longest_stop(call: "asyncio.Task[object]") -> float:
    """The longest time for which the event loop did nothing else while `call` went on."""
    longest, last = 0.0, time.monotonic()
    while not call.done():
        await asyncio.wait([call], timeout=0.02)
        longest, last = max(longest, time.monotonic() - last), time.monotonic()
    return longest


@pytest.mark.dear("starts processes that read until a limit ends them")
@pytest.mark.parametrize(
    ("path", "text", "words"),
    [
        ("tests/x.c", b"(" * 100_000, "too much processor time"),
        ("tests/x.test.ts", b"a<" * 950_000, "of memory"),
        ("tests/test_x.py", b"a," * 800_000, "of memory"),
    ],
    ids=["c", "typescript", "python"],
)  # fmt: skip
async def test_a_hostile_text_costs_neither_memory_nor_a_stop_of_the_loop(path: str, text: bytes, words: str) -> None:
    before = own_peak()
    call = asyncio.create_task(try_code([Text("tests/test_fine.py", b"x = 1\n"), Text(path, text)], LIMIT))
    stopped = await longest_stop(call)
    unread = await call
    assert unread is not None
    assert unread.path == path
    assert unread.words.endswith(words)
    assert stopped < 1.0
    assert own_peak() - before < 30
    assert childrens_peak() < 300


@pytest.mark.dear("starts processes that read until a limit ends them")
async def test_an_honest_large_file_is_read() -> None:
    test = b"def test_%d():\n    value = compute(%d, other=[1, 2])\n    assert value == {'a': %d}\n\n"
    text = b"".join(test % (number, number, number) for number in range(2_000))
    assert heavy(text)
    assert await try_code([Text("tests/test_x.py", text)], LIMIT) is None


@pytest.mark.dear("starts processes that read until a limit ends them")
async def test_of_several_texts_the_one_that_was_too_much_is_named() -> None:
    honest = Text("tests/test_y.py", b"assert f(1)\n" * 10_000)
    unread = await try_code([honest, Text("tests/x.c", b"(" * 100_000), honest], LIMIT)
    assert unread is not None
    assert unread.path == "tests/x.c"


def test_small_texts_need_no_process() -> None:
    assert not heavy(b"x" * LIGHT_BYTES)
    assert heavy(b"x" * (LIGHT_BYTES + 1))
    assert not heavy(b"(" * LIGHT_BRACKETS)
    assert heavy(b")" * 9 + b"(" * (LIGHT_BRACKETS + 1))


@pytest.mark.dear("starts processes that read until a limit ends them")
async def test_hostile_reports_at_once_do_not_add_up_and_an_honest_large_one_is_read() -> None:
    hostile = b"<testsuites>" + b'<a b=""/>' * 2_000_000 + b"</testsuites>"
    before = own_peak()
    run = TestRun((TestId("tests/test_x.py", "test_1"),), {}, frozenset(), (), (), 10)
    result = JobResult(0, False, False, b"", {"1.xml": hostile}, True, 1.0)
    calls = asyncio.gather(*(read_job("junit", run, (), result, LIMIT) for _ in range(2)))
    assert [reading.status for reading in await calls] == [ArmStatus.DISAGREES] * 2
    assert own_peak() - before < 60
    assert childrens_peak() < 300
    honest = b"<testsuites><testsuite>" + b"".join(CASE % n for n in range(10_000)) + b"</testsuite></testsuites>"
    assert await try_report("junit", Text("tests/test_x.py", honest), LIMIT) is None


def test_what_is_remembered_has_a_limit() -> None:
    language = language_at("tests/test_x.py")
    assert language is not None
    discovery = RememberingDiscovery(language.discovery)
    first = discovery.discover(b"def test_a(): pass\n", "tests/test_x.py")
    assert discovery.discover(b"def test_a(): pass\n", "tests/test_x.py") is first
    for number in range(5):
        discovery.names(b"x = '%d" % number + b"a" * (MOST_REMEMBERED // 4) + b"'")
    assert discovery.discover(b"def test_a(): pass\n", "tests/test_x.py") is not first
