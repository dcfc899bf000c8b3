from pathlib import Path

import pytest

from harness.judging.verify import intake as intake_module
from harness.judging.verify.intake import ingest
from harness.sandbox.git_tree import GitTree
from harness.specs.catalog import Catalog
from harness.specs.reasons import NoteCode, ReasonCode
from tests.support.small_task import small_task

FILES = {"lib.py": "def add(a, b):\n    return a + b\n", "tests/test_old.py": "def test_old():\n    assert 1\n"}


@pytest.fixture
async def tree(tmp_path: Path) -> GitTree:
    for path, text in FILES.items():
        place = tmp_path / "work" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return await GitTree.create(tmp_path / "tree.git", tmp_path / "work")


@pytest.fixture
def repo(tmp_path: Path):
    found = small_task(tmp_path / "task").repo
    return found.model_copy(update={"runner_files": ("conftest.py", "**/pytest.ini")})


def added(path: str, text: str = "x = 1\n", mode: str = "100644") -> str:
    lines = text.splitlines(keepends=True)
    body = "".join(f"+{line}" for line in lines)
    return (
        f"diff --git a/{path} b/{path}\nnew file mode {mode}\n--- /dev/null\n+++ b/{path}\n"
        f"@@ -0,0 +1,{len(lines)} @@\n{body}"
    )


EDIT = (
    "diff --git a/lib.py b/lib.py\n--- a/lib.py\n+++ b/lib.py\n@@ -1,2 +1,2 @@\n"
    " def add(a, b):\n-    return a + b\n+    return 0\n"
)
LINK = (
    "diff --git a/tests/l b/tests/l\nnew file mode 120000\n--- /dev/null\n+++ b/tests/l\n"
    "@@ -0,0 +1 @@\n+/etc/passwd\n\\ No newline at end of file\n"
)
MODE = "diff --git a/tests/test_old.py b/tests/test_old.py\nold mode 100644\nnew mode 100755\n"


async def codes(tree: GitTree, repo, patch: str) -> list[ReasonCode]:
    return [reason.code for reason in (await ingest(tree, repo, patch.encode())).reasons]


async def test_what_lies_outside_the_test_paths_is_stripped_and_the_rest_judged_alone(tree, repo):
    patch = EDIT + added("tests/test_new.py") + added("conftest.py") + added("tests/pytest.ini")
    patch += added("tests/.pytest.toml")
    taken = await ingest(tree, repo, patch.encode())
    assert not taken.reasons
    assert list(taken.files) == ["tests/test_new.py"]
    notes = {(note.code, note.subject) for note in taken.notes}
    assert notes == {
        (NoteCode.PRODUCTION_EDIT, "lib.py"),
        (NoteCode.RUNNER_EDIT, "conftest.py"),
        (NoteCode.RUNNER_EDIT, "tests/pytest.ini"),
        (NoteCode.RUNNER_EDIT, "tests/.pytest.toml"),  # no list of this repository's has it
    }
    assert b"lib.py" not in taken.patch


async def test_what_is_stripped_is_said_where_nothing_is_left(tree, repo):
    taken = await ingest(tree, repo, added("notes.txt").encode())
    assert [reason.code for reason in taken.reasons] == [ReasonCode.EMPTY_SUBMISSION]
    assert [(note.code, note.subject) for note in taken.notes] == [(NoteCode.PRODUCTION_EDIT, "notes.txt")]


async def test_compiled_code_is_never_part_of_a_submission(tree, repo):
    taken = await ingest(tree, repo, (added("tests/__pycache__/test_x.pyc") + added("tests/test_x.py")).encode())
    assert list(taken.files) == ["tests/test_x.py"]


async def test_assembly_beside_the_tests_of_a_go_package_is_no_test(tree):
    test = added("internal/x/x_test.go", "package x\n")
    assembly = added("internal/x/x_amd64.s", '#include "textflag.h"\n\nTEXT ·add(SB), NOSPLIT, $0\n\tRET\n')
    taken = await ingest(tree, Catalog().repo("restic"), (assembly + test).encode())
    assert (taken.reasons, list(taken.files)) == ((), ["internal/x/x_test.go"])
    assert [(note.code, note.subject) for note in taken.notes] == [(NoteCode.PRODUCTION_EDIT, "internal/x/x_amd64.s")]
    assert b"x_amd64.s" not in taken.patch


async def test_a_stripped_edit_that_would_not_apply_does_not_spoil_the_rest(tree, repo):
    stale = EDIT.replace("return a + b", "return b + a")
    assert not await codes(tree, repo, stale + added("tests/test_new.py"))


@pytest.mark.parametrize(
    ("patch", "code"),
    [
        ("", ReasonCode.EMPTY_SUBMISSION),
        (" \n", ReasonCode.EMPTY_SUBMISSION),
        (EDIT, ReasonCode.EMPTY_SUBMISSION),
        ("this is not a patch\n", ReasonCode.PATCH_DOES_NOT_APPLY),
        (added("tests/test_old.py"), ReasonCode.PATCH_DOES_NOT_APPLY),
        (added("tests/test_old.py/inside.py"), ReasonCode.PATCH_DOES_NOT_APPLY),
        (added("tests/new") + added("tests/new/inside.py"), ReasonCode.PATCH_DOES_NOT_APPLY),
        (added("../evil.py"), ReasonCode.UNSAFE_PATH),
        (added("tests/../../evil.py"), ReasonCode.UNSAFE_PATH),
        (added("tests/.git/config"), ReasonCode.UNSAFE_PATH),
        (added(".GIT/config"), ReasonCode.UNSAFE_PATH),
        (added("/etc/passwd"), ReasonCode.UNSAFE_PATH),
        (LINK, ReasonCode.UNSAFE_PATH),
        (MODE, ReasonCode.UNSAFE_PATH),
        (added("tests/sub", mode="160000", text="Subproject commit " + "1" * 40 + "\n"), ReasonCode.UNSAFE_PATH),
        (added("tests/TEST_OLD.py"), ReasonCode.UNSAFE_PATH),
        ("".join(added(f"tests/test_{number}.py") for number in range(600)), ReasonCode.PATCH_TOO_LARGE),
    ],
)
async def test_every_refusal_has_its_own_code(tree, repo, patch, code):
    assert await codes(tree, repo, patch) == [code]


async def test_a_hundred_thousand_files_are_refused_before_git_sees_them(tree, repo):
    patch = "".join(added(f"tests/t{number}.py") for number in range(30_000))
    assert await codes(tree, repo, patch) == [ReasonCode.PATCH_TOO_LARGE]


async def test_one_huge_file_is_refused(tree, repo):
    patch = added("tests/big.txt", "x" * (intake_module.MAX_FILE_BYTES + 1) + "\n")
    assert await codes(tree, repo, patch) == [ReasonCode.PATCH_TOO_LARGE]


async def test_nothing_is_written_outside_the_trusted_directory(tree, repo, tmp_path):
    before = sorted(path for path in tmp_path.rglob("*") if tree.directory not in path.parents)
    await ingest(tree, repo, added("../evil.py").encode())
    assert sorted(path for path in tmp_path.rglob("*") if tree.directory not in path.parents) == before


async def test_names_that_look_like_globs_or_options_are_taken_literally(tree, repo):
    taken = await ingest(tree, repo, (added("tests/-rf.py") + added("tests/[a]*.py")).encode())
    assert sorted(taken.files) == ["tests/-rf.py", "tests/[a]*.py"]
