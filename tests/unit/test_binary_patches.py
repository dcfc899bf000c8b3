"""What a binary patch unpacks to is known before git unpacks it."""

import subprocess
import sys
import time
import zlib
from base64 import b85encode
from pathlib import Path

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.judging.submission.policy import DamagedPatch, unpacked_bytes
from harness.judging.verify.intake import ingest
from harness.sandbox.git_tree import GitTree
from harness.specs.reasons import ReasonCode
from harness.specs.repo import Repo
from tests.support.small_task import small_task


def lines_of(data: bytes) -> bytes:
    """zlib data as git writes them: a letter for the length of each line, then base85."""
    packed, lines = zlib.compress(data), []
    for at in range(0, len(packed), 52):
        part = packed[at : at + 52]
        letter = chr(ord("A") + len(part) - 1) if len(part) <= 26 else chr(ord("a") + len(part) - 27)
        padded = part + bytes(-len(part) % 4)
        lines.append(letter.encode() + b85encode(padded))
    return b"\n".join(lines) + b"\n"


def size(number: int) -> bytes:
    found = b""
    while number >= 0x80:
        found += bytes([number & 0x7F | 0x80])
        number >>= 7
    return found + bytes([number])


def binary(path: str, kind: str, declared: int, data: bytes) -> bytes:
    head = f"diff --git a/{path} b/{path}\nnew file mode 100644\nindex {'0' * 40}..{'1' * 40}\nGIT binary patch\n"
    return head.encode() + f"{kind} {declared}\n".encode() + lines_of(data) + b"\n"


@pytest_asyncio.fixture
async def tree(tmp_path: Path) -> GitTree:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "lib.py").write_text("x = 1\n" * 100)
    (tmp_path / "work" / "big.txt").write_text("0123456789\n" * 100_000)
    return await GitTree.create(tmp_path / "tree.git", tmp_path / "work")


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return small_task(tmp_path / "task").repo


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.binary(min_size=1, max_size=3000).map(lambda data: b"\0" + data), min_size=1, max_size=3))
async def test_what_git_writes_declares_at_least_what_it_holds(tree: GitTree, contents: list[bytes]) -> None:
    work = tree.directory.parent / "new"
    work.mkdir(exist_ok=True)
    new = await _imported(tree, work, contents)
    assert unpacked_bytes(await tree.diff(new)) >= sum(map(len, set(contents)))
    assert unpacked_bytes(await tree.diff("HEAD", new)) >= sum(map(len, set(contents)))


async def _imported(tree: GitTree, work: Path, contents: list[bytes]) -> str:
    from harness.sandbox.git_tree import NewFile

    files = []
    for number, data in enumerate(contents):
        (work / str(number)).write_bytes(data)
        files.append(NewFile(f"tests/{number}.bin", "100644", work / str(number)))
    return await tree.import_changes(files, [])


def test_a_delta_counts_with_what_it_makes() -> None:
    program = size(1000) + size(123_456_789) + b"\x90\x01" * 40
    assert unpacked_bytes(binary("tests/x", "delta", len(program), program)) == len(program) + 123_456_789


def test_a_short_delta_with_long_tables_is_read_far_enough() -> None:
    program = size(300_000) + size(40_000_000) + bytes(range(256)) * 20
    assert unpacked_bytes(binary("tests/x", "delta", len(program), program)) == len(program) + 40_000_000


@pytest.mark.parametrize("number", [b"-1", b"+5", b"0x10", b" 7", b"7 ", b"", b"9" * 30])
def test_a_size_that_is_no_plain_number_is_damage(number: bytes) -> None:
    patch = binary("tests/x", "literal", 5, b"hello").replace(b"literal 5", b"literal " + number)
    with pytest.raises(DamagedPatch, match="line 5 of the patch"):
        unpacked_bytes(patch)


def test_words_that_look_like_a_header_outside_binary_changes_are_words() -> None:
    patch = b"literal 99999999999\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-delta 9999999999\n+literal x\n"
    assert unpacked_bytes(patch) == 0
    assert unpacked_bytes(binary("a", "literal", 1, b"x") + patch[20:]) == 1


def test_reading_is_linear_in_the_size_of_the_patch() -> None:
    def seconds(count: int) -> float:
        patch = binary("tests/x", "delta", 9, size(1) + size(2) + b"x" * 2000) * count
        started = time.process_time()
        unpacked_bytes(patch)
        return time.process_time() - started

    seconds(500)
    assert min(seconds(8000) for _ in range(3)) < 16 * min(seconds(1000) for _ in range(3))


@pytest.mark.long
async def test_a_patch_that_inflates_is_refused_before_git_sees_it(tree: GitTree, repo: Repo) -> None:
    patch = binary("tests/x.bin", "literal", 600_000_000, bytes(600_000_000))
    assert len(patch) < 1_000_000
    (reason,) = (await ingest(tree, repo, patch)).reasons
    assert reason.code is ReasonCode.PATCH_TOO_LARGE
    assert "unpack to 600000000 bytes" in reason.words


async def test_a_delta_that_inflates_is_refused_before_git_sees_it(tree: GitTree, repo: Repo) -> None:
    program = size(600) + size(900_000_000) + b"\xb0\x58\x02" * 1000
    patch = binary("tests/x.bin", "delta", len(program), program)
    (reason,) = (await ingest(tree, repo, patch)).reasons
    assert reason.code is ReasonCode.PATCH_TOO_LARGE


async def test_many_copies_of_a_large_file_are_refused_before_they_are_made(tree: GitTree, repo: Repo) -> None:
    copy = "diff --git a/big.txt b/tests/{n}\nsimilarity index 100%\ncopy from big.txt\ncopy to tests/{n}\n"
    assert not (await ingest(tree, repo, copy.format(n=1).encode())).reasons
    patch = "".join(copy.format(n=number) for number in range(400)).encode()
    (reason,) = (await ingest(tree, repo, patch)).reasons
    assert reason.code is ReasonCode.PATCH_TOO_LARGE
    assert "starts from files of" in reason.words


@pytest.mark.long
def test_the_memory_of_the_process_stays_bounded(tree: GitTree, tmp_path: Path) -> None:
    """A patch of 0.6 MB that inflates a thousandfold; the process and every git that it starts are measured."""
    (tmp_path / "patch").write_bytes(binary("tests/x.bin", "literal", 600_000_000, bytes(600_000_000)))
    program = (
        "import asyncio, resource, sys\n"
        "from pathlib import Path\n"
        "from harness.sandbox.git_tree import GitTree\n"
        "from harness.specs.repo import Repo\n"
        "from harness.judging.verify.intake import ingest\n"
        "repo = Repo.model_validate_json(Path(sys.argv[3]).read_text())\n"
        "ingest_now = lambda patch: asyncio.run(ingest(GitTree(Path(sys.argv[1])), repo, patch))\n"
        "ingest_now(b'')\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "found = ingest_now(Path(sys.argv[2]).read_bytes())\n"
        "assert found.reasons\n"
        "used = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]\n"
        "print(used[0] - before, used[1])\n"
    )
    (tmp_path / "repo.json").write_text(small_task(tmp_path / "task").repo.model_dump_json())
    done = subprocess.run(
        [sys.executable, "-c", program, tree.directory, tmp_path / "patch", tmp_path / "repo.json"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    grown, children = map(int, done.stdout.split())
    unit = 1 if sys.platform == "darwin" else 1024
    assert grown * unit < 60_000_000
    assert children * unit < 250_000_000
