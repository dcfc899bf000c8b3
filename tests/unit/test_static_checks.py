"""What is read off a submission's text: whether a name is used, whether a call is absent."""

import pytest

from harness.judging.languages.c import discovery as c_discovery
from harness.judging.languages.python import discovery
from harness.judging.verify.intake import FileChange
from harness.judging.verify.suite_checks import holds
from harness.specs.rubric import Quantifier, StaticCheck, StaticKind
from harness.specs.test_results import TestId

FILE = "tests/test_a.py"
WITH_CASES = b"""
import pytest

@pytest.mark.parametrize("n", [1, 2])
def test_numbers(n):
    assert n
"""
WITH_SUBTESTS = b"""
import unittest
from time import sleep

class Numbers(unittest.TestCase):
    def test_numbers(self):
        for n in (1, 2):
            with self.subTest(n=n):
                sleep(n)
"""


def check(source: bytes, kind: StaticKind, value: str) -> bool:
    tests = [TestId(FILE, test.name) for test in discovery.discover(source, FILE).tests]
    assert tests
    static = StaticCheck(check=kind, value=value, of=Quantifier.ALL)
    return holds(static, tests, [FileChange(FILE, old=None, new=source)], discovery)


@pytest.mark.parametrize("source", [WITH_CASES, WITH_SUBTESTS])
def test_one_of_several_names_is_enough(source: bytes) -> None:
    assert check(source, StaticKind.USES_NAME, "parametrize|subTest")
    assert not check(source, StaticKind.USES_NAME, "product|repeat")


def test_a_single_name_is_looked_for_as_it_is() -> None:
    assert check(WITH_CASES, StaticKind.USES_NAME, "parametrize")
    assert not check(WITH_SUBTESTS, StaticKind.USES_NAME, "parametrize")


def test_a_call_is_absent_under_each_of_its_names() -> None:
    assert check(WITH_SUBTESTS, StaticKind.CALL_ABSENT, "time.sleep")
    assert not check(WITH_SUBTESTS, StaticKind.CALL_ABSENT, "time.sleep|sleep")
    assert check(WITH_CASES, StaticKind.CALL_ABSENT, "time.sleep|sleep")


@pytest.mark.parametrize("value", ["a||b", "|a", "a|"])
def test_an_empty_name_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="empty name"):
        StaticCheck(check=StaticKind.USES_NAME, value=value)


C_FILE = "test/suites/api/test_a.c"
HEADER = FileChange(
    "test/suites/api/dump_util.h", None, b'#include "util.h"\n#define CHECK(x) if (!(x)) fail("no")\n'
)
C_TEST = b'#include "%s"\nstatic void run_tests() { CHECK(1); }\n'


def c_check(included: bytes, *others: FileChange) -> bool:
    static = StaticCheck(check=StaticKind.USES_NAME, value="util.h")
    changes = [FileChange(C_FILE, None, C_TEST % included), *others]
    return holds(static, [TestId(C_FILE, "test_a")], changes, c_discovery)


def test_a_name_may_stand_in_a_header_of_the_submission_that_the_test_includes() -> None:
    between = FileChange("test/suites/api/more.h", None, b'#include "dump_util.h"\n')
    assert c_check(b"util.h")
    assert c_check(b"dump_util.h", HEADER)
    assert c_check(b"more.h", between, HEADER)


def test_a_name_in_a_file_that_was_there_or_that_nothing_includes_says_nothing() -> None:
    assert not c_check(b"other.h", HEADER)
    assert not c_check(b"dump_util.h")
    assert not c_check(b"dump_util.h", FileChange(HEADER.path, b"old", HEADER.new))


def test_a_name_may_stand_in_a_module_of_the_submission_that_the_test_imports() -> None:
    module = FileChange("tests/numbers_util.py", None, b"import pytest\ncases = pytest.mark.parametrize('n', [1])\n")
    source = b"from tests.numbers_util import cases\n\n@cases\ndef test_numbers(n):\n    assert n\n"
    static = StaticCheck(check=StaticKind.USES_NAME, value="parametrize")
    tests = [TestId(FILE, "test_numbers")]
    assert holds(static, tests, [FileChange(FILE, None, source), module], discovery)
    assert not holds(static, tests, [FileChange(FILE, None, source)], discovery)
