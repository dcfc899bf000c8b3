"""The runner's word on a file's tests, held against what its text shows."""

import pytest

from harness.judging.languages.found import TestFile, TestFunction
from harness.judging.languages.python.module_names import home
from harness.judging.verify.collected import as_collected


def function(name: str, text: bytes = b"") -> TestFunction:
    return TestFunction(name, 1, 2, text)


@pytest.mark.parametrize(
    ("collected", "tests", "hidden", "uncollected"),
    [
        ({"test_a", "test_b"}, ["test_a", "test_b"], set(), set()),
        ({"test_a"}, ["test_a"], set(), {"test_b"}),
        ({"test_a", "test_b", "test_c"}, ["test_a", "test_b", "test_c"], {"test_c"}, set()),
        ({"helper"}, ["helper"], {"helper"}, {"test_a", "test_b"}),
        (set(), [], set(), {"test_a", "test_b"}),
    ],
)
def test_a_file_has_the_tests_that_are_collected(
    collected: set[str], tests: list[str], hidden: set[str], uncollected: set[str]
) -> None:
    shown = TestFile((function("test_a", b"a"), function("test_b", b"b")), frozenset({"helper"}))
    found = as_collected(shown, frozenset(collected), [function(name) for name in sorted(collected)])
    assert [test.name for test in found.tests] == tests
    assert (found.hidden, found.uncollected) == (hidden, uncollected)
    assert found.others == ({"helper"} | uncollected) - hidden
    assert [test.text for test in found.tests if test.name in ("test_a", "test_b")] == [
        name[-1].encode() for name in tests if name in ("test_a", "test_b")
    ]


@pytest.mark.parametrize(
    ("text", "name", "changed", "module"),
    [
        ("from cases import TestA", "TestA.test_x", [], "cases"),
        ("from cases import TestMore as TestA", "TestA.test_x", [], "cases"),
        ("from cases import TestA", "TestA.test_x", ["tests/cases.py"], ""),
        ("from .cases import TestA", "TestA.test_x", ["tests/cases/__init__.py"], ""),
        ("from . import TestA", "TestA.test_x", [], "."),
        ("from . import TestA", "TestA.test_x", ["tests/__init__.py"], ""),
        ("from cases import *", "TestA.test_x", ["tests/test_a.py"], "cases"),
        ("from cases import *\nclass TestA(made()):\n    pass", "TestA.test_x", [], ""),
        ("from cases import made\nTestA = made()", "TestA.test_x", [], ""),
        ("globals()['test_a'] = f", "test_a", [], ""),
    ],
)
def test_the_home_of_a_test_is_a_module_that_the_patch_leaves_as_it_is(
    text: str, name: str, changed: list[str], module: str
) -> None:
    assert home(f"{text}\n".encode(), name, changed) == module
