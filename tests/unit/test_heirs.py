"""Classes that inherit withheld tests from another file are named by `task new`."""

from harness.authoring.task_new.command import Heir, heirs_of
from harness.specs.test_results import TestId

BASE = b"class TestSums:\n    def test_adds(self): ...\n\n\nclass TestOther:\n    def test_b(self): ...\n"
TIMED = b"import tests.test_sums as sums\n\n\nclass TestTimed(Mixin, sums.TestSums):\n    pass\n"
BOTH = b"class TestBoth(TestTimed):\n    pass\n\n\nclass TestThird(TestOther):\n    pass\n"
FILES = {"tests/test_both.py": BOTH, "tests/test_sums.py": BASE, "tests/test_timed.py": TIMED}


def test_heirs_of_withheld_classes_and_their_heirs_are_found_in_whatever_order_files_come():
    assert heirs_of([TestId("tests/test_sums.py", "TestSums.test_adds")], FILES) == [
        Heir("tests/test_both.py", "TestBoth", "TestTimed"),
        Heir("tests/test_timed.py", "TestTimed", "TestSums"),
    ]


def test_classes_that_are_withheld_themselves_and_functions_have_no_heirs():
    withheld = [
        TestId("tests/test_sums.py", "TestSums.test_adds"),
        TestId("tests/test_timed.py", "TestTimed.test_late"),
        TestId("tests/test_both.py", "TestBoth.test_all"),
        TestId("tests/test_sums.py", "test_alone"),
    ]
    assert heirs_of(withheld, FILES) == []


def test_a_file_that_cannot_be_read_has_none():
    old = {"tests/test_old.py": b"print 'old'\nclass TestOld(TestSums): pass\n", "tests/test_nul.py": b"\0"}
    found = heirs_of([TestId("tests/test_sums.py", "TestSums.test_adds")], {**FILES, **old})
    assert [heir.name for heir in found] == ["TestBoth", "TestTimed"]
