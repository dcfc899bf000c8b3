"""Hostile texts are tried in a process with limits: they cost neither our memory nor the event loop's time."""

import asyncio
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, TypeVar

import pytest

from harness.judging.languages.registry import MOST_REMEMBERED, RememberingDiscovery, language_at
from harness.judging.testing.arm_job import TestRun, read_job
from harness.judging.testing.reading_process import (
    LIGHT_BRACKETS,
    LIGHT_BYTES,
    LIGHT_OTHERS,
    Text,
    heavy,
    try_code,
    try_report,
)
from harness.judging.testing.threads import CpuLimit
from harness.judging.verify.intake import FileChange
from harness.judging.verify.suite_checks import read_suite
from harness.sandbox.protocol import JobResult
from harness.specs.errors import Starved
from harness.specs.test_results import TestId
from harness.specs.variants import ArmStatus
from tests.support.small_task import small_task

T = TypeVar("T")
LIMIT = CpuLimit(cpu_seconds=20, wall_seconds=300)
CASE = b'<testcase classname="tests.test_x" name="test_%d" time="0.001"></testcase>'


def peak(whose: int) -> int:
    """Megabytes that a process, or the largest of its children, has had at most."""
    return resource.getrusage(whose).ru_maxrss // 1024


async def longest_stop(call: "asyncio.Future[T]") -> tuple[float, T]:
    """The longest time for which the event loop did nothing else while `call` went on, and its result."""
    longest, last = 0.0, time.monotonic()
    while not call.done():
        await asyncio.wait([call], timeout=0.02)
        longest, last = max(longest, time.monotonic() - last), time.monotonic()
    return longest, await call


HOSTILE = {
    "tests/x.c": (b"(" * 100_000, "too much processor time"),
    "tests/x.test.ts": (b"a<" * 950_000, "of memory"),
    "tests/test_x.py": (b"a," * 800_000, "of memory"),
}


async def try_hostile(path: str) -> tuple[float, str]:
    call = try_code([Text("tests/test_fine.py", b"x = 1\n"), Text(path, HOSTILE[path][0])], LIMIT)
    stopped, unread = await longest_stop(asyncio.ensure_future(call))
    return stopped, f"{unread.path}: {unread.words}" if unread else ""


async def read_hostile_reports() -> tuple[float, str]:
    hostile = b"<testsuites>" + b'<a b=""/>' * 2_000_000 + b"</testsuites>"
    run = TestRun((TestId("tests/test_x.py", "test_1"),), {}, frozenset(), (), (), 10)
    result = JobResult(0, False, False, b"", {"1.xml": hostile}, True, 1.0)
    calls = (read_job("junit", run, (), result, LIMIT) for _ in range(2))
    stopped, readings = await longest_stop(asyncio.gather(*calls))
    return stopped, " ".join(reading.status for reading in readings)


async def read_many_files() -> tuple[float, str]:
    """A suite of as many and as large files as a patch may well have, of which none is tried apart."""
    checks = b"".join(b"    assert summed(%d, other=[1, 2]) == {'a': %d}\n" % (n, n) for n in range(20))
    text = b"from sums import summed\n\n\ndef test_0():\n" + checks + b"# a long text of what was tried\n" * 410
    names = [f"tests/test_{number}.py" for number in range(325)]
    manifest = "".join(f"- file: {name}\n  tests: [test_0]\n" for name in names).encode()
    with TemporaryDirectory() as directory:
        task = small_task(Path(directory))
        read = read_suite(task, manifest, tuple(FileChange(name, None, text) for name in names))
        stopped, check = await longest_stop(asyncio.ensure_future(read))
    return stopped, f"{len(text) // 1000} kB each: {len(check.tests)} tests, {len(check.reasons)} reasons"


class Measured(NamedTuple):
    stopped: float
    """Seconds."""
    words: str
    own: int
    """Megabytes by which the process itself grew."""
    children: int


def in_a_new_process(call: str) -> Measured:
    """What comes of a call of this file, and its memory, which a process that runs other tests couldn't tell."""
    code = f"""
import asyncio, json, resource
from {Path(__file__).stem} import peak, read_hostile_reports, read_many_files, try_hostile
before = peak(resource.RUSAGE_SELF)
stopped, words = asyncio.run({call})
print(json.dumps([stopped, words, peak(resource.RUSAGE_SELF) - before, peak(resource.RUSAGE_CHILDREN)]))
"""
    here = Path(__file__).parent
    done = subprocess.run([sys.executable, "-c", code], cwd=here, capture_output=True, text=True, check=True)
    return Measured(*json.loads(done.stdout))


@pytest.mark.dear("starts processes that read until a limit ends them")
@pytest.mark.parametrize("path", HOSTILE)
def test_a_hostile_text_costs_neither_memory_nor_a_stop_of_the_loop(path: str) -> None:
    found = in_a_new_process(f"try_hostile({path!r})")
    assert found.words.startswith(path)
    assert found.words.endswith(HOSTILE[path][1])
    assert found.stopped < 1.0
    assert found.own < 60
    assert found.children < 300


@pytest.mark.dear("starts processes that read until a limit ends them")
async def test_an_honest_large_file_is_read() -> None:
    test = b"def test_%d():\n    value = compute(%d, other=[1, 2])\n    assert value == {'a': %d}\n\n"
    text = b"".join(test % (number, number, number) for number in range(2_000))
    assert heavy(text)
    assert await try_code([Text("tests/test_x.py", text)], LIMIT) is None


async def test_a_text_that_only_the_clock_ends_is_not_refused() -> None:
    with pytest.raises(Starved, match=r"^tests/test_x.py: reading wasn't done after 0.01 s"):
        await try_code([Text("tests/test_x.py", b"x = 1\n" * LIGHT_BYTES)], CpuLimit(600, 0.01))


@pytest.mark.dear("starts processes that read until a limit ends them")
async def test_of_several_texts_the_one_that_was_too_much_is_named() -> None:
    honest = Text("tests/test_y.py", b"assert f(1)\n" * 10_000)
    unread = await try_code([honest, Text("tests/x.c", b"(" * 100_000), honest], LIMIT)
    assert unread is not None
    assert unread.path == "tests/x.c"


@pytest.mark.long
def test_many_files_of_one_patch_do_not_add_up() -> None:
    found = in_a_new_process("read_many_files()")
    assert found.words == "14 kB each: 325 tests, 0 reasons"
    assert found.own < 300


def test_small_texts_need_no_process() -> None:
    assert not heavy(b"x" * LIGHT_BYTES)
    assert heavy(b"x" * (LIGHT_BYTES + 1))
    assert not heavy(b"(" * LIGHT_BRACKETS)
    assert heavy(b")" * 9 + b"(" * (LIGHT_BRACKETS + 1))
    for one in (b"\\\n", b"\\\r\n", b'/*"'):
        assert not heavy(one * LIGHT_OTHERS)
        assert heavy(one * (LIGHT_OTHERS + 1))


@pytest.mark.dear("starts processes that read until a limit ends them")
async def test_hostile_reports_at_once_do_not_add_up_and_an_honest_large_one_is_read() -> None:
    found = in_a_new_process("read_hostile_reports()")
    assert found.words == f"{ArmStatus.DISAGREES} {ArmStatus.DISAGREES}"
    assert found.own < 90
    assert found.children < 300
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
