"""What the calls of a fuzz file show of twins and removals."""

import pytest

from harness.authoring.task_check.fuzzing import FuzzCall, disagreement, read_calls, removed
from harness.authoring.task_check.own_parts import DYNAMIC
from harness.specs.task_facts import Level, StepId

PRISTINE = [FuzzCall(str(number), str(number * 2)) for number in range(10) for _ in range(2)]


def answers(results):
    return [FuzzCall(call.input, result) for call, result in zip(PRISTINE, results, strict=True)]


REFUSED = answers(["ValueError: gone"] * 20)
OTHER_EACH_TIME = answers([str(100 + number) for number in range(20)])


def test_calls_are_read_and_other_lines_left_out():
    data = b"a => b => 3\nprinted by somebody\n\xff => 1\n"
    assert read_calls(data) == [FuzzCall("a => b", "3"), FuzzCall("�", "1")]


def test_removals_of_two_kinds_that_change_every_answer_are_right():
    assert not [*removed(PRISTINE, {"removal": REFUSED, "garbage": OTHER_EACH_TIME})]


@pytest.mark.parametrize(
    ("removal", "garbage", "words"),
    [
        (PRISTINE[:2] + REFUSED[2:], PRISTINE[:2] + OTHER_EACH_TIME[2:], "neither it nor removal.patch changes"),
        (REFUSED, answers(["7"] * 20), "the same answer twice to 10 of 10"),
        (REFUSED, answers([str(100 + number // 2) for number in range(20)]), "the same answer twice"),
        (REFUSED, [FuzzCall(call.input, call.input) for call in PRISTINE], "gives back what it was given"),
    ],
    ids=["one answer is kept", "constant", "deterministic", "identity"],
)
def test_a_garbage_under_which_a_test_of_a_property_stays_green_is_told(removal, garbage, words):
    found = [*removed(PRISTINE, {"removal": removal, "garbage": garbage})]
    assert [line for line in found if words in line], found


def test_an_answer_that_one_of_the_removals_changes_is_enough():
    assert not [*removed(PRISTINE, {"removal": REFUSED, "garbage": PRISTINE[:2] + OTHER_EACH_TIME[2:]})]


def test_runs_of_one_code_that_differ_are_told_with_both_outputs():
    other = [*PRISTINE[:3], FuzzCall("1", "{'b', 'a'}"), *PRISTINE[4:]]
    assert "'1 => 2', then \"1 => {'b', 'a'}\";" in disagreement(PRISTINE, other)
    assert "20 calls, then 19;" in disagreement(PRISTINE, PRISTINE[:19])
    assert disagreement(PRISTINE, [*PRISTINE]) == ""


def test_of_a_long_line_the_part_is_shown_that_differs():
    long = "x" * 500
    words = disagreement([FuzzCall(long, "first answer")], [FuzzCall(long, "other answer")])
    assert "first" in words
    assert "other" in words
    assert len(words) < 600


def test_drawn_inputs_come_first_and_what_judges_whole_suites_last():
    order = [*DYNAMIC[Level.FULL]]
    assert order[0] is StepId.FUZZ
    assert order[-2:] == [StepId.REFERENCE, StepId.HONEST_SUITES]
