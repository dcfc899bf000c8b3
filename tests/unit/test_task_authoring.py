"""`testwright task new` and `task edit` without a container: tests taken out, trees edited, and what is refused."""

import asyncio
import re
import shutil
from pathlib import Path

import pytest

from harness.authoring.function_spans import spans_of
from harness.authoring.task_check.honest_corpus import corpus_of
from harness.authoring.task_edit import edit_parts, edit_task, write_tree, write_trees
from harness.authoring.task_new import skeletons
from harness.authoring.task_new.command import NewTask, most_shared, new_task
from harness.authoring.task_new.withholding import chosen_tests, withheld, without
from harness.cli.main import main
from harness.runs.submissions import Expectation
from harness.sandbox.git_tree import GitTree
from harness.specs.catalog import Catalog
from harness.specs.catalog_places import default_directory
from harness.specs.errors import UserError
from harness.specs.reasons import Verdict
from harness.specs.rubric import Rubric
from harness.specs.task import TaskFile
from harness.specs.test_results import TestId
from harness.specs.yaml_files import load_yaml, parse_yaml, validate
from tests.support.sound_catalog import PRODUCT, TASK, sound_catalog

GO = b"""\
package sums

import (
	"fmt"
	"strings"
	"testing"
)

// TestUpper is about
// large letters.
func TestUpper(t *testing.T) {
	fmt.Println(strings.ToUpper("a"))
}

func TestLower(t *testing.T) {
	fmt.Println("a")
}
"""


@pytest.fixture
def catalog(tmp_path: Path, monkeypatch) -> Catalog:
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "cache"))
    return sound_catalog(tmp_path / "catalog")


def test_a_test_goes_with_its_comment_and_the_imports_that_go_refuses_then() -> None:
    repo = Catalog(default_directory()).repo("restic")
    kept = without(repo, "sums_test.go", GO, {"TestUpper"})
    assert kept == (
        b'package sums\n\nimport (\n\t"fmt"\n\t"testing"\n)\n\n'
        b'func TestLower(t *testing.T) {\n\tfmt.Println("a")\n}\n'
    )
    assert without(repo, "sums_test.go", GO, {"TestUpper", "TestLower"}) is None


def test_the_withheld_patch_takes_out_what_is_chosen_and_applies(catalog, tmp_path) -> None:
    (tmp_path / "tree" / "tests").mkdir(parents=True)
    text = "def test_a():\n    assert 1\n\n\ndef test_b():\n    assert 2\n"
    (tmp_path / "tree" / "tests" / "test_x.py").write_text(text)
    (tmp_path / "tree" / "tests" / "test_y.py").write_text(text)

    async def made() -> dict[str, bytes]:
        tree = await GitTree.create(tmp_path / "git", tmp_path / "tree")
        chosen = [TestId("tests/test_x.py", "test_a"), *(TestId("tests/test_y.py", f"test_{name}") for name in "ab")]
        treeish = await tree.apply(await withheld(catalog.repo("tiny"), tree, chosen))
        return {path: await tree.read(path, treeish) for path in await tree.entries(treeish)}

    assert asyncio.run(made()) == {"tests/test_x.py": b"def test_b():\n    assert 2\n"}


def test_tests_are_chosen_by_id_or_by_file_and_unknown_ones_are_told_with_what_is_near() -> None:
    known = [
        TestId("tests/test_x.py", "test_adds"),
        TestId("tests/test_x.py", "test_takes"),
        TestId("t.py", "test_b"),
    ]
    assert chosen_tests(known, ["tests/test_x.py"]) == tuple(known[:2])
    assert chosen_tests(known, ["t.py::test_b", "t.py"]) == (known[2],)
    with pytest.raises(UserError, match=re.escape("did you mean tests/test_x.py::test_adds")):
        chosen_tests(known, ["tests/test_x.py::test_add"])


def test_skeletons_are_what_the_loaders_read() -> None:
    rubric = skeletons.rubric_yaml("a-task", "adding up")
    assert validate(*parse_yaml(rubric, "rubric"), Rubric, "rubric").task == "a-task"
    text = skeletons.task_yaml("a-task", "tiny", "unit", "Adding: up")
    file = validate(*parse_yaml(text, "task"), TaskFile, "task")
    assert (file.title, file.canary[:18]) == ("Adding: up", "testwright canary ")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (NewTask("No Name", "tiny", "x", ("tests/a.py",)), "is no name of a task"),
        (NewTask(TASK, "tiny", "x", ("tests/a.py",)), "is there already"),
        (NewTask("other", "tiny", "x", ()), "--tests FILE::NAME"),
        (NewTask("other", "tyni", "x", ("tests/a.py",)), "unknown repo 'tyni'"),
    ],
)
def test_a_task_that_cannot_be_made_leaves_nothing_behind(given, words, catalog) -> None:
    before = sorted(catalog.directory.rglob("*"))
    with pytest.raises(UserError, match=re.escape(words)):
        new_task(catalog, given, lambda line: None)
    assert sorted(catalog.directory.rglob("*")) == before


def test_functions_are_told_by_their_lines_in_every_language() -> None:
    assert spans_of("python", PRODUCT.encode()) == {"total_of": (1, 7), "mean": (10, 13)}
    assert spans_of("go", GO) == {"TestUpper": (11, 13), "TestLower": (15, 17)}
    assert spans_of("typescript", b"export function a() {\n  return 1;\n}\n") == {"a": (1, 3)}
    assert spans_of("c", b"int a(void)\n{\n  return 1;\n}\n") == {"a": (1, 4)}


def test_an_edited_tree_becomes_the_patch_that_makes_it(catalog, tmp_path) -> None:
    path = edit(catalog, tmp_path / "tree", "probes/1.1", "sums.py", "result += number", "result -= number")
    assert path == catalog.directory / "tasks" / TASK / "probes" / "1.1.patch"
    again = write_tree(catalog, TASK, "probes/1.1", tmp_path / "again")
    assert "result -= number" in (again / "sums.py").read_text()
    assert (
        "result += number" in (write_tree(catalog, TASK, "probes/1.1", tmp_path / "x", True) / "sums.py").read_text()
    )


def test_an_honest_suite_is_edited_as_a_tree_and_its_author_says_what_it_must_come_to(catalog, tmp_path) -> None:
    path = edit(catalog, tmp_path / "tree", "honest/in-a-hurry", "tests/test_sums.py", "== 2", "== 1 + 1")
    assert path == corpus_of(catalog) / TASK / "in-a-hurry" / "patch.diff"
    shutil.rmtree(corpus_of(catalog))
    assert corpus_of(catalog) == catalog.directory / "honest"  # where a catalog's first suite goes
    path = edit_task(catalog, TASK, "honest/in-a-hurry", tmp_path / "tree")[0]
    assert path == catalog.directory / "honest" / TASK / "in-a-hurry" / "patch.diff"
    expected = path.parent / "expect.yaml"
    assert load_yaml(expected, Expectation).task == TASK
    expected.write_text(expected.read_text().replace("resolved", "failed"))
    edit_task(catalog, TASK, "honest/in-a-hurry", tmp_path / "tree")
    assert load_yaml(expected, Expectation).verdict is Verdict.FAILED


def test_files_that_list_tests_for_a_build_go_with_withheld_tests(catalog, tmp_path) -> None:
    tree = write_tree(catalog, TASK, "withheld", tmp_path / "tree")
    (tree / "CMakeLists.txt").write_text("add_test(test_sums)\n")
    assert "+add_test(test_sums)" in edit_task(catalog, TASK, "withheld", tree)[0].read_text()


def edit(catalog: Catalog, tree: Path, part: str, file: str, old: str, new: str) -> Path:
    write_tree(catalog, TASK, part, tree, anew=True)
    text = (tree / file).read_text()
    (tree / file).write_text(text.replace(old, new))
    return edit_task(catalog, TASK, part, tree)[0]


@pytest.mark.parametrize(
    ("part", "file", "old", "new", "words"),
    [
        ("removal", "sums.py", "", "", "the tree is as it was"),
        ("removal", "tests/test_sums.py", "== 2", "== 3", "it changes production code only"),
        ("reference", "sums.py", "result = start", "result = 0", "it changes tests only"),
        ("withheld", "sums.py", "result = start", "result = 0", "it changes tests only"),
        ("honest/a", "sums.py", "result = start", "result = 0", "it changes tests only"),
        ("removl", "sums.py", "result", "x", "did you mean 'removal'?"),
        ("probes/1.9", "sums.py", "result", "x", "no criterion 1.9 that is graded by probe"),
    ],
)
def test_what_a_part_may_not_be_is_refused_and_it_stays_as_it_was(part, file, old, new, words, catalog, tmp_path):
    folder = catalog.directory / "tasks" / TASK
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(UserError, match=re.escape(words)):
        edit(catalog, tmp_path / "tree", part, file, old, new)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_part_upon_the_placebo_needs_the_placebo(catalog, tmp_path) -> None:
    shutil.move(catalog.directory / "tasks" / TASK / "placebo.patch", tmp_path / "placebo.patch")
    with pytest.raises(UserError, match="write it first"):
        write_tree(catalog, TASK, "probes-on-placebo/1.3", tmp_path / "tree")


PARTS = ["placebo", "probes/1.1", "probes-on-placebo/1.3"]


def changed(folder: Path, part: str, old: str, new: str) -> None:
    path = folder / part / "sums.py"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_several_parts_are_stored_by_one_command(catalog, tmp_path) -> None:
    """One of them lies upon another, and one is a patch."""
    before = {path: path.read_bytes() for path in task_files(catalog)}
    written = write_trees(catalog, TASK, PARTS, tmp_path / "trees", True)
    assert written == [tmp_path / "trees" / part for part in PARTS]
    changed(tmp_path / "trees", "placebo", "result += number", "result = number + result")
    changed(tmp_path / "trees", "probes/1.1", "result += number", "result -= number")
    folder = catalog.directory / "tasks" / TASK
    shutil.rmtree(tmp_path / "trees" / "probes-on-placebo" / "1.3")
    (tmp_path / "trees" / "probes-on-placebo" / "1.3.patch").write_bytes(
        (folder / "probes" / "1.3.patch").read_bytes()
    )
    assert edit_parts(catalog, TASK, PARTS, tmp_path / "trees") == [folder / f"{part}.patch" for part in PARTS]
    now = {path: path.read_bytes() for path in task_files(catalog)}
    assert {path.relative_to(folder).as_posix() for path in now if now[path] != before.get(path)} >= {
        "placebo.patch",
        "probes/1.1.patch",
    }
    again = write_tree(catalog, TASK, "probes-on-placebo/1.3", tmp_path / "again")
    assert "result = number + result" in (again / "sums.py").read_text()


def task_files(catalog: Catalog) -> list[Path]:
    return [path for path in (catalog.directory / "tasks" / TASK).rglob("*") if path.is_file()]


def test_several_parts_are_stored_all_or_none(catalog, tmp_path) -> None:
    write_trees(catalog, TASK, PARTS, tmp_path / "trees", True)
    changed(tmp_path / "trees", "placebo", "result += number", "result = number + result")
    before = {path: path.read_bytes() for path in task_files(catalog)}
    for words, spoil in (
        ("probes/1.1: the tree is as it was", lambda: None),
        ("neither a tree", lambda: shutil.rmtree(tmp_path / "trees" / "probes" / "1.1")),
        ("both ", lambda: [write_tree(catalog, TASK, "probes/1.1", tmp_path / "trees" / "probes" / "1.1"),
                           (tmp_path / "trees" / "probes" / "1.1.patch").write_text("")]),
        ("is no directory", lambda: shutil.rmtree(tmp_path / "trees")),
    ):  # fmt: skip
        spoil()
        with pytest.raises(UserError, match=re.escape(words)):
            edit_parts(catalog, TASK, PARTS, tmp_path / "trees")
        assert {path: path.read_bytes() for path in task_files(catalog)} == before


def test_an_editor_takes_one_part_at_a_time(catalog, capsys, monkeypatch) -> None:
    monkeypatch.setattr("sys.argv", ["testwright", "--catalog", str(catalog.directory), "task", "edit", TASK, *PARTS])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "an editor takes one part at a time" in capsys.readouterr().err


def test_other_tests_are_named_by_how_many_of_the_lines_they_reach() -> None:
    ours = {"a.py": {1, 2, 3}, "b.py": {9}}
    others = {f"t.py::{name}": {"a.py": {1, number}} for number, name in enumerate("uvwx")}
    all_of_it = {"a.py": {1, 2, 3, 4}, "b.py": {9}}
    told = most_shared(ours, {**others, "t.py::all": all_of_it, "t.py::none": {"c.py": {1}}})
    assert told == (
        "t.py::all: 4 of 4 lines, t.py::w: 2 of 4 lines, t.py::x: 2 of 4 lines, t.py::u: 1 of 4 lines, 1 more"
    )
