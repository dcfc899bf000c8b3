"""Reading what a submission wrote: beside the event loop, and what is too much to read costs its submission alone."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from harness.judging.languages.found import MAX_SOURCE, TestFile
from harness.judging.languages.registry import LANGUAGES, RememberingDiscovery
from harness.judging.submission.manifest import format_manifest
from harness.judging.testing.threads import CpuLimit
from harness.judging.verify.intake import FileChange
from harness.judging.verify.neighbours import affected_tests
from harness.judging.verify.suite_checks import read_suite
from harness.runs.outcome import reason_of
from harness.sandbox.git_tree import GitTree
from harness.specs.errors import Starved
from harness.specs.reasons import ReasonCode, Verdict
from harness.specs.task import Task
from harness.specs.test_results import TestId
from tests.support.small_task import small_task

SOURCE = b"def test_a():\n    assert 1\n"
CHANGE = FileChange("tests/test_x.py", None, SOURCE)
MANIFEST = format_manifest([TestId("tests/test_x.py", "test_a")]).encode()


class Slow(RememberingDiscovery):
    """Python's, but that it is busy until it is told to go on: it computes, or `waits`."""

    waits = False

    def __init__(self) -> None:
        super().__init__(LANGUAGES.get("python").discovery)
        self.begun, self.go_on = threading.Event(), threading.Event()

    def discover(self, source: bytes, path: str) -> TestFile:
        self.begun.set()
        while not self.go_on.is_set():
            if self.waits:
                self.go_on.wait()
        return super().discover(source, path)


@contextmanager
def slow_task(directory: Path) -> Iterator[tuple[Task, Slow]]:
    """A task whose language is registered from outside, for as long as the test goes on."""
    slow, task = Slow(), small_task(directory)
    LANGUAGES.register("slow", replace(LANGUAGES.get("python"), discovery=slow))
    try:
        yield task.model_copy(update={"repo": task.repo.model_copy(update={"language": "slow"})}), slow
    finally:
        slow.go_on.set()
        LANGUAGES.unregister("slow")


async def test_the_loop_goes_on_while_a_suite_is_read(tmp_path: Path) -> None:
    with slow_task(tmp_path) as (task, slow):
        reading = asyncio.create_task(read_suite(task, MANIFEST, (CHANGE,)))
        await asyncio.to_thread(slow.begun.wait)
        assert not reading.done()
        slow.go_on.set()  # by the loop itself: a reader that held it up would wait for ever
        assert (await reading).tests == (TestId("tests/test_x.py", "test_a"),)


async def test_a_suite_that_takes_too_long_is_refused_and_others_are_read(tmp_path: Path) -> None:
    with slow_task(tmp_path / "slow") as (task, _):
        (tmp_path / "quick").mkdir()
        refused, read = await asyncio.gather(
            read_suite(task, MANIFEST, (CHANGE,), CpuLimit(0.2, 600)),
            read_suite(small_task(tmp_path / "quick"), MANIFEST, (CHANGE,)),
        )
    assert [reason.code for reason in refused.reasons] == [ReasonCode.PATCH_TOO_LARGE]
    assert refused.reasons[0].words == "reading the changed files took more than 0.2 s of processor time"
    assert read.tests
    assert not read.reasons


async def test_a_suite_whose_reading_only_the_clock_ends_is_not_refused(tmp_path: Path) -> None:
    with slow_task(tmp_path) as (task, slow):
        slow.waits = True
        with pytest.raises(Starved, match=r"reading wasn't done after 0.2 s") as error:
            await read_suite(task, MANIFEST, (CHANGE,), CpuLimit(600, 0.2))
    assert reason_of(error.value).code is ReasonCode.SANDBOX_LOST
    assert reason_of(error.value).code.verdict is Verdict.UNSCORED


@pytest.mark.parametrize(
    "new",
    [
        SOURCE + b"# " * MAX_SOURCE,
        b"class Base:\n" + b"".join(b"    def test_%d(self): pass\n" % number for number in range(300))
        + b"".join(b"class Test%d(Base):\n    x = 1\n" % number for number in range(300)),
    ],
    ids=["large", "many"],
)  # fmt: skip
async def test_what_is_too_much_to_read_is_refused_with_the_files_name(tmp_path: Path, new: bytes) -> None:
    check = await read_suite(small_task(tmp_path), MANIFEST, (replace(CHANGE, new=new),))
    assert [reason.code for reason in check.reasons] == [ReasonCode.PATCH_TOO_LARGE]
    assert check.reasons[0].words.startswith("tests/test_x.py: ")


async def test_a_large_data_file_beside_the_tests_is_not_read_as_code(tmp_path: Path) -> None:
    data = FileChange("tests/data.json", None, b"[" + b"1," * MAX_SOURCE + b"1]")
    assert not (await read_suite(small_task(tmp_path), MANIFEST, (CHANGE, data))).reasons


async def test_two_thousand_tests_are_read_once_for_all_that_is_asked_of_them(tmp_path: Path) -> None:
    names = [f"test_{number}" for number in range(2_000)]
    text = "".join(f"def {name}():\n    assert {name}\n" for name in names).encode()
    manifest = format_manifest([TestId("tests/test_x.py", name) for name in names]).encode()
    limit = CpuLimit(cpu_seconds=20, wall_seconds=600)
    check = await read_suite(small_task(tmp_path), manifest, (replace(CHANGE, new=text),), limit)
    assert (len(check.tests), check.reasons) == (2_000, ())


async def test_the_tests_that_a_change_reaches_are_looked_for_beside_the_loop(tmp_path: Path) -> None:
    (tmp_path / "tree" / "tests").mkdir(parents=True)
    (tmp_path / "tree" / "tests" / "test_kept.py").write_bytes(SOURCE)
    tree = await GitTree.create(tmp_path / "tree.git", tmp_path / "tree")
    conftest = FileChange("tests/conftest.py", None, b"x = 1\n")
    with slow_task(tmp_path / "task") as (_, slow):
        looking = asyncio.create_task(affected_tests(tree, (conftest,), LANGUAGES.get("slow")))
        await asyncio.to_thread(slow.begun.wait)
        assert not looking.done()
        slow.go_on.set()
        assert await looking == (TestId("tests/test_kept.py", "test_a"),)
