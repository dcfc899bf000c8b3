"""Telling withheld tests from what merely looks like them."""

import marshal
from pathlib import Path

from harness.authoring.needles import Needles, needles_of
from harness.sandbox.git_tree import GitTree
from tests.support.tiny_repo import KEPT_TEST, TREE, WITHHELD_PATCH, WITHHELD_TEST


async def withheld(directory: Path) -> Needles:
    work_tree = directory / "tree"
    (work_tree / "tests").mkdir(parents=True)
    (work_tree / "tests" / "test_tiny.py").write_text(KEPT_TEST)
    return await needles_of(WITHHELD_PATCH.encode(), await GitTree.create(directory / "tree.git", work_tree))


async def test_source_of_a_withheld_test_is_certain_and_the_kept_one_is_nothing(tmp_path: Path) -> None:
    needles = await withheld(tmp_path)
    assert needles.names == {"test_adds_negative_numbers"}
    assert needles.search(TREE["tests/test_tiny.py"].encode()).certain
    kept = needles.search(KEPT_TEST.encode())
    assert not kept.certain
    assert not kept.possible


async def test_compiled_test_is_at_least_possible(tmp_path: Path) -> None:
    needles = await withheld(tmp_path)
    compiled = marshal.dumps(compile(WITHHELD_TEST, "test_x.py", "exec"))
    assert needles.search(compiled).possible


def test_one_short_name_or_two_common_lines_are_chance() -> None:
    needles = Needles(frozenset({"test_eq"}), frozenset({"line one of them", "line two of them"}), frozenset())
    assert not needles.search(b"def test_eq():").certain
    assert not needles.search(b"def test_eq():").possible
    assert not needles.search(b"line one of them, line two of them").certain
    assert needles.search(b"test_eq; line one of them").certain


def test_name_inside_a_longer_one_is_another_name() -> None:
    needles = Needles(frozenset({"test_limit_of_all_calls"}), frozenset(), frozenset())
    assert not needles.search(b"def test_limit_of_all_calls_2():").possible


async def test_file_withheld_as_a_whole_counts_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "kept.py").write_text("x = 1\n")
    tree = await GitTree.create(tmp_path / "tree.git", tmp_path / "tree")
    patch = (
        b"diff --git a/tests/test_gone.py b/tests/test_gone.py\ndeleted file mode 100644\n"
        b"--- a/tests/test_gone.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x = 1\n"
    )
    needles = await needles_of(patch, tree)
    assert needles == Needles(frozenset(), frozenset(), frozenset({"tests/test_gone.py"}))
