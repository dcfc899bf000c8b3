"""Variants of published tasks: text on disk, other text of the same behaviour, the task's tools beside the tree."""

import shutil
from pathlib import Path

import pytest

from harness.judging.languages.toolchain import JobContext, SuiteFiles
from harness.judging.languages.variant_source import VariantSource
from harness.judging.verify.evidence import REQUIRED, listed_arm
from harness.judging.verify.variants import plan_variants, rewritten_on_disk
from harness.plugins.published.task import TOOLS, read_published
from harness.sandbox.git_tree import GitTree
from harness.sandbox.protocol import Image
from harness.specs.errors import UserError
from harness.specs.test_results import TestId
from harness.specs.tracks import TaskOptions
from harness.specs.variants import VariantKind
from harness.tracks.registry import track_of

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
    compiled = await toolchain.compile(JobContext(None, Image("tag", "0", "/app", tree.directory), {}), sources)
    return toolchain, {item.variant.name: item for item in compiled}


async def test_every_arm_that_evidence_needs_is_there_and_all_have_the_same_files(variants):
    _, found = variants
    assert set(map(listed_arm, found)) >= set(REQUIRED)
    assert all(item.variant.source["pkg/sums.py"] for item in found.values())
    files = {tuple(sorted((*item.variant.source, *item.variant.code))) for item in found.values()}
    assert files == {
        (
            f"{TOOLS}/parse_log.py",
            f"{TOOLS}/parse_script.py",
            f"{TOOLS}/run_script.sh",
            f"{TOOLS}/run_tests",
            "pkg/sums.py",
        ),
    }
    assert len({item.prove for item in found.values()}) == 1


async def test_every_text_but_the_baseline_is_rewritten_and_only_removals_behave_otherwise(variants):
    _, found = variants
    texts = {name: item.variant.source["pkg/sums.py"] for name, item in found.items()}
    assert len(set(texts.values())) == len(texts)
    assert texts["baseline"] == SUMS
    for name, text in texts.items():
        assert names(text)["add"](1, 2) == (None if name.startswith("removal") else 3), name
    assert {name for name, item in found.items() if item.variant.kind is VariantKind.REMOVAL} == {
        "removal-1", "removal-2",
    }  # fmt: skip


OBSERVATIONS = {
    "bytes": len,
    "lines": lambda text: len(text.splitlines()),
    "a line of the code": lambda text: b"    return total" in text,
    "that line without its spaces": lambda text: b"".join(b"return total".split()) in b"".join(text.split()),
    "a line of the removal": lambda text: b"return None" in text,
    "lines of code": lambda text: len(code_lines(text)),
    "where the code's line stands": lambda text: text.find(b"return total") / len(text),
}
"""Of a text, by those who don't work out what it does."""


def code_lines(text: bytes) -> list[bytes]:
    return [line for line in text.splitlines() if line.strip() and not line.strip().startswith(b"#")]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("what", OBSERVATIONS)
async def test_no_simple_look_at_the_text_tells_a_removal(tmp_path, what, seed):
    """Neither does it say "removed" of all removals and of no other, nor is one other excused."""
    look = OBSERVATIONS[what]
    plan = await planned(tmp_path, "pkg/sums.py", SUMS, REMOVAL, seed)
    alike = [look(item.code["pkg/sums.py"]) for item in plan if item.kind.behaves_like_baseline]
    gone = [look(item.code["pkg/sums.py"]) for item in plan if item.kind.removes]
    before, after = look(SUMS), look(SUMS.replace(b"    return total\n", b"    return None\n"))
    for cut in {before, after, (before + after) / 2}:  # all that is known beforehand
        for test in (lambda found: found <= cut, lambda found: found >= cut, lambda found: found == cut):  # noqa: B023
            wrong = sum(map(test, alike))
            assert wrong > 1 or not all(map(test, gone)), (alike, gone)


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


async def planned(tmp_path: Path, file: str, text: bytes, removal: str, seed: int = 0) -> list[VariantSource]:
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
        for item in await plan_variants(task, tree, track_of(task).toolchain(task), seed)
    ]


async def test_code_is_rewritten_in_its_own_language_whatever_that_of_the_tests_is(tmp_path):
    plan = await planned(tmp_path, "pkg/sums.c", C_SUMS, C_REMOVAL)
    texts = {item.name: item.code["pkg/sums.c"] for item in plan}
    assert len(set(texts.values())) == len(texts)
    assert texts["baseline"] == C_SUMS
    assert all(b"volatile" in text for name, text in texts.items() if name != "baseline")
    assert sum(b"//     sum -= b;" in text for text in texts.values()) >= 3


async def test_arms_that_could_differ_in_nothing_are_an_error(tmp_path):
    removal = C_REMOVAL.replace("sums.c", "sums.glsl")
    with pytest.raises(UserError, match=r"pkg/sums\.glsl: no function that the removal touches can be rewritten"):
        await planned(tmp_path, "pkg/sums.glsl", C_SUMS, removal)
