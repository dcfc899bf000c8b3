"""What tests that a crash of the others hid did when they ran alone, as part of their arm."""

import pytest

from harness.judging.verify.arms import _settle
from harness.specs.test_results import Outcome, TestId, TestResult
from harness.specs.variants import Arm, ArmStatus, VariantKind

ONE, TWO = TestId("tests/test_a.py", "test_one"), TestId("tests/test_a.py", "test_two")


def arm(status: ArmStatus, *results: tuple[TestId, Outcome], words: str = "") -> Arm:
    told = tuple(TestResult(test=test, outcome=outcome) for test, outcome in results)
    return Arm(VariantKind.BASELINE, status, 0, told, 1.0, disagreement=words)


@pytest.mark.parametrize("status", [ArmStatus.DISAGREES, ArmStatus.WRONG_VARIANT])
def test_an_arm_has_the_words_of_the_one_that_disagrees(status: ArmStatus) -> None:
    """So a report that is called forged says why."""
    whole = arm(ArmStatus.FINISHED, (ONE, Outcome.PASSED), (TWO, Outcome.MISSING))
    found = _settle(whole, {TWO: arm(status, (TWO, Outcome.PASSED), words="exit status 1 without a failure")})
    assert (found.status, found.disagreement) == (status, "exit status 1 without a failure")
    assert [result.outcome for result in found.results] == [Outcome.PASSED, Outcome.PASSED]


def test_tests_that_end_alone_finish_their_arm() -> None:
    whole = arm(ArmStatus.TIMED_OUT, (ONE, Outcome.MISSING), (TWO, Outcome.MISSING))
    found = _settle(whole, {TWO: arm(ArmStatus.FINISHED, (TWO, Outcome.PASSED))})
    assert (found.status, found.disagreement) == (ArmStatus.FINISHED, "")
    assert [result.outcome for result in found.results] == [Outcome.MISSING, Outcome.PASSED]
