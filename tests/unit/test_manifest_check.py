from pathlib import Path

import pytest

from harness.judging.languages.registry import LANGUAGES
from harness.judging.verify.intake import FileChange
from harness.judging.verify.manifest_check import check_manifest
from harness.judging.verify.neighbours import affected_tests
from harness.sandbox.git_tree import GitTree
from harness.specs.reasons import ReasonCode
from harness.specs.test_results import TestId

PYTHON = LANGUAGES.get("python")
OLD = b"def helper():\n    return 1\n\ndef test_kept():\n    assert 1\n\ndef test_changed():\n    assert 1\n"
NEW = OLD.replace(b"def test_changed():\n    assert 1", b"def test_changed():\n    assert 2 > 1") + (
    b"\ndef test_added():\n    assert helper()\n"
)
CHANGE = (FileChange("tests/test_x.py", OLD, NEW),)


def manifest(*names: str, file: str = "tests/test_x.py") -> bytes:
    return (f"- file: {file}\n  tests:\n" + "".join(f'    - "{name}"\n' for name in names)).encode()


def codes(data: bytes, changes=CHANGE) -> set[tuple[ReasonCode, str]]:
    return {(reason.code, reason.subject) for reason in check_manifest(data, changes, PYTHON).reasons}


def test_added_and_changed_tests_that_are_listed_pass_and_are_told_apart():
    check = check_manifest(manifest("test_added", "test_changed"), CHANGE, PYTHON)
    assert not check.reasons
    assert check.changed == {TestId("tests/test_x.py", "test_changed")}
    assert check.existing == (TestId("tests/test_x.py", "test_kept"),)


@pytest.mark.parametrize(
    ("names", "code", "subject"),
    [
        (("test_added",), ReasonCode.MANIFEST_UNLISTED_TEST, "tests/test_x.py::test_changed"),
        (("test_added", "test_changed", "test_none"), ReasonCode.MANIFEST_UNKNOWN_TEST, "tests/test_x.py::test_none"),
        (("test_added", "test_changed", "test_kept"), ReasonCode.MANIFEST_UNKNOWN_TEST, "tests/test_x.py::test_kept"),
        (("test_added", "test_changed", "helper"), ReasonCode.MANIFEST_NOT_A_TEST, "tests/test_x.py::helper"),
        (
            ("test_added", "test_changed", "test_аdded"),
            ReasonCode.MANIFEST_UNKNOWN_TEST,
            "tests/test_x.py::test_аdded",
        ),
    ],
)
def test_each_disagreement_has_its_own_code(names, code, subject):
    assert codes(manifest(*names)) == {(code, subject)}


def test_a_file_that_the_patch_does_not_touch_is_unknown():
    found = codes(manifest("test_a", file="tests/test_y.py"))
    assert (ReasonCode.MANIFEST_UNKNOWN_TEST, "tests/test_y.py::test_a") in found


def test_a_name_that_the_file_defines_twice_names_no_test():
    twice = (FileChange("tests/test_x.py", None, b"def test_a(): pass\ndef test_a(): pass\n"),)
    assert (ReasonCode.MANIFEST_DUPLICATE, "tests/test_x.py::test_a") in codes(manifest("test_a"), twice)


def test_deleting_an_existing_test_breaks_it():
    gone = (FileChange("tests/test_x.py", OLD, NEW.replace(b"def test_kept", b"def not_kept")),)
    assert (ReasonCode.EXISTING_TEST_BROKEN, "tests/test_x.py::test_kept") in codes(
        manifest("test_added", "test_changed"), gone
    )


def test_no_manifest_is_a_code_of_its_own():
    assert codes(b" ") == {(ReasonCode.MANIFEST_MISSING, "")}


@pytest.mark.parametrize(
    ("change", "reached"),
    [
        (FileChange("tests/conftest.py", None, b"x = 1"), {"tests/test_a.py", "tests/deep/test_b.py"}),
        (FileChange("tests/deep/conftest.py", None, b"x = 1"), {"tests/deep/test_b.py"}),
        (FileChange("tests/certs/key.pem", b"key", None), {"tests/test_a.py", "tests/deep/test_b.py"}),
        (FileChange("tests/deep/helper.py", b"old", b"new"), {"tests/deep/test_b.py"}),
        (FileChange("tests/new/conftest.py", None, b"x = 1"), set()),
        (FileChange("tests/helper.py", None, b"new"), set()),
        (FileChange("tests/__init__.py", None, b""), {"tests/test_a.py", "tests/deep/test_b.py"}),
        (FileChange("tests/locale.py", None, b""), {"tests/test_a.py", "tests/deep/test_b.py"}),  # the library's
        (FileChange("tests/clocks.py", None, b"new"), {"tests/deep/test_b.py"}),
        (FileChange("tests/clocks/__init__.py", None, b"new"), {"tests/deep/test_b.py"}),
        (FileChange("tests/wanted.py", None, b"new"), {"tests/test_a.py", "tests/deep/test_b.py"}),
        (FileChange("tests/cases/new.json", None, b"{}"), {"tests/deep/test_b.py"}),
        (FileChange("tests/unnamed/new.json", None, b"{}"), set()),
        (FileChange("tests/shown.txt", None, b"x"), {"tests/deep/test_b.py"}),
        (FileChange("tests/deep/shown.txt", None, b"x"), set()),
        (FileChange("tests/test_a.py", b"", b"def test_a(): pass"), set()),
    ],
)
async def test_changes_reach_the_tests_below_their_folder(tmp_path: Path, change, reached):
    for file in ("tests/test_a.py", "tests/deep/test_b.py", "lib/test_c.py"):
        place = tmp_path / "work" / file
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("def test_it():\n    assert 1\n")
    deep = "import clocks\nwords = Path(HERE / 'cases'), 'clocks/x', '../shown.txt'\n# unnamed wanted\n"
    (tmp_path / "work" / "tests" / "deep" / "test_b.py").write_text(f"{deep}def test_it():\n    assert 1\n")
    (tmp_path / "work" / "lib" / "product.py").write_text("from wanted import it\n")
    tree = await GitTree.create(tmp_path / "tree.git", tmp_path / "work")
    assert {test.file for test in await affected_tests(tree, (change,), PYTHON)} == reached


async def test_seeds_of_a_fuzz_test_reach_it(tmp_path: Path):
    """`go test` runs a fuzz test with all that lies in testdata/fuzz below its name."""
    for file, name in (("pack/seeds_test.go", "FuzzKept"), ("other/other_test.go", "FuzzKept")):
        place = tmp_path / "work" / file
        place.parent.mkdir(parents=True)
        place.write_text(f'package pack\n\nimport "testing"\n\nfunc {name}(f *testing.F) {{ f.Add(1) }}\n')
    tree = await GitTree.create(tmp_path / "tree.git", tmp_path / "work")
    go = LANGUAGES.get("go")
    for name, reached in (("FuzzKept", {"pack/seeds_test.go"}), ("FuzzMine", set())):
        seed = FileChange(f"pack/testdata/fuzz/{name}/one", None, b"go test fuzz v1\nint(1)\n")
        assert {test.file for test in await affected_tests(tree, (seed,), go)} == reached
