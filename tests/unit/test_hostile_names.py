"""Whatever an agent calls its files, they are those files: real git, names of any bytes."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.judging.verify.intake import ingest
from harness.sandbox.git_tree import GitTree, NewFile
from harness.specs.reasons import ReasonCode, Verdict
from harness.specs.repo import Repo
from tests.support.small_task import small_task

KNOWN = (
    ":!x", ":(glob)x", ":(exclude)*", ":/x", ":^x", ":(top,literal)x", ":", "-x", "--all", "--", "-z", "*", "[a]",
    "?", "!x", "#x", "a\nb", "a\rb", "a\tb", '"x"', "'x'", "a b", " x", "x ", "\\x", "x\\", "$(x)", "`x`", "\u00e9",
    "\x7f", "\udcff\udcfe", "\x01", ".gitignore", ".gitattributes", ".gitmodules", ".git.", "git~1", "GIT~1", ".git ",
    "~", ".g\u200cit", "x.log", "build", "a => b", "dev_null", "0 0", "100644 x", "@{0}", "HEAD", "x" * 250,
)  # fmt: skip
PLAIN_BYTES = bytes(number for number in range(1, 256) if chr(number) != "/")
NAMES = st.sampled_from([name for name in KNOWN if "/" not in name]) | st.builds(
    lambda numbers: os.fsdecode(bytes(numbers)), st.lists(st.sampled_from(list(PLAIN_BYTES)), min_size=1, max_size=12)
)
PARTS = NAMES.filter(lambda name: name.lower() not in (".", "..", ".git"))
PATHS = st.lists(PARTS, min_size=1, max_size=3).map("/".join).filter(lambda path: not path.startswith(".gitignore/"))
VALID = b"""\
diff --git a/lib.py b/tests/moved.py
similarity index 50%
rename from lib.py
rename to tests/moved.py
index 5ad28e252beb6ba5cbf7e9f6ed2c4df0ca7a6a3c..d25d49e0f20a6e9ba3b3b5b8e6ee2b4a7b5c58b5 100644
--- a/lib.py
+++ b/tests/moved.py
@@ -1 +1 @@
-x = 1
+x = 2
diff --git a/tests/new.bin b/tests/new.bin
new file mode 100644
index 0000000000000000000000000000000000000000..f76dd238ade08917e6712764a16a22005a50573d
GIT binary patch
literal 1
IcmZPo000310RR91

literal 0
HcmV?d00001

diff --git a/lib.py b/tests/copy.py
old mode 100644
new mode 100755
similarity index 100%
copy from lib.py
copy to tests/copy.py
diff --git a/.gitignore b/.gitignore
deleted file mode 100644
index 1111111..0000000
--- a/.gitignore
+++ /dev/null
@@ -1,2 +0,0 @@
-*.log
-build/
diff --git a/tests/t.py b/tests/t.py
new file mode 100644
--- /dev/null
+++ b/tests/t.py
@@ -0,0 +1,2 @@
+x
+y
""".split(b"\n")
MUTATIONS = st.lists(
    st.tuples(st.sampled_from(["drop", "double", "swap", "cut"]), st.integers(0, 45), st.integers(0, 45)), max_size=4
)


def mutated(steps: list[tuple[str, int, int]]) -> bytes:
    """An honest patch with some of its lines gone, doubled, exchanged or cut short."""
    lines = list(VALID)
    for action, one, other in steps:
        first, second = one % len(lines), other % len(lines)
        if action == "drop":
            del lines[min(first, second) : min(first, second) + 1 + other % 3]
        elif action == "double":
            lines.insert(second, lines[first])
        elif action == "swap":
            lines[first], lines[second] = lines[second], lines[first]
        else:
            lines[first] = lines[first][: other % 20]
    return b"\n".join(lines)


def without_clashes(paths: list[str]) -> list[str]:
    """No path that is a folder of another one: a real tree can't have both."""
    kept: list[str] = []
    for path in sorted(paths):
        if not any(path.startswith(f"{other}/") for other in kept):
            kept.append(path)
    return kept


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("hostile")
    (place / "work" / "tests").mkdir(parents=True)
    (place / "work" / ".gitignore").write_text("*.log\nbuild/\n")
    (place / "work" / "lib.py").write_text("x = 1\n")
    return place


@pytest.fixture(scope="module")
def repo(directory: Path) -> Repo:
    return small_task(directory / "task").repo


async def tree_of(directory: Path) -> GitTree:
    if not (directory / "tree.git").exists():
        return await GitTree.create(directory / "tree.git", directory / "work")
    return GitTree(directory / "tree.git")


async def imported(tree: GitTree, paths: list[str]) -> str:
    with tempfile.TemporaryDirectory() as scratch:
        files = []
        for number, path in enumerate(paths):
            content = Path(scratch) / str(number)
            content.write_text(f"content of {number}\n")
            files.append(NewFile(path, "100644", content))
        return await tree.import_changes(files, [])


def is_ignored(path: str) -> bool:
    """By the base's rules above, and by ours."""
    names = path.split("/")
    ours = ("__pycache__", ".pytest_cache", ".hypothesis", "node_modules", ".venv")
    return any(name.endswith(".log") for name in names) or any(name in ("build", *ours) for name in names[:-1])


@pytest.mark.long
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(PATHS, min_size=1, max_size=12, unique=True).map(without_clashes))
async def test_a_tree_with_any_names_becomes_a_patch_of_those_files(directory: Path, paths: list[str]) -> None:
    tree = await tree_of(directory)
    made = await imported(tree, paths)
    found = {change.path for change in await tree.changes(made)}
    assert found == {path for path in paths if not is_ignored(path)}
    assert await tree.diff(made) or not found


@pytest.mark.long
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(paths=st.lists(PATHS, min_size=1, max_size=8, unique=True).map(without_clashes))
async def test_a_patch_with_any_names_is_judged_or_refused_and_never_ends_a_run(
    directory: Path, repo: Repo, paths: list[str]
) -> None:
    tree = await tree_of(directory)
    tests = [f"tests/{path}" for path in paths]
    found = await ingest(tree, repo, await tree.diff(await imported(tree, tests)))
    wanted = {path for path in tests if not is_ignored(path)}
    if not found.reasons:
        assert {change.path for change in found.changes} == wanted
    for reason in found.reasons:
        assert reason.code in (ReasonCode.UNSAFE_PATH, ReasonCode.EMPTY_SUBMISSION)
        assert reason.words.isprintable()
        assert reason.subject.isprintable()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(patch=st.binary(max_size=300) | st.lists(
    st.sampled_from([
        b"diff --git a/lib.py b/lib.py", b"--- a/lib.py", b"+++ b/lib.py", b"+++ b/tests/x.py", b"--- /dev/null",
        b"@@ -1 +1 @@", b"@@ -0,0 +1 @@", b"@@ -1,3 +1,2 @@", b"-x = 1", b"+x = 2", b" x = 1", b"rename from lib.py",
        b"", b"rename to tests/x.py", b'rename from "a\\nb"', b"copy from lib.py", b"copy to tests/y.py", b"delta 9",
        b"new file mode 100644", b"deleted file mode 100644", b"old mode 100644", b"new mode 120000", b"literal 3",
        b"GIT binary patch", b"zcmZ", b"KcmZQz", b"index 0000000..1111111", b"similarity index 100%", b"literal -1",
        b"\\ No newline at end of file", b'+++ "b/\\377"', b"+++ b/../x", b"+++ b/tests/:!x", b"literal 99999999999",
        b"diff --git a/tests/x.py b/tests/x.py",
    ]), max_size=14,
).map(b"\n".join))  # fmt: skip
async def test_any_bytes_as_a_patch_are_judged_or_refused(directory: Path, repo: Repo, patch: bytes) -> None:
    found = await ingest(await tree_of(directory), repo, patch)
    assert all(reason.code.verdict is not Verdict.UNSCORED for reason in found.reasons)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(MUTATIONS)
async def test_a_damaged_patch_is_judged_or_refused(
    directory: Path, repo: Repo, steps: list[tuple[str, int, int]]
) -> None:
    found = await ingest(await tree_of(directory), repo, mutated(steps))
    assert all(reason.code.verdict is not Verdict.UNSCORED for reason in found.reasons)
