"""Variants of published tasks: text on disk, other text of the same behaviour, the task's tools beside the tree."""

import shutil
from pathlib import Path
from random import Random

import pytest

from harness.languages.python.rewriting import rewrite_python
from harness.languages.toolchain import BuildContext, SuiteFiles
from harness.languages.variant_source import VariantSource
from harness.sandbox.git_tree import GitTree
from harness.sandbox.protocol import Image
from harness.specs.errors import UserError
from harness.specs.ids import TestId
from harness.specs.tracks import TaskOptions
from harness.specs.variants import VariantKind
from harness.tracks.registry import track_of
from harness.tracks.swe_atlas.task import TOOLS, read_published
from harness.verify.evidence import REQUIRED, listed
from harness.verify.variants import plan_variants, rewritten_on_disk

FIXTURES = Path(__file__).parents[1] / "fixtures" / "swe_atlas"
SUMS = b'''\
"""Sums."""


def add(a, b):
    """Adds.

    Any two numbers.
    """
    if a is None:
        return b
    total = a + b
    return total


def one(): return 1


async def more(items):
    async for item in items:
        yield item
    raise StopAsyncIteration


def untouched():
    return 5
'''
REMOVAL = (
    "diff --git a/pkg/sums.py b/pkg/sums.py\n--- a/pkg/sums.py\n+++ b/pkg/sums.py\n@@ -11,3 +11,3 @@\n"
    "     total = a + b\n-    return total\n+    return None\n \n"
)


def names(text: bytes) -> dict[str, object]:
    found: dict[str, object] = {}
    exec(compile(text, "sums.py", "exec"), found)
    return found


def test_a_rewriting_of_python_behaves_the_same_and_leaves_other_functions_alone():
    plain = names(SUMS)
    for seed in range(20):
        text = rewrite_python(SUMS, (12, 15, 21), Random(seed), "tw")
        other = names(text)
        assert text != SUMS
        assert text.endswith(b"def untouched():\n    return 5\n")
        assert [other["add"](*pair) for pair in ((1, 2), (None, 3))] == [
            plain["add"](*pair) for pair in ((1, 2), (None, 3))
        ]
        assert other["add"].__doc__ == plain["add"].__doc__
        assert other["one"]() == 1
        assert len(text.splitlines()) == len(SUMS.splitlines())


def test_another_rewriting_each_time():
    assert len({rewrite_python(SUMS, (12,), Random(seed), "tw") for seed in range(5)}) > 1


@pytest.fixture
async def variants(tmp_path):
    """By name, of a task that removes a line of the sums above."""
    place = Path(shutil.copytree(FIXTURES / "aiosmtpd-debugging-handler", tmp_path / "task"))
    (place / "tests" / "skeleton_code_swap.patch").write_text(REMOVAL)
    (tmp_path / "tree" / "pkg").mkdir(parents=True)
    (tmp_path / "tree" / "pkg" / "sums.py").write_bytes(SUMS)
    tree = await GitTree.create(tmp_path / "tree.git", tmp_path / "tree")
    task = read_published(place, TaskOptions())
    toolchain = track_of(task).toolchain(task)
    sources = [rewritten_on_disk(item, task.repo) for item in await plan_variants(task, tree, toolchain, 0)]
    compiled = await toolchain.compile(BuildContext(None, Image("tag", "0", "/app", tree.directory), {}), sources)
    return toolchain, {item.variant.name: item for item in compiled}


async def test_every_arm_that_evidence_needs_is_there_and_all_have_the_same_files(variants):
    _, found = variants
    assert set(map(listed, found)) >= set(REQUIRED)
    assert all(item.variant.source["pkg/sums.py"] for item in found.values())
    files = {tuple(sorted((*item.variant.source, *item.variant.code))) for item in found.values()}
    assert files == {
        (f"{TOOLS}/parse_script.py", f"{TOOLS}/run_script.sh", f"{TOOLS}/run_tests", "pkg/sums.py"),
    }
    assert len({item.prove for item in found.values()}) == 1


async def test_every_text_but_the_baseline_is_rewritten_and_only_removals_behave_otherwise(variants):
    _, found = variants
    texts = {name: item.variant.source["pkg/sums.py"] for name, item in found.items()}
    assert len(set(texts.values())) == len(texts)
    assert texts["baseline"] == SUMS
    commented = {name for name, text in texts.items() if b"\n# " in text and b"return None" in text}
    assert {"rewritten-2", "rewritten-4"} <= commented
    assert not commented & {"rewritten-1", "rewritten-3"}
    for name, text in texts.items():
        assert names(text)["add"](1, 2) == (None if name.startswith("removal") else 3), name
    assert {name for name, item in found.items() if item.variant.kind is VariantKind.REMOVAL} == {
        "removal-1", "removal-2",
    }  # fmt: skip


async def test_files_whose_tests_have_the_same_name_are_run_apart(variants):
    toolchain, found = variants
    apart = [TestId("tests/test_a.py", "test_x"), TestId("tests/test_b.py", "test_x")]
    together = [TestId("tests/test_a.py", "test_x"), TestId("tests/test_b.py", "test_y")]
    built = [
        (await toolchain.build(None, [found["baseline"]], SuiteFiles(tests)))[0] for tests in (apart, together)
    ]  # fmt: skip
    assert ["TESTWRIGHT_APART" in item.compiled.env for item in built] == [True, False]


C_SUMS = b"static int add(int a, int b) {\n    int sum = a;\n    sum += b;\n    return sum;\n}\n"
C_REMOVAL = """--- a/pkg/sums.c
+++ b/pkg/sums.c
@@ -1,5 +1,5 @@
 static int add(int a, int b) {
     int sum = a;
-    sum += b;
+    sum -= b;
     return sum;
 }
"""


async def planned(tmp_path: Path, file: str, text: bytes, removal: str) -> list[VariantSource]:
    """Of a task whose tests are in Python and whose removal changes this file."""
    place = Path(shutil.copytree(FIXTURES / "aiosmtpd-debugging-handler", tmp_path / "task"))
    (place / "tests" / "skeleton_code_swap.patch").write_text(removal)
    (tmp_path / "tree" / "pkg").mkdir(parents=True)
    (tmp_path / "tree" / file).write_bytes(text)
    tree = await GitTree.create(tmp_path / "tree.git", tmp_path / "tree")
    task = read_published(place, TaskOptions())
    assert task.repo.language == "python"
    return [
        rewritten_on_disk(item, task.repo)
        for item in await plan_variants(task, tree, track_of(task).toolchain(task), 0)
    ]


async def test_code_is_rewritten_in_its_own_language_whatever_that_of_the_tests_is(tmp_path):
    plan = await planned(tmp_path, "pkg/sums.c", C_SUMS, C_REMOVAL)
    texts = {item.name: item.code["pkg/sums.c"] for item in plan}
    assert len(set(texts.values())) == len(texts)
    assert texts["baseline"] == C_SUMS
    assert all(b"volatile" in text for name, text in texts.items() if name != "baseline")
    assert b"// " in texts["rewritten-2"]


async def test_arms_that_could_differ_in_nothing_are_an_error(tmp_path):
    removal = C_REMOVAL.replace("sums.c", "sums.glsl")
    with pytest.raises(UserError, match=r"pkg/sums\.glsl: no function that the removal touches can be rewritten"):
        await planned(tmp_path, "pkg/sums.glsl", C_SUMS, removal)
