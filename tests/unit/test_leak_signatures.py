"""Telling withheld tests from what merely looks like them."""

import marshal
from pathlib import Path

from harness.authoring.leak_signatures import LeakSignatures, leak_signatures_of
from harness.judging.languages.registry import LANGUAGES
from harness.sandbox.git_tree import GitTree
from tests.support.tiny_repo import KEPT_TEST, TREE, WITHHELD_PATCH, WITHHELD_TEST


async def withheld(directory: Path) -> LeakSignatures:
    work_tree = directory / "tree"
    (work_tree / "tests").mkdir(parents=True)
    (work_tree / "tests" / "test_tiny.py").write_text(KEPT_TEST)
    return await leak_signatures_of(
        WITHHELD_PATCH.encode(), await GitTree.create(directory / "tree.git", work_tree), LANGUAGES.get("python")
    )


async def test_source_of_a_withheld_test_is_certain_and_the_kept_one_is_nothing(tmp_path: Path) -> None:
    signatures = await withheld(tmp_path)
    assert signatures.names == {"test_adds_negative_numbers"}
    assert signatures.search(TREE["tests/test_tiny.py"].encode()).certain
    kept = signatures.search(KEPT_TEST.encode())
    assert not kept.certain
    assert not kept.possible


async def test_compiled_test_is_at_least_possible(tmp_path: Path) -> None:
    signatures = await withheld(tmp_path)
    compiled = marshal.dumps(compile(WITHHELD_TEST, "test_x.py", "exec"))
    assert signatures.search(compiled).possible


def test_one_short_name_or_two_common_lines_are_chance() -> None:
    signatures = LeakSignatures(
        frozenset({"test_eq"}), frozenset({"line one of them", "line two of them"}), frozenset()
    )
    assert not signatures.search(b"def test_eq():").certain
    assert not signatures.search(b"def test_eq():").possible
    assert not signatures.search(b"line one of them, line two of them").certain
    assert signatures.search(b"test_eq; line one of them").certain


def test_name_inside_a_longer_one_is_another_name() -> None:
    signatures = LeakSignatures(frozenset({"test_limit_of_all_calls"}), frozenset(), frozenset())
    assert not signatures.search(b"def test_limit_of_all_calls_2():").possible


async def test_file_withheld_as_a_whole_counts_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "kept.py").write_text("x = 1\n")
    tree = await GitTree.create(tmp_path / "tree.git", tmp_path / "tree")
    patch = (
        b"diff --git a/tests/test_gone.py b/tests/test_gone.py\ndeleted file mode 100644\n"
        b"--- a/tests/test_gone.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x = 1\n"
    )
    signatures = await leak_signatures_of(patch, tree, LANGUAGES.get("python"))
    assert signatures == LeakSignatures(frozenset(), frozenset(), frozenset({"tests/test_gone.py"}))
