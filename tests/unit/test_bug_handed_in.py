"""What is handed in for a bug is read apart: a repair that is dear to read is refused, and stops nothing."""

import asyncio
import time
from collections.abc import Coroutine
from pathlib import Path

import pytest
import pytest_asyncio
from unidiff.patch import PatchSet

from harness.plugins.bug.handed_in import HandedIn, read_parts
from harness.plugins.bug.spans import Span
from harness.plugins.bug.task import BugTask, bug_task
from harness.sandbox.git_tree import GitTree
from harness.specs.catalog import Catalog
from harness.specs.reasons import ReasonCode

FILE = "src/itsdangerous/timed.py"
PLACE = f"- {{file: {FILE}, lines: [152, 152]}}"
FAULT, MENDED = "            if age < 0 and max_age < 0:", "            if age < 0:"
FIXTURES = Path(__file__).parents[1] / "fixtures" / "bug"


@pytest.fixture(scope="module")
def task() -> BugTask:
    return bug_task(Catalog().task("itsdangerous-clock-ahead"))


@pytest.fixture(scope="module")
def lines(task: BugTask) -> list[str]:
    """The faulty file, as far as the task's patches know it: other lines of it are comments."""
    known = {
        82: "class TimestampSigner:",
        83: "    def unsign():",
        84: '        """',
        93: "        except BadSignature:",
    }
    names = ("fix", "plain", "plain-bug", "wrong", "alternatives/*", "partial/*")
    for path in (path for name in names for path in task.directory.glob(f"{name}.patch")):
        for file in PatchSet(path.read_text()):
            kept = [line for hunk in file for line in hunk if not line.is_added]
            known |= {line.source_line_no: line.value.rstrip("\n") for line in kept if file.path == FILE}
    return [known.get(number, "#") for number in range(1, max(known) + 1)]


@pytest_asyncio.fixture
async def tree(tmp_path: Path, lines: list[str]) -> GitTree:
    (tmp_path / "work" / FILE).parent.mkdir(parents=True)
    (tmp_path / "work" / FILE).write_text("\n".join([*lines, ""]))
    return await GitTree.create(tmp_path / "tree.git", tmp_path / "work")


def patch(old: list[str], new: list[str], place: str = PLACE) -> bytes:
    """A patch that names a place, and puts one text in another's place."""
    head = f"--- a/{FILE}\n+++ b/{FILE}\n@@ -1,{len(old)} +1,{len(new)} @@"
    named = f"--- /dev/null\n+++ b/fault.yaml\n@@ -0,0 +1 @@\n+{place}"
    rows = [named, head, *(f"-{line}" for line in old), *(f"+{line}" for line in new), ""]
    return "\n".join(rows).encode()


def mended(lines: list[str]) -> list[str]:
    return [MENDED if line == FAULT else line for line in lines]


async def read(call: Coroutine[None, None, HandedIn]) -> tuple[float, HandedIn]:
    """What was handed in, and the longest time for which the event loop did nothing else."""
    reading, longest, last = asyncio.ensure_future(call), 0.0, time.monotonic()
    while not reading.done():
        await asyncio.wait([reading], timeout=0.02)
        longest, last = max(longest, time.monotonic() - last), time.monotonic()
    return longest, await reading


async def test_a_repair_is_read_with_its_place(task: BugTask, tree: GitTree, lines: list[str]) -> None:
    _, handed = await read(read_parts(task, tree, patch(lines, mended(lines))))
    assert handed.refused is None
    assert (handed.spans, handed.asks, handed.fault) == ((Span(FILE, 152, 152),), "", "")
    assert (handed.is_within, handed.is_known, handed.elsewhere) == (True, True, {})
    wide = f"- {{file: {FILE}, lines: [100, 160]}}"
    _, handed = await read(read_parts(task, tree, patch(lines, mended(lines), wide)))
    assert (handed.is_within, handed.is_known) == (False, False)


@pytest.mark.parametrize(
    ("name", "asks"),
    [
        ("mends-test-runs-by-an-escape", f"{FILE} names pytest"),
        ("mends-test-runs-by-a-data-file", f"{FILE} evaluates texts by eval"),
        ("honest-speaks-of-tests", ""),
        ("honest-changelog-names-pytest", ""),
    ],
)
async def test_kept_hand_ins_ask_for_tests_or_only_speak_of_them(
    task: BugTask, tree: GitTree, name: str, asks: str
) -> None:
    handed = await read_parts(task, tree, (FIXTURES / name / "patch.diff").read_bytes())
    assert handed.asks == asks
    assert (handed.refused, handed.fault) == (None, "")


@pytest.mark.dear("starts a process that reads until a limit ends it")
async def test_a_repair_that_is_dear_to_read_is_too_large(task: BugTask, tree: GitTree, lines: list[str]) -> None:
    dear = [*mended(lines), "SUM = 1 + \\", *["\\"] * 150_000, "    2"]
    stopped, handed = await read(read_parts(task, tree, patch(lines, dear)))
    assert handed.refused is not None
    [reason] = handed.refused.reasons
    assert reason.code is ReasonCode.PATCH_TOO_LARGE
    assert reason.words == f"{FILE}: reading it took too much processor time"
    assert stopped < 1.0


@pytest.mark.dear("reads a text of half a megabyte in two processes")
async def test_a_repair_among_blank_lines_is_read_in_seconds(task: BugTask, tree: GitTree, lines: list[str]) -> None:
    own = [*[""] * 300_000, *(each for line in mended(lines) for each in (line, "# own"))]
    began = time.process_time()
    _, handed = await read(read_parts(task, tree, patch(lines, own)))
    assert time.process_time() - began < 10
    assert handed.refused is None
    assert (handed.spans, handed.is_within) == ((Span(FILE, 152, 152),), False)
