"""Old tests of touched Python files: pytest's report tells whether their own functions ran."""

import asyncio
import os
import subprocess
import sys

import pytest

from harness.judging.languages.found import TestFile
from harness.judging.languages.protocol import TreeFiles
from harness.judging.languages.python.discovery import PythonRelatives
from harness.judging.languages.python.language import LANGUAGE
from harness.judging.languages.registry import DelegatingDiscovery
from harness.judging.testing.arm_job import TestRun, read_job
from harness.judging.verify.evidence import lost
from harness.judging.verify.intake import FileChange
from harness.judging.verify.manifest_check import survey
from harness.sandbox.protocol import JobResult
from harness.specs.variants import Arm, VariantKind

HEAD = b"""\
import functools
import sys
import unittest
from unittest import mock

import pytest

from base_of_tests import Base


def passes(*args):
    pass


def registers(cls):
    globals()["test_old"] = passes
    return cls


def wrapped(function):
    @functools.wraps(function)
    def inner(*args, **named):
        return function(*args, **named)
    return inner


def bare(function):
    def inner():
        return function()
    return inner
"""
OLD = b"""

def test_old():
    assert 1 == 1


class TestC:
    def test_m(self):
        assert 2 == 2


@pytest.mark.parametrize(
    "n",
    [1, 2],
)
@wrapped
def test_cases(n):
    assert n


@bare
def test_bare():
    assert 3 == 3


@mock.patch("os.getcwd")
def test_patched(getcwd):
    assert getcwd


class TestInherits(Base):
    @staticmethod
    def test_static():
        assert 4 == 4


class UnitTest(unittest.TestCase):
    @unittest.skipIf(False, "")
    def test_unit(self):
        self.assertTrue(True)
"""
NAMES = {
    "test_old", "TestC.test_m", "test_cases", "test_bare", "test_patched", "TestInherits.test_static",
    "TestInherits.test_base", "UnitTest.test_unit",
}  # fmt: skip
BASE = b"class Base:\n    def test_base(self):\n        assert 5 == 5\n"
OTHERS = b"def test_old():\n    pass\n\n\nclass TestC:\n    def test_m(self):\n        pass\n"
BEHIND = {
    "alias": "test_old = passes",
    "setattr": 'setattr(TestC, "test_m", lambda self: None)',
    "setattr_in_loop": 'for _n in [n for n in vars(TestC) if n.startswith("test")]:\n    setattr(TestC, _n, passes)',
    "attribute": "TestC.test_m = lambda self: None",
    "import_from": "from others import test_old",
    "star": "from others import *",
    "imported_class": "from others import TestC",
    "loop": "for test_old in [passes]:\n    pass",
    "with": "import contextlib\nwith contextlib.nullcontext(passes) as test_old:\n    pass",
    "walrus": "(test_old := passes)",
    "tuple": "test_old, x = passes, 1",
    "chain": "x = test_old = passes",
    "global": "def _f():\n    global test_old\n    def test_old(): pass\n_f()",
    "decorated_class": "@registers\nclass Helper:\n    pass",
    "match": "match [passes]:\n    case [test_old]:\n        pass",
    "module": "sys.modules[__name__].test_old = passes",
    "code": "test_old.__code__ = passes.__code__",
    "inherited_one": "TestInherits.test_base = passes",
    "deleted": "del test_old",
    "caught": "try:\n    raise ValueError\nexcept ValueError as test_old:\n    pass",
}
HONEST = {
    "nothing": b"",
    "new_test": b"\n\ndef test_new():\n    assert 6 == 6\n\n\nclass TestD(TestC):\n    pass\n",
    "data": b"\n\nDATA = [1]\nfor _each in DATA:\n    setattr(TestC, 'size', _each)\nTestC.names = DATA\n",
}


class WithBase(DelegatingDiscovery):
    """Discovery that knows the file of `Base`."""

    def discover(self, source: bytes, path: str) -> TestFile:
        base = "base_of_tests.py"
        return PythonRelatives(TreeFiles({base, path}, {base: BASE})).discover(source, path)


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[bytes, bytes]]:
    """Return by the name of a file its text after a change, and what pytest reports of it; `before` has none."""
    tree = tmp_path_factory.mktemp("tree")
    texts = {"before": HEAD + OLD} | {name: HEAD + OLD + f"\n\n{text}\n".encode() for name, text in BEHIND.items()}
    texts |= {f"honest_{name}": HEAD + OLD + text for name, text in HONEST.items()}
    texts["honest_moved"] = HEAD + b"\n\ndef test_first():\n    assert 7 == 7\n" + OLD
    for name, text in {"base_of_tests": BASE, "others": OTHERS}.items():
        (tree / f"{name}.py").write_bytes(text)
    for name, text in texts.items():
        (tree / f"test_{name}.py").write_bytes(text)
    options = ("-q", "-p", "no:cacheprovider", "-o", "junit_family=xunit1", "--rootdir=.", "--junit-xml=out.xml")
    env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    subprocess.run([sys.executable, "-m", "pytest", *options], cwd=tree, env=env, check=False, capture_output=True)
    report = (tree / "out.xml").read_bytes()
    return {name: (text, report) for name, text in texts.items()}


def broken(name: str, reports: dict[str, tuple[bytes, bytes]]) -> set[str]:
    """Return the old tests that pass before a change and are lost after it, by reports of both."""
    text, report = reports[name]
    file = f"test_{name}.py"
    [found] = survey((FileChange(file, HEAD + OLD, text),), WithBase(LANGUAGE.discovery))
    tests = tuple(found.kept)
    module = file.removesuffix(".py").encode()
    before = report.replace(module, b"test_gone").replace(b"test_before", module)
    arms = []
    for data, places in ((before, found.before), (report, found.after)):
        run = TestRun(tests, {}, frozenset(), (), (), 10, places=places)
        result = JobResult(0, False, False, b"", {"1.xml": data}, True, 1.0)
        reading = asyncio.run(read_job("junit", run, (), result))
        arms.append(Arm(VariantKind.BASELINE, reading.status, 0, reading.results, 1.0))
    assert {item.test.name for item in arms[0].results if item.outcome == "passed"} == NAMES
    return {test.name for test in lost(*arms)}


@pytest.mark.parametrize("name", BEHIND)
def test_what_stands_under_the_name_of_an_old_test_is_not_that_test(name, reports):
    found = broken(name, reports)
    assert found
    assert found <= {"test_old", "TestC.test_m", "TestInherits.test_base"}


@pytest.mark.parametrize("name", [*(f"honest_{name}" for name in HONEST), "honest_moved"])
def test_honest_tests_run_where_they_stand(name, reports):
    assert broken(name, reports) == set()
