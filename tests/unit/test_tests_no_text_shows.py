"""Tests that a file makes while it is loaded: the file runs whole, and what fails there is told."""

import asyncio
import time
from pathlib import Path

import pytest

from harness.judging.languages.registry import LANGUAGES
from harness.judging.testing import arm_job
from harness.judging.testing.arm_job import Reading, TestRun, read_job
from harness.judging.verify.evidence import EXISTING_AFTER, EXISTING_BEFORE, Evidence
from harness.judging.verify.intake import FileChange
from harness.judging.verify.manifest_check import ManifestCheck, check_manifest
from harness.judging.verify.mutation import judge_unlisted
from harness.sandbox.protocol import Image, JobResult
from harness.specs.catalog import Catalog
from harness.specs.test_results import TestId
from harness.specs.variants import Arm, ArmKey, ArmStatus, VariantKind

PYTHON = LANGUAGES.get("python")
FILE = "tests/test_x.py"
LISTED, RED, OLD = (TestId(FILE, name) for name in ("test_a", "test_red", "test_old"))
SHOWN = "def test_a():\n    assert 1\n"
ONE_CASE = '<testcase classname="tests.test_x" name="{}" file="tests/test_x.py" line="1" time="0.1">{}</testcase>'


@pytest.mark.parametrize(
    "text",
    [
        "test_red = _boom", "TestMade = make()", "    test_more = staticmethod(other)", "test_a, test_b = made()",
        "value, test_b = made()", "globals()['test_' + name] = function", "setattr(TestA, 'test_b', function)",
        "from cases import TestMore", "from cases import more as test_more", "TestB = type('TestB', (Base,), {})",
        "class TestA(metaclass=Makes):", "def pytest_collect_file(parent, file_path):", "test_red: object = _boom",
        "sys.modules[__name__].__dict__.update(made)", "exec(text)", "test_a, b = made()",
        "class TestA(made()):", "    class TestA(Base, made(1)):", "@expand\nclass TestA:",
        "@expand(cases)\n@pytest.mark.slow\nclass TestA:", "@expand(\n    1,\n)\nclass TestA:", "ｔest_red = other",
        "ｇlobals()[name] = function", "ｓetattr(TestA, name, function)", "from cases import more as 𝓽est_more",
        "test_µ = other", "é, test_b = made()",
        "x = 'ｔ'\r\nｔest_red = other", "a\u0316\u0301 = 1\nｔest_red = other",
        "x = 1; test_red = other", "x = 1; a, test_red = made()", "(test_red := other)", "if test_red := other: pass",
        "for test_red in [other]: pass", "async for a, test_red in made(): pass",
        "if 1:\n    for test_red in made(): pass",
        "class Made:\n    for a, test_red in made():\n        pass", "for (a, test_red) in made(): pass",
        "x = test_red = made()", "if 1: test_red = made()", "(a, test_red) = made()", "*a, test_red = made()",
        "[a, [test_red]] = made()", "class Made:\n    x = test_red = made()", "for a in b: (test_red := a)",
        "def make():\n    global test_red\n    for test_red in made(): pass",
    ],
)  # fmt: skip
def test_a_text_that_may_hide_a_test_is_told(text: str) -> None:
    assert PYTHON.hides_tests
    assert PYTHON.hides_tests(f"{SHOWN}{text}\n".encode())


@pytest.mark.parametrize(
    "text",
    [
        "data = load()", "cases = [1, 2]", "def test_b(monkeypatch):\n    monkeypatch.setattr(a, 'b', 1)",
        "assert latest == 1", "class TestB:\n    kind = type(1)", "contest = 1", "import pytest",
        "if test_mode == 1: pass", "class TestA(Base):", "class Made(made()):", "@pytest.mark.slow\nclass TestA:",
        "@cache\ndef made():\n    pass\n\n\nclass TestA:",
        "def test_b():\n    for test_case in cases: pass", "def test_b():\n    for a, test in cases: pass",
        "x = 1; y = test == 1", "x = 1; test == 1", "for case in cases: test_case == 1",
        "text = 'ｇlobals(): ｔest_a = 1'", "x = 1  # ｔest_red = other", "ｐass = 1",
    ],
)  # fmt: skip
def test_an_ordinary_text_hides_none(text: str) -> None:
    assert PYTHON.hides_tests
    assert not PYTHON.hides_tests(f"{SHOWN}{text}\n".encode())


def test_a_long_list_of_names_is_read_in_linear_time() -> None:
    assert PYTHON.hides_tests
    began = time.process_time()
    assert not PYTHON.hides_tests(b"test, " * 20_000)
    assert not PYTHON.hides_tests(b"for " + b"a, " * 20_000)
    assert not PYTHON.hides_tests(b"; a, b" * 10_000)
    assert time.process_time() - began < 1


@pytest.mark.parametrize("old", [None, SHOWN.encode()])
def test_a_touched_file_that_may_hide_tests_runs_whole(old: bytes | None) -> None:
    text = f"{SHOWN}\n\ndef test_b():\n    assert 2\n\n\ntest_red = test_b\n"
    names = ["test_b"] if old else ["test_a", "test_b"]
    listed = f"- file: {FILE}\n  tests: {names}\n".encode()
    check = check_manifest(listed, (FileChange(FILE, old, text.encode()),), PYTHON)
    assert (check.whole, check.whole_before) == ((FILE,), (FILE,) if old else ())
    check = check_manifest(listed, (FileChange(FILE, old, text.replace("test_red =", "red =").encode()),), PYTHON)
    assert check.whole == ()


def whole_run(*tests: TestId) -> TestRun:
    return TestRun(tests, {}, frozenset(), (), (), 10, whole=(FILE,))


@pytest.mark.parametrize("tests", [(), (LISTED,), (TestId("tests/test_y.py", "test_y"), LISTED)])
def test_the_run_script_gets_the_file_in_the_place_of_its_tests(tests: tuple[TestId, ...]) -> None:
    run = whole_run(*tests)
    job = arm_job.test_job(Catalog().repo("aiosmtpd"), Image("image", "digest", "/app", Path(), {}), run)
    others = [str(test) for test in tests if test.file != FILE]
    assert [*job.argv[-1 - len(others) :]] == [*others, FILE]
    assert run.test_files == (*(test.file for test in tests if test.file != FILE), FILE)


def reading(run: TestRun, **outcomes: str) -> Reading:
    cases = "".join(ONE_CASE.format(name, outcome) for name, outcome in outcomes.items())
    report = f'<testsuites><testsuite name="s">{cases}</testsuite></testsuites>'.encode()
    failed = any(outcomes.values())
    result = JobResult(
        exit_status=int(failed), log=b"", outputs={"1.xml": report}, timed_out=False, seconds=1.0,
        out_of_memory=False, complete=True,
    )  # fmt: skip
    return asyncio.run(read_job("junit", run, (), result))


def evidence(**arms: Reading) -> Evidence:
    keys = {"before": EXISTING_BEFORE, "after": EXISTING_AFTER, "again": EXISTING_AFTER.again}
    made: dict[ArmKey, Arm] = {
        keys[name]: Arm(VariantKind.BASELINE, ArmStatus.FINISHED, 0, read.results, 1.0) for name, read in arms.items()
    }
    return Evidence((LISTED,), made)


RED_CASE = '<failure message="assert 0">assert 0</failure>'


def test_a_test_that_no_text_shows_and_that_fails_each_time_is_a_reason() -> None:
    red = reading(whole_run(LISTED), test_a="", test_red=RED_CASE)
    assert [str(item.test) for item in red.results] == [str(LISTED), str(RED)]
    check = ManifestCheck(existing=(OLD,))
    [reason] = judge_unlisted(evidence(after=red, again=red), check)
    assert (reason.code, reason.subject) == ("baseline-red", str(RED))
    green = reading(whole_run(LISTED), test_a="", test_red="")
    assert not [*judge_unlisted(evidence(after=red, again=green), check)], "it failed by chance"
    before = reading(whole_run(), test_red=RED_CASE)
    assert not [*judge_unlisted(evidence(before=before, after=red, again=red), check)], "it was red before"
    alone = reading(TestRun((LISTED,), {}, frozenset(), (), (), 10), test_a="", test_red=RED_CASE)
    assert [item.test for item in alone.results] == [LISTED], "nobody asked for the file"


def test_a_test_that_runs_though_it_was_not_collected_is_a_reason_also_if_it_passes() -> None:
    """As one that a file takes back only while it is asked for its tests."""
    green = evidence(after=reading(whole_run(LISTED), test_a="", test_red=""))
    [reason] = judge_unlisted(green, ManifestCheck(existing=(OLD,), collected=(FILE,)))
    assert (reason.code, reason.subject) == ("manifest-unlisted-test", str(RED))
    assert not [*judge_unlisted(green, ManifestCheck(existing=(OLD, RED), collected=(FILE,)))]
    assert not [*judge_unlisted(green, ManifestCheck(existing=(OLD,)))], "nobody asked"
