"""The repository that the agent sees, and the tar that carries it."""

import subprocess
import tarfile
from pathlib import Path

from harness.sandbox.git_tree import GitTree
from harness.sandbox.images.work_tree import AGENT_ID, FILE_TIME, head_commit, pack_tree, tree_digest, write_work_tree


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
