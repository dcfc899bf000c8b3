"""A tool that fails is never a verdict: only git's own words that a patch doesn't fit are one."""

import hashlib
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
import pytest_asyncio

from harness.judging.verify.intake import ingest
from harness.sandbox import git
from harness.sandbox.git import GitError, GitFailed, GitTooMuchWork, PatchError, run_git
from harness.sandbox.git_tree import GitTree, NewFile
from harness.specs.errors import InfrastructureError, ToolFailed
from harness.specs.repo import Repo
from tests.support.small_disk import run_on_small_disk
from tests.support.small_task import small_task

PATCH = (
    b"diff --git a/tests/test_new.py b/tests/test_new.py\nnew file mode 100644\n--- /dev/null\n"
    b"+++ b/tests/test_new.py\n@@ -0,0 +1 @@\n+x = 1\n"
)
COMMANDS = ("read-tree", "apply", "write-tree", "ls-tree", "diff-tree", "cat-file")


@pytest_asyncio.fixture
async def tree(tmp_path: Path) -> GitTree:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "lib.py").write_text("x = 1\n" * 100)
    return await GitTree.create(tmp_path / "tree.git", tmp_path / "work")


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return small_task(tmp_path / "task").repo


@pytest.fixture
def failing_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Puts a `git` first on the PATH that does something else for one of git's commands."""

    def fail(command: str, action: str) -> None:
        wrapper = tmp_path / "bin" / "git"
        wrapper.parent.mkdir(exist_ok=True)
        real = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout.strip()
        wrapper.write_text(f'#!/bin/sh\ncase " $* " in *" {command} "*) {action};; esac\nexec {real} "$@"\n')
        wrapper.chmod(0o755)
        monkeypatch.setenv("PATH", f"{wrapper.parent}:{os.environ['PATH']}")

    return fail


@pytest.mark.parametrize("command", COMMANDS)
async def test_a_git_that_is_killed_is_never_a_refusal(
    tree: GitTree, repo: Repo, failing_git: Callable[[str, str], None], command: str
) -> None:
    assert not (await ingest(tree, repo, PATCH)).reasons
    failing_git(command, "kill -KILL $$")
    with pytest.raises(InfrastructureError, match=f"^git {command} .*was ended by SIGKILL"):
        await ingest(GitTree(tree.directory), repo, PATCH)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "complaint",
    [
        "fatal: unable to write new index file",
        "error: file write error: No space left on device",
        "fatal: Out of memory, malloc failed (tried to allocate 10 bytes)",
        "error: failed to read tests/x.py\nerror: tests/x.py: patch does not apply",
        "error: words that no git has written yet",
        "",
    ],
)
async def test_words_that_are_not_about_the_patch_are_never_a_refusal(
    tree: GitTree,
    repo: Repo,
    failing_git: Callable[[str, str], None],
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    complaint: str,
) -> None:
    failing_git(command, f"printf '%s\\n' '{complaint}' >&2; exit 1")
    monkeypatch.setattr(git, "_has_memory", lambda: False)
    with pytest.raises(InfrastructureError, match="git"):
        await ingest(tree, repo, PATCH)


async def test_a_git_that_is_missing_is_said(
    tree: GitTree, repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    with pytest.raises(InfrastructureError, match="git can't be started"):
        await ingest(tree, repo, PATCH)


def test_a_full_temporary_disk_is_never_a_refusal(tree: GitTree, tmp_path: Path) -> None:
    (tmp_path / "patch").write_bytes(PATCH)
    program = textwrap.dedent(
        """
        import asyncio, sys, tempfile
        from pathlib import Path
        from harness.sandbox.git_tree import GitTree
        from harness.specs.errors import ToolFailed

        tempfile.tempdir = sys.argv[3]
        try:
            asyncio.run(GitTree(Path(sys.argv[1])).apply(Path(sys.argv[2]).read_bytes()))
        except ToolFailed as error:
            print(error)
        """
    )
    full = tmp_path / "full"
    said = run_on_small_disk(full, 128, program, tree.directory, tmp_path / "patch", full, full=True)
    assert said.startswith("git read-tree ")
    assert "space" in said


def blob_id(text: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(text) + text, usedforsecurity=False).hexdigest()


def test_a_full_cache_names_what_could_not_be_written(tree: GitTree, tmp_path: Path) -> None:
    # Of a folder for objects that isn't there yet: it will be on the small disk.
    texts = (os.urandom(50_000) for _ in range(1_000))
    new = next(text for text in texts if not (tree.directory / "objects" / blob_id(text)[:2]).exists())
    (tmp_path / "new").write_bytes(new)
    program = textwrap.dedent(
        """
        import asyncio, sys, shutil
        from pathlib import Path
        from harness.sandbox.git_tree import GitTree, NewFile
        from harness.specs.errors import ToolFailed

        directory, new, full = map(Path, sys.argv[1:])
        shutil.rmtree(directory / "objects" / "pack")
        (directory / "objects" / "pack").symlink_to(full)
        (full / "filling").unlink()
        for name in range(256):
            place = directory / "objects" / f"{name:02x}"
            if not place.exists():
                place.symlink_to(full)
        (full / "filling").write_bytes(bytes(100_000))
        try:
            asyncio.run(GitTree(directory).import_changes([NewFile("tests/new", "100644", new)], []))
        except ToolFailed as error:
            print(error)
        """
    )
    full = tmp_path / "full"
    said = run_on_small_disk(full, 128, program, tree.directory, tmp_path / "new", full, full=True)
    assert str(tree.directory) in said


def test_a_file_that_may_not_grow_is_never_a_refusal(tree: GitTree, tmp_path: Path) -> None:
    (tmp_path / "patch").write_bytes(PATCH)
    program = textwrap.dedent(
        """
        import asyncio, resource, sys
        from pathlib import Path
        from harness.sandbox.git_tree import GitTree
        from harness.specs.errors import ToolFailed

        resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
        try:
            asyncio.run(GitTree(Path(sys.argv[1])).apply(Path(sys.argv[2]).read_bytes()))
        except ToolFailed as error:
            print(error)
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", program, tree.directory, tmp_path / "patch"],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert "read-tree" in done.stdout, done


async def test_endless_work_on_an_agents_data_is_ended_by_its_processor_time(
    tree: GitTree, repo: Repo, failing_git: Callable[[str, str], None]
) -> None:
    failing_git("apply", "ulimit -S -t 1; while :; do :; done")
    found = await ingest(tree, repo, PATCH)
    assert [reason.code for reason in found.reasons] == ["patch-too-large"]
    assert "processor time" in found.reasons[0].words


async def test_endless_work_on_our_own_data_is_a_failure_of_git(
    tree: GitTree, failing_git: Callable[[str, str], None]
) -> None:
    failing_git("ls-tree", "ulimit -S -t 1; while :; do :; done")
    with pytest.raises(GitFailed, match="SIGXCPU"):
        await tree.entries()


async def test_a_memory_hungry_git_is_stopped_before_it_takes_the_machines(
    tree: GitTree, failing_git: Callable[[str, str], None]
) -> None:
    failing_git("apply", f"exec {sys.executable} -c 'bytearray(3 << 30)'")
    with pytest.raises(ToolFailed, match="git apply"):
        await tree.apply(PATCH)


async def test_a_question_may_be_answered_with_no(tree: GitTree) -> None:
    with pytest.raises(GitError, match="Needed a single revision"):
        await run_git(f"--git-dir={tree.directory}", "rev-parse", "--verify", "nothing^{commit}", may_refuse=True)
    with pytest.raises(FileNotFoundError):
        await tree.read("absent.py")


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        (b"this is not a patch\n", "there is no change in it that git can read"),
        (b"diff --git a/lib.py b/lib.py\n--- a/lib.py\n+++ b/lib.py\n@@ -1,2 +1,2 @@\n x = 1\n-y\n+z\n",
         "lib.py: the change at line 1 doesn't fit the file"),
        (b"--- a/gone.py\n+++ b/gone.py\n@@ -1 +1 @@\n-y\n+z\n", "gone.py: there is no such file to change"),
        (b"--- /dev/null\n+++ b/lib.py\n@@ -0,0 +1 @@\n+z\n", "lib.py: this file is there already"),
        (b"--- a/lib.py\n+++ b/lib.py\n@@ -1,9 +1 @@\n-y\n+z\n", "line 6 of the patch is damaged"),
        (b"--- /dev/null\n+++ b/../x\n@@ -0,0 +1 @@\n+z\n", "../x: not a path inside the repository"),
        (b"diff --git a/lib.py b/lib.py\nindex 1234567..89abcde\nGIT binary patch\nliteral x\n\n",
         "line 5 of the patch is damaged"),
    ],
)  # fmt: skip
async def test_what_is_wrong_with_a_patch_is_said_in_plain_words(tree: GitTree, patch: bytes, said: str) -> None:
    with pytest.raises(PatchError) as caught:
        await tree.apply(patch)
    assert str(caught.value) == said


async def test_memory_that_an_agents_data_take_is_an_answer_about_them(
    tree: GitTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lines").write_bytes(b"\n" * 10_000_000)
    large = await tree.import_changes([NewFile("lib.py", "100644", tmp_path / "lines")], [])
    with pytest.raises(GitTooMuchWork, match=r"^git diff-tree needs more than 1024 MiB of memory on it$"):
        await tree.diff(large)
    monkeypatch.setattr(git, "_has_memory", lambda: False)
    with pytest.raises(GitFailed, match="Out of memory"):
        await tree.diff(large)


async def test_too_much_work_is_an_answer_about_the_patch() -> None:
    assert issubclass(GitTooMuchWork, GitError)
    assert not issubclass(GitTooMuchWork, InfrastructureError)
