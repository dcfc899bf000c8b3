"""Tests that a class inherits from another file's class: which are found, and which a manifest must list."""

import contextlib
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.judging.languages.found import MAX_FUNCTIONS, TestFile, TestFunction, TooMuchToRead
from harness.judging.languages.protocol import TreeFiles
from harness.judging.languages.python.bases import MAX_ANCESTORS
from harness.judging.languages.python.discovery import PythonRelatives
from harness.judging.languages.registry import LANGUAGES
from harness.judging.verify.intake import FileChange, ingest
from harness.judging.verify.manifest_check import ManifestCheck, check_manifest
from harness.judging.verify.suite_checks import holds, without_check
from harness.judging.verify.suite_reader import with_inherited
from harness.plugins.published.seen_tests import SeenTests
from harness.sandbox.git_tree import GitTree
from harness.specs.reasons import ReasonCode
from harness.specs.rubric import Quantifier, StaticCheck, StaticKind
from harness.specs.test_results import TestId
from tests.support.small_task import small_task

PYTHON = LANGUAGES.get("python")
MIXIN = b"class Shared:\n    def test_shared(self):\n        assert self.value\n    def helper(self):\n        pass\n"
HEIR = b"class TestHeir(Shared):\n    value = 1\n    def test_own(self):\n        assert self.value\n"
CASE = b"import unittest\nclass Case(unittest.TestCase):\n    def test_case(self):\n        pass\n"
TREES = {
    "a package's own file": {"tests/__init__.py": MIXIN, "tests/test_x.py": b"from . import Shared\n" + HEIR},
    "a helper beside it": {"tests/shared.py": MIXIN, "tests/test_x.py": b"from shared import Shared\n" + HEIR},
    "another test file": {
        "tests/__init__.py": b"", "tests/test_a.py": MIXIN,
        "tests/test_x.py": b"from tests.test_a import Shared\n" + HEIR,
    },
    "under another name": {
        "tests/__init__.py": b"", "tests/shared.py": MIXIN.replace(b"Shared", b"Other"),
        "tests/test_x.py": b"from .shared import Other as Shared\n" + HEIR,
    },
    "by its module": {
        "tests/__init__.py": b"", "tests/shared.py": MIXIN,
        "tests/test_x.py": b"from tests import shared\n" + HEIR.replace(b"(Shared", b"(shared.Shared"),
    },
    "by its whole name": {
        "tests/__init__.py": b"", "tests/shared.py": MIXIN,
        "tests/test_x.py": b"import tests.shared\n" + HEIR.replace(b"(Shared", b"(tests.shared.Shared"),
    },
    "by a module's other name": {
        "tests/__init__.py": b"", "tests/shared.py": MIXIN,
        "tests/test_x.py": b"import tests.shared as given\n" + HEIR.replace(b"(Shared", b"(given.Shared"),
    },
    "passed on": {
        "tests/__init__.py": b"", "tests/parts/__init__.py": b"from .shared import Shared\n",
        "tests/parts/shared.py": MIXIN, "tests/test_x.py": b"from .parts import Shared\n" + HEIR,
    },
    "everything of a file": {
        "tests/__init__.py": b"", "tests/shared.py": MIXIN, "tests/test_x.py": b"from .shared import *\n" + HEIR,
    },
    "a folder above": {
        "tests/__init__.py": MIXIN, "tests/unit/__init__.py": b"",
        "tests/unit/test_x.py": b"from .. import Shared\n" + HEIR,
    },
    "through a class between": {
        "tests/__init__.py": b"", "tests/shared.py": MIXIN,
        "tests/between.py": b"from .shared import Shared\nclass Between(Shared):\n    def test_between(self): pass\n",
        "tests/test_x.py": b"from .between import Between as Shared\n" + HEIR,
    },
    "with a class of its own of that name elsewhere": {
        "tests/__init__.py": b"", "tests/shared.py": MIXIN + b"class TestHeir:\n    def test_else(self): pass\n",
        "tests/test_x.py": b"from .shared import Shared\n" + HEIR,
    },
    "a method of its own": {
        "tests/__init__.py": MIXIN,
        "tests/test_x.py": b"from . import Shared\n" + HEIR.replace(b"test_own", b"test_shared"),
    },
    "no test any more": {
        "tests/__init__.py": MIXIN, "tests/test_x.py": b"from . import Shared\n" + HEIR + b"    test_shared = None\n",
    },
    "a TestCase of another file": {
        "tests/__init__.py": b"", "tests/case.py": CASE,
        "tests/test_x.py": b"from .case import Case\nclass Sums(Case):\n    def test_own(self): pass\ndel Case\n",
    },
    "with what it is made for": {
        "tests/__init__.py": b"",
        "tests/shared.py": b"from typing import Generic, TypeVar\nT = TypeVar('T')\n"
        + MIXIN.replace(b"Shared", b"Shared(Generic[T])"),
        "tests/test_x.py": b"from .shared import Shared\n" + HEIR.replace(b"(Shared", b"(Shared[int]"),
    },
    "where an import fails": {
        "tests/__init__.py": b"", "tests/shared.py": MIXIN,
        "tests/test_x.py": b"try:\n    from .shared import Shared\nexcept ImportError:\n"
        b"    from .none import Shared\n" + HEIR,
    },
    "a class within another has that name": {
        "tests/__init__.py": MIXIN,
        "tests/test_x.py": b"from . import Shared\nclass Z:\n    class Shared: pass\n" + HEIR,
    },
    "a class within another": {
        "tests/__init__.py": b"class Outer:\n" + b"".join(b"    " + line + b"\n" for line in MIXIN.splitlines()),
        "tests/test_x.py": b"from . import Outer\n" + HEIR.replace(b"(Shared", b"(Outer.Shared"),
    },
    "a base that wants no collecting": {
        "tests/__init__.py": b"class Off:\n    __test__ = False\n    def test_off(self): pass\n",
        "tests/test_x.py": b"from . import Off\nclass TestOff(Off): pass\nclass TestOn(Off):\n    __test__ = True\n",
    },
    "another name for a class": {
        "tests/__init__.py": MIXIN,
        "tests/test_x.py": b"import tests\nBase = tests.Shared\n" + HEIR.replace(b"(Shared", b"(Base"),
    },
    "a class of its own name": {
        "tests/__init__.py": MIXIN.replace(b"Shared", b"TestHeir"),
        "tests/test_x.py": b"from . import TestHeir\n" + HEIR.replace(b"(Shared", b"(TestHeir"),
    },
    "spaces and brackets": {
        "tests/__init__.py": b"", "tests/shared.py": MIXIN,
        "tests/test_x.py": b"from . shared import Shared\n" + HEIR.replace(b"(Shared", b"((Shared)"),
    },
    "in Python's order": {
        "tests/__init__.py": b"class Root:\n    test_shared = None\n" + MIXIN.replace(b"Shared", b"Shared(Root)")
        + b"class Mid(Root): pass\n",
        "tests/test_x.py": b"from . import Mid, Shared\n" + HEIR.replace(b"(Shared", b"(Mid, Shared"),
    },
    "below src": {
        "src/pkg/__init__.py": b"", "src/pkg/testing.py": MIXIN,
        "tests/test_x.py": b"from pkg.testing import Shared\n" + HEIR,
    },
    "TestCase under another name": {
        "tests/test_x.py": b"import unittest\nfrom unittest import TestCase as TC\nBase = unittest.TestCase\n"
        b"class Names(TC):\n    def test_a(self): pass\nclass Other(Base):\n    def test_b(self): pass\n",
    },
    "classes that have a constructor": {
        "tests/test_x.py": b"import dataclasses\nfrom dataclasses import dataclass\nfrom typing import NamedTuple\n"
        b"class TestServer:\n    def __init__(self, port=1): pass\n    def test_connection(self): pass\n"
        b"class TestLater(TestServer):\n    def test_more(self): pass\n"
        b"@dataclass\nclass TestData:\n    x: int = 1\n    def test_value(self): pass\n"
        b"@dataclasses.dataclass(frozen=True)\nclass TestFrozen:\n    x: int = 1\n    def test_value(self): pass\n"
        b"class TestPair(NamedTuple):\n    x: int = 1\n    def test_value(self): pass\ndef test_it(): pass\n",
    },
    "a constructor within a test case, and one that never is": {
        "tests/test_x.py": b"import unittest\nclass Case(unittest.TestCase):\n"
        b"    def __init__(self, *given): super().__init__(*given)\n    def test_a(self): pass\n"
        b"class TestPlain:\n    if False:\n        def __init__(self): pass\n    def test_b(self): pass\n",
    },
    "in loops and matches": {
        "tests/test_x.py": b"for each in (1,):\n    def test_in_for(): pass\nwhile True:\n"
        b"    def test_in_while(): pass\n    break\nmatch 1:\n    case 1:\n        def test_in_match(): pass\n",
    },
    "made by lambda": {"tests/test_x.py": b"test_made = lambda: None\ntest_size = 3\ndef test_it(): pass\n"},
    "letters that stand for others": {
        "tests/test_x.py": "def test_\u00b5s(): pass\ndef \uff54est_wide(): pass\nclass \uff34estCase:\n"
        "    def test_\ufb01t(self): pass\n".encode(),
    },
    "imported from a helper": {
        "tests/shared.py": b"def test_far(): pass\ndef test_other(): pass\ndef check(): pass\n",
        "tests/test_x.py": b"from shared import check, test_far, test_other as test_named, test_other as other\n",
    },
    "everything imported": {
        "tests/shared.py": b"def test_far(): pass\ndef test_near(): pass\n",
        "tests/test_x.py": b"from shared import *\ndef test_near(): assert 1\n",
    },
}  # fmt: skip


def relatives(files: Mapping[str, bytes], known: Mapping[str, bytes] | None = None) -> PythonRelatives:
    return PythonRelatives(TreeFiles(files.keys(), files if known is None else known))


COLLECTOR = """
import gc, os, sys
import pytest

def collect(folder, path):
    options = ["--collect-only", "-q", "-p", "no:cacheprovider", "-c", "/dev/null"]
    return pytest.main([*options, "--rootdir", folder, path])

collect(".", ".")  # here is none: what pytest imports is there before it is asked
gc.freeze()
gc.disable()
for folder, path in zip(sys.argv[1::2], sys.argv[2::2]):
    if child := os.fork():
        os.waitpid(child, 0)
        continue
    os.chdir(folder)
    os.environ["PYTHONPATH"] = f"{folder}/src"
    sys.path.insert(1, f"{folder}/src")
    told = os.open("../told-of-" + os.path.basename(folder), os.O_WRONLY | os.O_CREAT)
    os.dup2(told, 1)
    os.dup2(told, 2)
    collect(folder, path)
    sys.stdout.flush()
    os._exit(0)
"""
"""pytest in a process for each tree, as no module of another tree may be there; imported once for all."""


BARE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def path_of(files: Mapping[str, bytes]) -> str:
    return max(files, key=lambda path: path.endswith("test_x.py"))


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """Return what pytest itself collects in each tree."""
    place = tmp_path_factory.mktemp("trees")
    (place / "none").mkdir()
    words: list[str] = []
    for number, files in enumerate(TREES.values()):
        for name, text in files.items():
            (place / str(number) / name).parent.mkdir(parents=True, exist_ok=True)
            (place / str(number) / name).write_bytes(text)
        words += [str(place / str(number)), path_of(files)]
    subprocess.run([sys.executable, "-c", COLLECTOR, *words], cwd=place / "none", env=BARE, check=True)
    told = [(place / f"told-of-{number}").read_text() for number in range(len(TREES))]
    lines = [[line for line in text.splitlines() if "::" in line] for text in told]
    assert all(lines), told
    return {
        name: {line.partition("::")[2].replace("::", ".") for line in found}
        for name, found in zip(TREES, lines, strict=True)
    }


@pytest.mark.parametrize("name", TREES)
def test_a_class_has_the_tests_that_pytest_collects_for_it(collected: dict[str, set[str]], name: str) -> None:
    files = TREES[name]
    path = path_of(files)
    found = relatives(files).discover(files[path], path)
    assert {test.name for test in found.tests} == collected[name]
    assert not relatives(files).missing(files[path], path)


def test_an_inherited_test_has_its_text_and_lines_and_says_whose_they_are() -> None:
    files = TREES["passed on"]
    found = relatives(files).discover(files["tests/test_x.py"], "tests/test_x.py")
    shared, own = found.find("TestHeir.test_shared"), found.find("TestHeir.test_own")
    assert shared
    assert own
    assert (shared.origin, shared.first_line, shared.assertions) == ("tests/parts/shared.py", 2, 1)
    assert shared.text == b"def test_shared(self):\n        assert self.value"
    assert own.origin == ""
    assert found.others == {"TestHeir"}


def test_files_that_bases_may_be_in_are_asked_for_until_all_are_known() -> None:
    files = TREES["through a class between"]
    known: dict[str, bytes] = {}
    asked = []
    while wanted := relatives(files, known).missing(files["tests/test_x.py"], "tests/test_x.py"):
        asked.append(sorted(wanted))
        known |= {path: files[path] for path in wanted}
    assert asked == [["tests/__init__.py", "tests/between.py"], ["tests/shared.py"]]


def test_files_that_import_one_another_end() -> None:
    files = {f"tests/a{n}.py": f"from .a{1 - n} import *\nfrom .a{1 - n} import Base\n".encode() for n in (0, 1)}
    files["tests/test_x.py"] = (
        b"from .a0 import Base, Shared\nclass TestX(Base, Shared):\n    def test_a(self): pass\n"
    )
    found = relatives(files).discover(files["tests/test_x.py"], "tests/test_x.py")
    assert [test.name for test in found.tests] == ["TestX.test_a"]


def test_no_more_files_are_read_than_an_honest_class_needs() -> None:
    files = {
        f"tests/a{n}.py": f"from .a{n + 1} import Base as B\nclass Base(B):\n    def test_{n}(self): pass\n".encode()
        for n in range(200)
    }
    files["tests/test_x.py"] = b"from .a0 import Base\nclass TestX(Base):\n    pass\n"
    found = relatives(files).discover(files["tests/test_x.py"], "tests/test_x.py")
    assert len(found.tests) == MAX_ANCESTORS - 1


def test_many_heirs_of_many_tests_are_too_much_to_read() -> None:
    each = 200
    mixin = b"class Base:\n" + b"".join(b"    def test_%d(self): pass\n" % n for n in range(each))
    heirs = b"".join(b"class Test%d(Base): pass\n" % n for n in range(MAX_FUNCTIONS // each + 1))
    files = {"tests/__init__.py": mixin, "tests/test_x.py": b"from . import Base\n" + heirs}
    with pytest.raises(TooMuchToRead, match="more than 20000 test functions"):
        relatives(files).discover(files["tests/test_x.py"], "tests/test_x.py")


ROOT_FIRST = {
    "tests/__init__.py": MIXIN,
    "tests/mine.py": b"class Root:\n    def test_shared(self):\n        slow()\nclass Mid(Root): pass\n",
    "tests/test_x.py": b"from . import Shared\nfrom .mine import Mid\n" + HEIR.replace(b"(Shared", b"(Mid, Shared"),
}


def test_the_text_of_a_test_is_that_of_the_class_that_python_would_ask_first() -> None:
    found = (
        relatives(ROOT_FIRST).discover(ROOT_FIRST["tests/test_x.py"], "tests/test_x.py").find("TestHeir.test_shared")
    )
    assert found
    assert found.origin == "tests/mine.py"


@pytest.mark.parametrize("changed", ["tests/first.py", "tests/last.py"])
def test_of_two_meanings_of_a_name_the_patchs_own_is_read(changed: str) -> None:
    files = {
        "tests/__init__.py": b"", "tests/first.py": MIXIN, "tests/last.py": MIXIN.replace(b"helper", b"test_more"),
        "tests/test_x.py": b"if old:\n    from .first import Shared\nelse:\n    from .last import Shared\n" + HEIR,
    }  # fmt: skip
    found = PythonRelatives(TreeFiles(files.keys(), files, {changed})).discover(
        files["tests/test_x.py"], "tests/test_x.py"
    )
    assert {test.name for test in found.tests} == {"TestHeir.test_own", "TestHeir.test_shared", "TestHeir.test_more"}
    shared = found.find("TestHeir.test_shared")
    assert shared
    assert shared.origin == changed


MANY = 3_000
HOSTILE = {
    "names times stars": b"".join(b"from .a%d import *\n" % n for n in range(MANY))
    + b"".join(b"class T%d(B%d): pass\n" % (n, n) for n in range(MANY)),
    "names that stand for names": b"".join(b"B%d = B%d\n" % (n, n + 1) for n in range(MANY)) + b"class T(B0): pass\n",
    "a lattice of classes": b"class A0: pass\nclass B0: pass\n"
    + b"".join(b"class %c%d(A%d, B%d): pass\n" % (c, n, n - 1, n - 1) for n in range(1, MANY) for c in b"AB"),
    "classes upside down": b"".join(b"class A%d(A%d): pass\n" % (n, n + 1) for n in range(MANY)),
    "names times folders": b"".join(b"import x%d\nclass T%d(x%d.B): pass\n" % (n, n, n) for n in range(MANY)),
    "many meanings": b"".join(b"B = C%d.D\nC%d = B\n" % (n, n) for n in range(MANY)) + b"class T(B): pass\n",
    "long dotted names": b"import " + b"a." * 100_000 + b"b\n" + b"class T(" + b"a." * 100_000 + b"b): pass\n",
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_read_in_little_time_or_refused(name: str) -> None:
    files = {f"tests/a{n}.py": b"" for n in range(MANY)} | {"tests/test_x.py": HOSTILE[name]}
    path = "d/" * 1_000 + "test_x.py" if name == "names times folders" else "tests/test_x.py"
    began = time.process_time()
    with contextlib.suppress(TooMuchToRead):
        relatives(files).discover(HOSTILE[name], path)
    assert time.process_time() - began < 20


async def tree_of(tmp_path: Path, files: dict[str, bytes]) -> GitTree:
    for name, text in files.items():
        (tmp_path / "work" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "work" / name).write_bytes(text)
    return await GitTree.create(tmp_path / "git", tmp_path / "work")


async def check(tmp_path: Path, before: dict[str, bytes], changed: dict[str, bytes], *listed: str) -> ManifestCheck:
    """What a manifest that lists these tests of tests/test_x.py comes to."""
    changes = tuple(FileChange(path, before.get(path), text) for path, text in sorted(changed.items()))
    language = await with_inherited(await tree_of(tmp_path, before), changes, PYTHON)
    manifest = "- file: tests/test_x.py\n  tests:\n" + "".join(f'    - "{name}"\n' for name in listed)
    return check_manifest(manifest.encode(), changes, language)


def said(found: ManifestCheck) -> set[tuple[ReasonCode, str]]:
    return {(reason.code, reason.subject.partition("::")[2]) for reason in found.reasons}


UPSTREAM = {"tests/__init__.py": MIXIN, "tests/test_old.py": b""}
NEW_HEIR = {"tests/test_x.py": b"from . import Shared\n" + HEIR}


def changing(path: str, old: bytes, new: bytes) -> bytes:
    """A patch of one file, all of whose lines it exchanges."""
    gone, come = old.splitlines(keepends=True), new.splitlines(keepends=True)
    head = f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1,{len(gone)} +1,{len(come)} @@\n"
    return b"".join([head.encode(), *(b"-" + line for line in gone), *(b"+" + line for line in come)])


@pytest.mark.dear("reads 500 files, as they were and as they are")
@pytest.mark.parametrize("count", [480, 500, 501])
async def test_all_files_that_a_patch_may_have_are_read_and_one_more_is_refused_for_that(
    tmp_path: Path, count: int
) -> None:
    old, new = b"class TestOld:\n    pass\n", b"from shared import Shared\n" + HEIR + b"class TestOld:\n    pass\n"
    paths = [f"tests/test_{number}.py" for number in range(count)]
    tree = await tree_of(tmp_path, {"tests/shared.py": MIXIN, **dict.fromkeys(paths, old)})
    intake = await ingest(
        tree, small_task(tmp_path / "task").repo, b"".join(changing(path, old, new) for path in paths)
    )
    if count > 500:
        said = [(reason.code, reason.words) for reason in intake.reasons]
        assert said == [(ReasonCode.PATCH_TOO_LARGE, "the patch touches more than 500 files")]
        return
    assert len(intake.changes) == count
    language = await with_inherited(tree, intake.changes, PYTHON)
    listed = "".join(f"- file: {path}\n  tests: [TestHeir.test_own]\n" for path in paths)
    found = check_manifest(listed.encode(), intake.changes, language)
    assert not found.reasons
    assert len(found.tests) == count


async def test_what_a_new_class_inherits_of_the_tree_may_be_listed_and_need_not_be(tmp_path: Path) -> None:
    both = await check(tmp_path / "both", UPSTREAM, NEW_HEIR, "TestHeir.test_own", "TestHeir.test_shared")
    assert not both.reasons
    assert len(both.tests) == 2
    own = await check(tmp_path / "own", UPSTREAM, NEW_HEIR, "TestHeir.test_own")
    assert not own.reasons


async def test_a_test_by_another_spelling_of_its_name_is_the_same_test(tmp_path: Path) -> None:
    before = {"tests/test_x.py": b"def test_old():\n    assert 1\n"}
    micro = before["tests/test_x.py"] + "def test_\u00b5s():\n    assert 1\n".encode()
    for listed in ("test_\u00b5s", "test_\u03bcs"):
        found = await check(tmp_path / str(ord(listed[5])), before, {"tests/test_x.py": micro}, listed)
        assert not found.reasons
        assert found.tests == (TestId("tests/test_x.py", "test_\u03bcs"),)
    twice = before["tests/test_x.py"] + "def \uff54est_old():\n    pass\ndef test_new():\n    assert 1\n".encode()
    cheat = await check(tmp_path / "twice", before, {"tests/test_x.py": twice}, "test_new")
    assert cheat.reasons
    assert {reason.subject.partition("::")[2] for reason in cheat.reasons} == {"test_old"}


async def test_a_test_imported_from_a_helper_may_be_listed(tmp_path: Path) -> None:
    shared = b"def test_far():\n    assert value() == 1\n"
    tree, patch = {"tests/shared.py": shared}, {"tests/test_x.py": b"from shared import test_far\n"}
    of_the_tree = await check(tmp_path / "a", tree, patch, "test_far")
    assert not of_the_tree.reasons
    own = await check(tmp_path / "b", {"README": b""}, {**tree, **patch}, "test_far")
    assert not own.reasons
    unknown = await check(tmp_path / "c", tree, patch, "test_far", "test_near")
    assert said(unknown) == {(ReasonCode.MANIFEST_UNKNOWN_TEST, "test_near")}


async def test_what_it_inherits_of_the_patch_must_be_listed(tmp_path: Path) -> None:
    changed = {"tests/shared.py": MIXIN, "tests/test_x.py": b"from tests.shared import Shared\n" + HEIR}
    both = await check(tmp_path / "a", {"README": b""}, changed, "TestHeir.test_own", "TestHeir.test_shared")
    assert not both.reasons
    left_out = await check(tmp_path / "b", {"README": b""}, changed, "TestHeir.test_own")
    assert said(left_out) == {(ReasonCode.MANIFEST_UNLISTED_TEST, "TestHeir.test_shared")}


async def test_a_test_that_the_class_had_before_is_not_the_patchs(tmp_path: Path) -> None:
    before = {**UPSTREAM, "tests/test_x.py": b"from . import Shared\n" + HEIR}
    changed = {"tests/test_x.py": before["tests/test_x.py"] + b"    def test_new(self):\n        assert 1\n"}
    found = await check(tmp_path / "a", before, changed, "TestHeir.test_new", "TestHeir.test_shared")
    assert said(found) == {(ReasonCode.MANIFEST_UNKNOWN_TEST, "TestHeir.test_shared")}
    assert "was there before" in found.reasons[0].words
    kept = await check(tmp_path / "b", before, changed, "TestHeir.test_new")
    assert not kept.reasons
    assert TestId("tests/test_x.py", "TestHeir.test_shared") in kept.existing


async def test_a_test_added_to_a_mixin_of_the_tree_belongs_to_the_changed_files_classes(tmp_path: Path) -> None:
    before = {**UPSTREAM, "tests/test_x.py": b"from . import Shared\n" + HEIR}
    more = MIXIN + b"    def test_more(self):\n        assert self.value\n"
    changed = {"tests/__init__.py": more, "tests/test_x.py": before["tests/test_x.py"] + b"    other = 2\n"}
    assert not (await check(tmp_path / "a", before, changed, "TestHeir.test_more")).reasons
    other = await check(tmp_path / "b", before, changed, "TestHeir.test_none")
    assert said(other) == {
        (ReasonCode.MANIFEST_UNKNOWN_TEST, "TestHeir.test_none"),
        (ReasonCode.MANIFEST_UNLISTED_TEST, "TestHeir.test_more"),
    }


OLD_HEIR = {**UPSTREAM, "tests/test_x.py": b"from . import Shared\n" + HEIR}
NEW_TEST = b"    def test_new(self):\n        assert 1\n"
BROKEN = {
    "its own text for an inherited one": (
        {**UPSTREAM, "tests/test_x.py": b"class TestHeir:\n    def test_shared(self):\n        assert 2\n"},
        {"tests/test_x.py": b"from . import Shared\nclass TestHeir(Shared):\n" + NEW_TEST},
        "TestHeir.test_shared",
    ),
    "for that of a class that never is": (
        {**UPSTREAM, "tests/test_x.py": b"class TestHeir:\n    def test_shared(self):\n        assert 2\n"},
        {
            "tests/test_x.py": b"from . import Shared\nif False:\n    class TestHeir(Shared): pass\n"
            b"class TestNew:\n" + NEW_TEST,
        },
        "TestHeir.test_shared",
    ),
    "the base": (
        OLD_HEIR, {"tests/test_x.py": HEIR.replace(b"(Shared)", b"") + NEW_TEST}, "TestHeir.test_shared",
    ),
    "the test of the base": (
        OLD_HEIR,
        {
            "tests/__init__.py": MIXIN.replace(b"test_shared", b"shared"),
            "tests/test_x.py": OLD_HEIR["tests/test_x.py"] + NEW_TEST,
        },
        "TestHeir.test_shared",
    ),
}  # fmt: skip


@pytest.mark.parametrize("gone", BROKEN)
async def test_an_inherited_test_that_a_patch_takes_away_is_an_existing_test_broken(
    tmp_path: Path, gone: str
) -> None:
    before, changed, test = BROKEN[gone]
    new = "TestNew.test_new" if gone.startswith("for that") else "TestHeir.test_new"
    assert said(await check(tmp_path, before, changed, new)) == {(ReasonCode.EXISTING_TEST_BROKEN, test)}


async def test_what_was_read_once_is_not_refused_when_it_is_read_again(tmp_path: Path, monkeypatch) -> None:
    text = b"".join(b"class TestA%d(TestA%d):\n    def test_a(self): pass\n" % (n, (n + 1) % 20) for n in range(20))
    changes = (FileChange("tests/test_x.py", None, text),)
    language = await with_inherited(await tree_of(tmp_path, {"README": b""}), changes, PYTHON)
    found = language.discovery.discover(text, "tests/test_x.py")
    monkeypatch.setattr("harness.judging.languages.python.bases.MAX_STEPS", 0)
    with pytest.raises(TooMuchToRead):
        relatives({}).discover(text, "tests/test_x.py")
    assert language.discovery.discover(text, "tests/test_x.py") == found


async def test_what_a_reader_has_seen_is_not_read_again(tmp_path: Path) -> None:
    text = b"for n in range(3):\n    globals()[f'test_{n}'] = print\n"
    changes = (FileChange("tests/test_x.py", None, text),)
    language = await with_inherited(await tree_of(tmp_path, {"README": b""}), changes, PYTHON)
    seen = SeenTests(language.discovery, {("tests/test_x.py", text): TestFile((TestFunction("test_1", 1, 2, b""),))})
    assert [test.name for test in seen.discover(text, "tests/test_x.py").tests] == ["test_1"]


async def test_a_mixin_that_the_patch_removes_has_no_tests_any_more(tmp_path: Path) -> None:
    before = {"tests/__init__.py": b"", "tests/shared.py": MIXIN}
    language = await with_inherited(
        await tree_of(tmp_path, before),
        (
            FileChange("tests/shared.py", MIXIN, None),
            FileChange("tests/test_x.py", None, b"from .shared import Shared\n" + HEIR),
        ),
        PYTHON,
    )
    found = language.discovery.discover(b"from .shared import Shared\n" + HEIR, "tests/test_x.py")
    assert [test.name for test in found.tests] == ["TestHeir.test_own"]


async def test_upstreams_text_meets_no_static_criterion_and_can_break_one(tmp_path: Path) -> None:
    before = {"tests/__init__.py": MIXIN.replace(b"assert self.value", b"wanted()\n        slow()")}
    (change,) = (FileChange("tests/test_x.py", None, NEW_HEIR["tests/test_x.py"]),)
    language = await with_inherited(await tree_of(tmp_path, before), (change,), PYTHON)
    test = TestId("tests/test_x.py", "TestHeir.test_shared")

    def answer(kind: StaticKind, name: str) -> bool:
        check = StaticCheck(check=kind, value=name, of=Quantifier.ANY)
        return holds(check, [test], [change], language.discovery)

    assert not answer(StaticKind.USES_NAME, "wanted")
    assert answer(StaticKind.USES_NAME, "Shared")
    assert not answer(StaticKind.CALL_ABSENT, "slow")
    assert answer(StaticKind.CALL_ABSENT, "wanted_not")


async def test_whether_an_inherited_test_checks_anything_is_read_where_it_stands(tmp_path: Path) -> None:
    for name, body, unchecked in (("checks", b"assert self.value", 0), ("nothing", b"self.value", 1)):
        before = {"tests/__init__.py": MIXIN.replace(b"assert self.value", body)}
        changes = (
            FileChange("tests/data.py", None, b"def other():\n    pass\n"),
            FileChange("tests/test_x.py", None, NEW_HEIR["tests/test_x.py"]),
        )
        language = await with_inherited(await tree_of(tmp_path / name, before), changes, PYTHON)
        tests = [TestId("tests/test_x.py", "TestHeir.test_shared")]
        assert len(without_check(tests, changes, language)) == unchecked
