"""The search of an image for withheld tests looks into git's packs, and ends where a file only looks like one."""

import subprocess
from pathlib import Path

from harness.authoring.image_search import FoundFile
from harness.authoring.leak_signatures import LeakSignatures
from harness.authoring.task_image_check import ImageSearch


def search() -> ImageSearch:
    return ImageSearch(
        "image", LeakSignatures(frozenset({"test_kept_back"}), frozenset({"assert kept"}), frozenset())
    )


def test_a_text_that_begins_like_a_pack_is_none() -> None:
    looking = search()
    looking.look_at([FoundFile("README", b"PACKAGE\n\nfor words")])
    assert looking.packs == []


async def test_a_pack_that_git_cannot_read_is_looked_at_once(tmp_path: Path) -> None:
    looking = search()
    looking.look_at([FoundFile("broken.pack", b"PACK\0\0\0\2, and nothing that belongs there")])
    await looking.look_at_packs(tmp_path)
    assert looking.problems() == []


async def test_a_withheld_test_in_a_pack_is_found(tmp_path: Path) -> None:
    def git(*words: str, text: bytes = b"") -> bytes:
        return subprocess.run(["git", "-C", tmp_path, *words], input=text, capture_output=True, check=True).stdout

    git("init", "--quiet")
    blob = git("hash-object", "-w", "--stdin", text=b"def test_kept_back():\n    assert kept\n")
    looking = search()
    looking.look_at([FoundFile("some.pack", git("pack-objects", "--stdout", "--quiet", text=blob))])
    assert looking.problems() == []
    await looking.look_at_packs(tmp_path / "scratch")
    assert [problem.where for problem in looking.problems()] == ["image:/some.pack!"]
