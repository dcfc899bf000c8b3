"""What an agent left is read in one pass, within limits, whatever it is."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
import pytest_asyncio

from harness.judging.submission.extraction import extract
from harness.sandbox.git_tree import GitTree
from harness.sandbox.protocol import Image
from tests.support.small_disk import run_on_small_disk
from tests.support.subprocess_sandbox import SubprocessSandbox

BASE = {"src/x.py": b"x = 1\n", "tests/test_x.py": b"def test_x():\n    assert True\n", "README": b"big\n" * 400_000}


@pytest_asyncio.fixture
async def image(tmp_path: Path) -> Image:
    for name, data in BASE.items():
        place = tmp_path / "base" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    await GitTree.create(tmp_path / "tree.git", tmp_path / "base")
    return Image("none", "digest", "/app", tmp_path / "tree.git")


@pytest_asyncio.fixture
async def sandbox(image: Image, tmp_path: Path) -> SubprocessSandbox:
    sandbox = SubprocessSandbox(tmp_path / "sandbox")
    await sandbox.start()
    await sandbox.run("mkdir .git && cp -a ../../base/. .", 20)
    return sandbox


async def handed_in(sandbox: SubprocessSandbox, image: Image, command: str) -> dict[str, bytes | None]:
    """The files that a command changed, as the submission's patch has them; the other side of a removal is None."""
    result = await sandbox.run(command, 60)
    assert result.exit_status == 0, result.output
    await sandbox.kill()
    submission = await extract(sandbox, image)
    assert not submission.refusal
    if not submission.patch:
        return {}
    tree = GitTree(image.tree)
    changes = await tree.changes(await tree.apply(submission.patch))
    new = await tree.read_all({change.path: change.new for change in changes if change.new})
    return {change.path: new.get(change.path) for change in changes}


async def refusal(sandbox: SubprocessSandbox, image: Image, command: str) -> str:
    result = await sandbox.run(command, 60)
    assert result.exit_status == 0, result.output
    return (await extract(sandbox, image)).refusal


async def test_an_untouched_tree_is_an_empty_patch(sandbox: SubprocessSandbox, image: Image) -> None:
    assert await handed_in(sandbox, image, "touch src/x.py") == {}


async def test_changed_new_and_deleted_files_are_the_patch(sandbox: SubprocessSandbox, image: Image) -> None:
    command = "echo y = 2 > src/x.py; rm tests/test_x.py; echo new > tests/test_y.py; echo inner > .git/config"
    assert await handed_in(sandbox, image, command) == {
        "src/x.py": b"y = 2\n",
        "tests/test_x.py": None,
        "tests/test_y.py": b"new\n",
    }


async def test_a_hard_link_to_a_file_below_git_has_its_bytes(sandbox: SubprocessSandbox, image: Image) -> None:
    command = "echo inside > .git/inner; ln .git/inner tests/a; ln .git/inner tests/b; ln .git/inner src/x.py -f"
    assert await handed_in(sandbox, image, command) == {
        "tests/a": b"inside\n",
        "tests/b": b"inside\n",
        "src/x.py": b"inside\n",
    }


async def test_hard_links_of_the_tree_have_the_bytes_of_what_they_name(
    sandbox: SubprocessSandbox, image: Image
) -> None:
    command = "ln README a; ln README tests/z; echo new > n; ln n tests/n; ln -s n link; ln -P link tests/link"
    found = await handed_in(sandbox, image, command)
    big = BASE["README"]
    assert found == {"a": big, "tests/z": big, "n": b"new\n", "tests/n": b"new\n", "link": b"n", "tests/link": b"n"}


@pytest.mark.long
@pytest.mark.parametrize(
    "command",
    [
        "head -c 180000000 /dev/zero > .git/big; ln .git/big tests/big",
        "truncate -s 300M .git/big; ln .git/big tests/big",
        "truncate -s 2G tests/sparse",
        "head -c 30000000 /dev/zero > .git/big; ln .git/big tests/a; ln .git/big tests/b",
        "for n in $(seq 40); do ln README tests/$n; done",
        "for n in $(seq 60); do truncate -s 1000000 tests/$n; done",
        "mkdir d; touch d/{1..5001}",
        "touch .git/x; mkdir d; for n in $(seq 5001); do echo $n; done | xargs -I{} ln .git/x d/{}",
    ],
)
async def test_bytes_are_counted_wherever_they_come_from(
    sandbox: SubprocessSandbox, image: Image, command: str
) -> None:
    assert "agent's tree" in await refusal(sandbox, image, command)


async def test_only_a_manifest_directly_in_the_directory_counts(sandbox: SubprocessSandbox, image: Image) -> None:
    await sandbox.run(
        'cd "$TESTWRIGHT_AGENT_LOGS"; mkdir zz; echo theirs > zz/manifest.yaml; echo own > manifest.yaml', 20
    )
    assert (await extract(sandbox, image)).manifest == b"own\n"
    await sandbox.run('rm "$TESTWRIGHT_AGENT_LOGS/manifest.yaml"', 20)
    assert (await extract(sandbox, image)).manifest == b""


EXTRACTION = """
import asyncio, resource, sys, tempfile
from pathlib import Path
from harness.sandbox.protocol import Image
from harness.judging.submission.extraction import extract
from tests.support.small_disk import run_on_small_disk
from tests.support.subprocess_sandbox import SubprocessSandbox

if len(sys.argv) > 3:
    tempfile.tempdir = sys.argv[3]
sandbox, image = SubprocessSandbox(Path(sys.argv[1])), Image("none", "digest", "/app", Path(sys.argv[2]))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
submission = asyncio.run(extract(sandbox, image))
print(len(submission.patch), submission.refusal or "-", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def extracted(sandbox: SubprocessSandbox, image: Image) -> str:
    command = [sys.executable, "-c", EXTRACTION, sandbox.tree.parent, image.tree]
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True, env=env).stdout


@pytest.mark.long
@pytest.mark.parametrize(
    "command",
    [
        "truncate -s 1G .git/big; ln .git/big tests/big",
        "truncate -s 1G tests/big",
        "for n in $(seq 40); do head -c 1000000 /dev/urandom > tests/$n; done",
    ],
)
async def test_the_memory_of_the_process_stays_bounded(
    sandbox: SubprocessSandbox, image: Image, command: str
) -> None:
    assert (await sandbox.run(command, 60)).exit_status == 0
    grown = int((await asyncio.to_thread(extracted, sandbox, image)).split()[-1])
    # The patch itself is held, and its copy while it is read.
    assert grown * (1 if sys.platform == "darwin" else 1024) < 250_000_000


async def test_a_tree_larger_than_the_temporary_disk_is_read(
    sandbox: SubprocessSandbox, image: Image, tmp_path: Path
) -> None:
    command = "head -c 60000000 /dev/zero > .git/pack; ln .git/pack .git/again; echo new > tests/test_new.py"
    assert (await sandbox.run(command, 60)).exit_status == 0
    disk = tmp_path / "disk"
    told = await asyncio.to_thread(run_on_small_disk, disk, 4096, EXTRACTION, sandbox.tree.parent, image.tree, disk)
    size, refusal, _ = told.split()
    assert int(size) > 0
    assert refusal == "-"


async def test_a_full_temporary_disk_loses_no_work_and_names_the_file(
    sandbox: SubprocessSandbox, image: Image, tmp_path: Path
) -> None:
    assert (await sandbox.run("head -c 8000000 /dev/urandom > tests/data.bin", 60)).exit_status == 0
    program = EXTRACTION.replace(
        "submission = asyncio.run(extract(sandbox, image))",
        "from harness.specs.errors import ToolFailed\n"
        "try:\n"
        "    asyncio.run(extract(sandbox, image))\n"
        "except ToolFailed as error:\n"
        "    sys.exit(print(error))",
    )
    disk = tmp_path / "disk"
    told = await asyncio.to_thread(run_on_small_disk, disk, 4096, program, sandbox.tree.parent, image.tree, disk)
    assert told.startswith(f"{disk}/testwright-")
    assert told.endswith("No space left on device")
    assert (await extract(sandbox, image)).patch


async def test_a_work_tree_that_is_gone_is_an_empty_submission(sandbox: SubprocessSandbox, image: Image) -> None:
    await sandbox.run("rm -rf ../app", 20)
    submission = await extract(sandbox, image)
    assert (submission.patch, submission.refusal) == (b"", "")
