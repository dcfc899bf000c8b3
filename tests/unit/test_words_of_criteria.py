"""What a verdict says of its criteria: which tests meet one or don't, and whether its code is tested at all."""

from pathlib import Path

import pytest

from harness.judging.languages.python import discovery
from harness.judging.verify.evidence import AT_BASELINE, Draw, Evidence, listed_arm
from harness.judging.verify.intake import FileChange
from harness.judging.verify.probe_places import probes_beside
from harness.judging.verify.rubric_check import grade
from harness.judging.verify.suite_checks import answered
from harness.specs.catalog import Catalog
from harness.specs.rubric import Quantifier, StaticCheck, StaticKind
from harness.specs.task import Task
from harness.specs.test_results import Outcome, Quality, TestId, TestResult
from harness.specs.variants import Arm, ArmStatus, VariantKind
from tests.support.sound_catalog import TASK, sound_catalog

FILE = "tests/test_a.py"
FLAT = b"def test_one():\n    assert f(1)\n\n\ndef test_two():\n    assert g(2)\n"
TESTS = (TestId(FILE, "test_one"), TestId(FILE, "test_two"))


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Task:
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "cache"))
    return sound_catalog(tmp_path / "catalog").task(TASK)


@pytest.mark.parametrize(
    ("kind", "value", "of", "holds", "words"),
    [
        ("uses-name", "f", Quantifier.ALL, True, "so in each listed test"),
        ("test-named", "one", Quantifier.ANY, True, f"so in {FILE}::test_one"),
        ("test-named", "one", Quantifier.ALL, False, f"not so in {FILE}::test_two"),
        ("inside", "^Test", Quantifier.ALL, False, f"not so in {FILE}::test_one, {FILE}::test_two"),
        ("uses-name", "parametrize", Quantifier.ANY, False, "not so in any listed test"),
    ],
)
def test_a_static_criterion_names_the_tests(kind, value, of, holds, words):
    check = StaticCheck(check=StaticKind(kind), value=value, of=of)
    found = answered(check, TESTS, [FileChange(FILE, old=None, new=FLAT)], discovery)
    assert (found.holds, str(found)) == (holds, words)


def test_of_many_tests_three_are_named():
    source = b"".join(b"def test_%d():\n    pass\n\n\n" % number for number in range(5))
    tests = [TestId(FILE, f"test_{number}") for number in range(5)]
    check = StaticCheck(check=StaticKind.INSIDE, value="^Test")
    assert str(answered(check, tests, [FileChange(FILE, None, source)], discovery)).endswith("::test_2 and 2 more")


def evidence(task: Task, **killers: TestId) -> Evidence:
    """Every test passes everywhere, but for one under each of some probes: `p1_2=TEST`."""
    passed = tuple(TestResult(test=test, outcome=Outcome.PASSED) for test in TESTS)
    arms = {AT_BASELINE: Arm(VariantKind.BASELINE, ArmStatus.FINISHED, 0, passed, 0.1)}
    for probe in task.probes:
        killer = killers.get(f"p{probe.name.replace('.', '_')}")
        results = tuple(
            TestResult(test=test, outcome=Outcome.FAILED, quality=Quality.ASSERTION)
            if test == killer
            else TestResult(test=test, outcome=Outcome.PASSED)
            for test in TESTS
        )
        arms[listed_arm(probe.variant)] = Arm(VariantKind.PROBE, ArmStatus.FINISHED, 0, results, 0.1)
    return Evidence(tests=TESTS, arms=arms, draw=Draw(1, 2))


def words_of(task: Task, found: Evidence) -> dict[str, str]:
    return {result.id: result.words for result in grade(task, found, {}) if result.id in ("1.1", "1.2", "2.1")}


def test_an_unmet_must_have_says_whether_tests_notice_other_changes_of_its_code(task):
    told = words_of(task, evidence(task, p1_2=TESTS[0]))
    weak = f"other changes of the same code are noticed by {TESTS[0]}: it is tested, but not for this"
    assert told["1.1"] == f"no test fails under probe 1.1; {weak}"
    assert told["1.2"] == "a test fails under each probe"
    nothing = "no test fails under probe 1.1, nor under another change of the same code: nothing tests it"
    assert words_of(task, evidence(task))["1.1"] == nothing


def test_an_unmet_nice_to_have_is_told_by_its_statement(task):
    criterion = next(each for each in task.rubric.criteria if each.id == "2.1")
    assert criterion.static
    answer = answered(criterion.static, TESTS, [FileChange(FILE, None, FLAT)], discovery)
    found = {each.id: each for each in grade(task, evidence(task), {"2.1": answer})}["2.1"]
    assert (found.met, found.words) == (False, f"{criterion.statement.rstrip('.')}: not so in any listed test")


@pytest.mark.parametrize("name", ["cachetools-remembered-results", "restic-duration"])
def test_probes_of_one_function_stand_beside_each_other(name):
    task = Catalog().task(name)
    beside = {probe.name: {other.name for other in probes_beside(task.probes, [probe])} for probe in task.probes}
    assert all(name not in others for name, others in beside.items())
    assert all(one in beside[other] for one, others in beside.items() for other in others), "in either direction"
    assert any(others and len(others) < len(beside) - 1 for others in beside.values())
