from harness.judging.languages.python.discovery import discover, is_test_file

SOURCE = b"""
import unittest
import pytest

@pytest.fixture
def test_data():
    return 1

def helper():
    def test_inner(): ...

async def test_plain(test_data):
    assert test_data

@pytest.mark.parametrize("a", [1, 2])
def test_cases(a):
    assert a

class Shared:
    def test_inherited(self): ...

class TestA(Shared):
    def test_own(self): ...
    def not_a_test(self): ...
    class TestDeep:
        def test_deep(self): ...

class Helper:
    def test_not_collected(self): ...

class Legacy(unittest.TestCase):
    def test_legacy(self): ...

class TestOff:
    __test__ = False
    def test_off(self): ...

if True:
    def test_conditional(): ...
else:
    def test_other(): ...
"""


def names(source: bytes) -> set[str]:
    return {test.name for test in discover(source).tests}


def test_what_pytest_collects_by_default_is_found_and_nothing_else():
    assert names(SOURCE) == {
        "test_plain", "test_cases", "TestA.test_own", "TestA.test_inherited", "TestA.TestDeep.test_deep",
        "Legacy.test_legacy", "test_conditional", "test_other",
    }  # fmt: skip


def test_fixtures_helpers_and_classes_are_known_as_no_tests():
    assert {"test_data", "helper", "TestA", "TestA.not_a_test"} <= discover(SOURCE).others


def test_a_test_that_only_uses_fixtures_is_a_test():
    source = b"@pytest.mark.usefixtures('a')\ndef test_a(): ...\n@pytest_asyncio.fixture()\ndef test_b(): ...\n"
    assert names(source) == {"test_a"}


def test_lines_and_text_include_decorators():
    found = discover(SOURCE).find("test_cases")
    assert found is not None
    lines = SOURCE.decode().splitlines()
    assert lines[found.first_line - 1].startswith("@pytest.mark.parametrize")
    assert lines[found.last_line - 1] == "    assert a"
    assert found.text.startswith(b"@pytest.mark.parametrize")


def test_a_name_defined_twice_is_ambiguous():
    assert discover(b"def test_a(): ...\ndef test_a(): ...\n").twice == {"test_a"}


def test_broken_files_do_not_raise():
    assert isinstance(discover(b"def test_a(:\n  \xff\x00 class"), object)
    assert names(b"") == set()


def test_the_file_names_that_pytest_collects():
    assert is_test_file("a/test_x.py")
    assert is_test_file("x_test.py")
    assert not is_test_file("a/conftest.py")
    assert not is_test_file("a/test_x.txt")


def test_a_test_whose_body_names_nothing_is_empty():
    source = b'''
import pytest

def test_words():
    """About something."""
class TestX:
    def test_passes(self, clock): pass
    def test_dots(self): ...
    @pytest.mark.parametrize("x", [1, 2])
    def test_cases(self, x): return
    async def test_constant(self): assert True
    def test_uses(self, clock): assert clock
    def test_calls(self): check()
    @checked
    def test_decorated(self): pass
'''
    tests = {test.name.rpartition("_")[2]: test.is_empty for test in discover(source).tests}
    empty = {"words", "passes", "dots", "cases", "constant"}
    assert tests == {**dict.fromkeys(empty, True), "uses": False, "calls": False, "decorated": False}
