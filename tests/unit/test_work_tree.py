"""The repository that the agent sees, and the tar that carries it."""

import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from harness.judging.verify.known_texts import KnownTexts
from harness.judging.verify.task_texts import changed_by, changed_by_each, own_texts
from harness.sandbox import git_tree
from harness.sandbox.git import run_git
from harness.sandbox.git_tree import GitTree
from harness.sandbox.images.work_tree import AGENT_ID, FILE_TIME, head_commit, pack_tree, tree_digest, write_work_tree
from harness.specs.errors import UserError


async def tree_with(directory: Path, files: dict[str, str]) -> GitTree:
    work_tree = directory / "source"
    for path, text in files.items():
        (work_tree / path).parent.mkdir(parents=True, exist_ok=True)
        (work_tree / path).write_bytes(text.encode())
    (work_tree / "run.sh").write_text("#!/bin/sh\n")
    (work_tree / "run.sh").chmod(0o775)
    (work_tree / "link").symlink_to("run.sh")
    return await GitTree.create(directory / "tree.git", work_tree)


def git(directory: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=directory, capture_output=True, text=True, check=True).stdout


async def test_repository_is_clean_whatever_its_attributes_and_ignore_rules_say(tmp_path: Path) -> None:
    files = {"a.txt": "one\r\ntwo\n$Id$\n", ".gitattributes": "* text=auto eol=crlf ident\n", ".gitignore": "a.txt\n"}
    tree = await tree_with(tmp_path, files)
    place = tmp_path / "place"
    await write_work_tree(tree, place)
    assert (place / "a.txt").read_bytes() == files["a.txt"].encode()
    assert git(place, "status", "--porcelain", "--ignored") == ""
    assert git(place, "log", "--format=%H").split() == [await head_commit(tree)]
    assert git(place, "remote") == git(place, "stash", "list") == git(place, "reflog") == ""
    assert git(place, "count-objects").startswith("0 objects")


async def test_running_tests_leaves_the_repository_clean(tmp_path: Path) -> None:
    place = tmp_path / "place"
    await write_work_tree(await tree_with(tmp_path, {"a.py": ""}), place)
    (place / "__pycache__").mkdir()
    (place / "__pycache__" / "a.cpython-311.pyc").touch()
    assert git(place, "status", "--porcelain") == ""


async def test_tar_is_the_same_bytes_wherever_it_is_made(tmp_path: Path) -> None:
    archives = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir(mode=0o700)
        tree = await tree_with(tmp_path / name, {"d/a.py": "x = 1\n", "b": ""})
        await write_work_tree(tree, tmp_path / name / "place")
        pack_tree(tmp_path / name / "place", "app", tmp_path / name / "app.tar")
        archives.append((tmp_path / name / "app.tar").read_bytes())
    assert archives[0] == archives[1]
    with tarfile.open(tmp_path / "one" / "app.tar") as tar:
        entries = {entry.name: entry for entry in tar}
    assert {(entry.uid, entry.gid, entry.mtime) for entry in entries.values()} == {(AGENT_ID, AGENT_ID, FILE_TIME)}
    assert entries["app/link"].issym()
    assert {name: oct(entries[name].mode) for name in ("app", "app/run.sh", "app/d/a.py")} == {
        "app": "0o755",
        "app/run.sh": "0o755",
        "app/d/a.py": "0o644",
    }


async def test_digest_tells_content_mode_and_path_apart(tmp_path: Path) -> None:
    digests = set()
    for name, files in {"a": {"x": "1"}, "b": {"x": "2"}, "c": {"y": "1"}, "d": {"x": "1", "y": ""}}.items():
        digests.add(await tree_digest(await tree_with(tmp_path / name, files)))
    assert len(digests) == 4
    assert await tree_digest(await tree_with(tmp_path / "again", {"x": "1"})) in digests


async def test_a_copy_has_the_commit_that_its_files_would_have_and_no_object_of_another_tree(tmp_path: Path) -> None:
    whole = await tree_with(tmp_path, {"a.py": "x = 1\n", "tests/test_a.py": "secret\n", "tests/data": "also\n"})
    patch = b"--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"
    wanted = await whole.with_entries({"tests/test_a.py": None, "tests/data": None}, await whole.apply(patch))
    copied = await whole.copy(tmp_path / "copy.git", wanted)
    await copied.check_out(tmp_path / "files")
    anew = await GitTree.create(tmp_path / "anew.git", tmp_path / "files")
    assert await head_commit(copied) == await head_commit(anew)
    objects = [
        set(git(tree.directory, "cat-file", "--batch-check", "--batch-all-objects").splitlines())
        for tree in (copied, anew)
    ]
    assert objects[0] == objects[1]


async def test_a_patch_that_is_taken_back_leaves_what_was_there(tmp_path: Path) -> None:
    tree = await tree_with(tmp_path, {"a.py": "x = 1\n"})
    patch = b"--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"
    changes, is_back = await tree.changes_and_back(patch)
    made = await tree.apply(patch)
    assert is_back
    assert changes == await tree.changes(made)
    more = patch.replace(b"-x = 1", b"-x = 2").replace(b"+x = 2", b"+x = 3")
    upon, is_back = await tree.changes_and_back(more, made)
    assert is_back
    assert upon == await tree.changes(await tree.apply(more, onto=made), made)


async def test_a_patch_that_is_taken_back_elsewhere_is_told(tmp_path: Path) -> None:
    tree = await tree_with(tmp_path, {"a.py": "a\nz\nm\nx\nm\n"})
    changes, is_back = await tree.changes_and_back(b"--- a/a.py\n+++ b/a.py\n@@ -2,2 +2,2 @@\n-x\n+z\n m\n")
    assert [change.path for change in changes] == ["a.py"]
    assert not is_back


async def test_indexes_of_trees_are_read_once_and_a_branch_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = await tree_with(tmp_path, {"a.py": "x = 1\n"})
    patch = b"--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"
    made = await tree.apply(patch)
    calls: list[tuple[str, ...]] = []
    run = tree._git

    async def noted(*arguments: str, **more: Any) -> bytes:
        calls.append(arguments)
        return await run(*arguments, **more)

    monkeypatch.setattr(tree, "_git", noted)
    more = patch.replace(b"x = 2", b"x = 3").replace(b"x = 1", b"x = 2")
    trees = {await tree.apply(more, onto=onto) for onto in (made, made)}
    assert trees == {await tree.apply(patch.replace(b"x = 2", b"x = 3"))}
    assert [call for call in calls if call[0] == "read-tree"] == [("read-tree", made)]
    git(tree.directory, "branch", "other", "main")
    assert await tree.apply(patch, onto="other") == await tree.apply(patch, onto="other") == made
    assert calls.count(("read-tree", "other")) == 2


async def test_what_a_patch_changes_is_told_without_a_tree_that_has_it(tmp_path: Path) -> None:
    tree = await tree_with(tmp_path, {"a.py": "x = 1\n", "b.py": "y = 1\n"})
    patch = b"--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"
    more = b"--- a/b.py\n+++ b/b.py\n@@ -1 +0,0 @@\n-y = 1\n--- /dev/null\n+++ b/c.py\n@@ -0,0 +1 @@\n+z = 1\n"
    found = await tree.changed_by(patch)
    objects = git(tree.directory, "cat-file", "--batch-check", "--batch-all-objects").splitlines()
    assert sum(" tree " in each for each in objects) == 1
    made = await tree.apply(patch)
    assert found == await tree.changes(made)
    upon = await tree.changed_by(more, made)
    assert [change.path for change in upon] == ["a.py", "b.py", "c.py"]
    assert upon == await tree.changes(await tree.apply(more, onto=made))


async def test_texts_that_several_patches_make_are_read_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = await tree_with(tmp_path, {"a.py": "x = 1\n"})
    (tmp_path / "two.patch").write_text("--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n")
    (tmp_path / "three.patch").write_text("--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 2\n+x = 3\n")
    (tmp_path / "four.patch").write_text("--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 2\n+x = 4\n")
    two, three, four = (tmp_path / f"{name}.patch" for name in ("two", "three", "four"))
    read: list[str] = []

    async def counted(*arguments: str, **options: Any) -> bytes:
        read.extend(each for each in arguments if each == "cat-file")
        return await run_git(*arguments, **options)

    monkeypatch.setattr(git_tree, "run_git", counted)
    found = await changed_by_each(tree, {"three": three, "four": four}, two)
    assert found == {"three": {"a.py": b"x = 3\n"}, "four": {"a.py": b"x = 4\n"}}
    assert read == ["cat-file"]
    with pytest.raises(UserError, match=r"three.patch: does not apply to the task's tree: "):
        await changed_by_each(tree, {"two": two, "three": three})
    with pytest.raises(UserError, match=r"three.patch: does not apply to the task's tree: "):
        await changed_by_each(tree, {"four": four}, three)
    with pytest.raises(UserError, match=r"two.patch: does not apply to the task's tree with two.patch: "):
        await changed_by_each(tree, {"two": two}, two)


async def test_texts_of_a_patch_are_made_once_for_all_trials_of_a_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await tree_with(tmp_path / "first", {"a.py": "first = 1\n"})
    second = await tree_with(tmp_path / "second", {"a.py": "first = 1\n"})
    other = await tree_with(tmp_path / "other", {"a.py": "first = 1\n", "b.py": ""})
    (tmp_path / "two.patch").write_text("--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-first = 1\n+first = 2\n")
    (tmp_path / "three.patch").write_text("--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-first = 2\n+first = 3\n")
    two, three = (tmp_path / f"{name}.patch" for name in ("two", "three"))
    asked: list[str] = []

    async def counted(*arguments: str, **options: Any) -> bytes:
        asked.extend(each for each in arguments if each in ("apply", "cat-file", "ls-tree"))
        return await run_git(*arguments, **options)

    async def read(tree: GitTree) -> tuple[object, list[str]]:
        asked.clear()
        texts = (
            await changed_by(tree, two),
            await changed_by_each(tree, {"": three}, two),
            await own_texts(tree, ["a.py"]),
        )
        return texts, [*asked]

    monkeypatch.setattr(git_tree, "run_git", counted)
    texts, at_first = await read(first)
    assert texts == ({"a.py": b"first = 2\n"}, {"": {"a.py": b"first = 3\n"}}, {"a.py": b"first = 1\n"})
    assert {*at_first} == {"apply", "cat-file", "ls-tree"}
    assert await read(second) == (texts, [])
    assert await read(other) == (texts, at_first)
    two.write_text(two.read_text().replace("+first = 2", "+first = 5"))
    assert await changed_by(second, two) == {"a.py": b"first = 5\n"}
    with pytest.raises(UserError, match=r"three.patch: does not apply to the task's tree with two.patch: "):
        await changed_by_each(second, {"": three}, two)


def test_of_known_texts_those_are_dropped_that_nobody_asked_for_longest() -> None:
    known = KnownTexts(most_bytes=10)
    known.keep(("a",), {"x": b"123"})
    known.keep(("b",), {"x": b"123"})
    assert known.get(("a",)) == {"x": b"123"}
    known.keep(("c",), {"x": b"123"})
    assert [known.get((key,)) is not None for key in "abc"] == [True, False, True]
    known.keep(("d",), {"x": b"1" * 20})
    assert [known.get((key,)) for key in "abcd"] == [None] * 4


async def test_the_commits_tree_is_read_once_and_no_change_to_one_index_reaches_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = await tree_with(tmp_path, {"a.txt": "one\n", "b.txt": "one\n"})
    read: list[tuple[str, ...]] = []

    async def counted(*arguments: str, **options: Any) -> bytes:
        if "read-tree" in arguments:
            read.append(arguments)
        return await run_git(*arguments, **options)

    monkeypatch.setattr(git_tree, "run_git", counted)
    patch = "diff --git a/{0} b/{0}\n--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-one\n+two\n"
    first = await tree.apply(patch.format("a.txt").encode())
    second = await tree.apply(patch.format("b.txt").encode())
    assert [change.path for change in await tree.changes(first)] == ["a.txt"]
    assert [change.path for change in await tree.changes(second)] == ["b.txt"]
    assert len(read) == 1
    both = await tree.apply(patch.format("b.txt").encode(), onto=first)
    assert [change.path for change in await tree.changes(both)] == ["a.txt", "b.txt"]
