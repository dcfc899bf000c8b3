"""What a comparison makes of scores: pairs by task, what can be said and what can't."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.results.comparison.pairs import Obstacle, Pair, pair_up
from harness.results.comparison.sides import Side
from harness.results.scores import TaskScore
from harness.specs.reasons import Verdict

VERDICTS = {"R": Verdict.RESOLVED, "f": Verdict.FAILED, "i": Verdict.INVALID, "u": Verdict.UNSCORED, ".": None}
letters = st.lists(st.text("Rfu.", min_size=1, max_size=3), min_size=12, max_size=12)


def side(name: str, *tasks: str) -> Side:
    """A string for each task, a letter for each attempt; three tasks to a repository."""
    scores = {
        f"t{number:02}": TaskScore(f"t{number:02}", f"r{number // 3}", tuple(VERDICTS[letter] for letter in text))
        for number, text in enumerate(tasks)
    }
    return Side(name=name, called=name, scaffold=name, model="", runs=(), trials=(), scores=scores)


def compared(first: list[str], second: list[str]) -> Pair:
    [pair] = pair_up(side("a", *first), [side("b", *second)], [f"t{number:02}" for number in range(len(first))])
    return pair


def test_attempts_are_averaged_per_task_first():
    """Four of five attempts at one task and none at the other are 40 points, not 4 of 7."""
    pair = compared(["RRRRf", "ff"], ["fffff", "ff"])
    assert pair.difference.value == pytest.approx(0.4)


def test_a_trial_without_a_verdict_has_failed_and_the_figure_without_faults_stands_beside():
    pair = compared(["R", "R", "R", "R"], ["R", "u", ".", "f"])
    assert pair.difference.value == 0.75
    assert pair.without_faults is not None
    assert (pair.without_faults.value, pair.without_faults.tasks) == (0.5, 2)


def test_an_unscored_attempt_flips_no_task():
    pair = compared(["R", "R", "Rf", "R"], ["u", "Ru", "Rfu", "uf"])
    assert [(flip.task, flip.first, flip.second) for flip in pair.flips] == [("t03", (1, 1), (0, 1))]


def test_where_all_tasks_agree_that_one_side_is_ahead_it_is_said():
    pair = compared(["R"] * 12, ["f"] * 12)
    assert (pair.obstacles, pair.ahead) == ((), pair.first)
    assert pair.difference.by_task.low == pytest.approx(1 - np.sqrt(2) * 0.24249, abs=1e-3), "not from 1 to 1"
    assert pair.mcnemar.p == pytest.approx(2 / 2**12)


def test_sides_that_do_the_same_are_not_said_to_be_equal():
    pair = compared(["R", "f"] * 6, ["R", "f"] * 6)
    assert pair.ahead is None
    assert pair.obstacles == tuple(Obstacle)
    assert pair.difference.by_task.low < -0.2 < 0.2 < pair.difference.by_task.high
    assert pair.flips == ()


def test_five_tasks_are_never_enough_whatever_they_show():
    pair = compared(["R"] * 5, ["f"] * 5)
    assert (pair.obstacles, pair.ahead) == ((Obstacle.MCNEMAR,), None)


def test_a_side_whose_sandboxes_were_lost_is_not_said_to_be_worse():
    pair = compared(["R"] * 24, ["u", "u", "u", "u", "u", "R"] * 4)
    assert pair.difference.by_task.low > 0
    assert (pair.obstacles, pair.ahead) == ((Obstacle.FAULTS,), None)


def test_one_repository_that_decides_everything_is_an_obstacle():
    """Six tasks of two repositories in four of which nothing differs."""
    pair = compared(["R"] * 6 + ["f"] * 6, ["f"] * 12)
    assert pair.difference.by_task.low > 0
    assert Obstacle.BY_REPOSITORY_T in pair.obstacles
    assert pair.ahead is None


def test_mcnemar_takes_as_many_attempts_as_both_sides_have():
    """The second side resolves one attempt of three at each task, but never the first of them."""
    pair = compared(["f"] * 12, ["ffR"] * 12)
    assert (pair.mcnemar.equal, pair.mcnemar.p) == (12, 1.0)
    assert pair.difference.value == pytest.approx(-1 / 3)


def test_several_pairs_are_adjusted_by_holm():
    first = side("a", *["R"] * 12)
    others = [side("b", *["f"] * 12), side("c", *["f"] * 7 + ["R"] * 5), side("d", *["R"] * 12)]
    pairs = pair_up(first, others, sorted(first.scores))
    assert [pair.mcnemar.p for pair in pairs] == pytest.approx([2 / 2**12, 2 / 2**7, 1.0])
    assert [pair.adjusted_p for pair in pairs] == pytest.approx([3 * 2 / 2**12, 2 * 2 / 2**7, 1.0])


@settings(max_examples=40, deadline=None)
@given(letters, letters)
def test_exchanged_sides_mirror_everything(first, second):
    one, other = compared(first, second), compared(second, first)
    assert one.difference.value == pytest.approx(-other.difference.value)
    for kind, found in one.difference.intervals.items():
        mirrored = other.difference.intervals[kind]
        assert found is not None
        assert mirrored is not None
        assert (found.low, found.high) == pytest.approx((-mirrored.high, -mirrored.low))
    assert (one.mcnemar.first, one.mcnemar.second) == (other.mcnemar.second, other.mcnemar.first)
    assert one.adjusted_p == other.adjusted_p
    assert [flip.for_first for flip in one.flips] == [not flip.for_first for flip in other.flips]
    assert (one.ahead is one.first) is (other.ahead is other.second)


@settings(max_examples=40, deadline=None)
@given(letters, letters)
def test_nobody_is_ahead_where_an_interval_includes_zero(first, second):
    pair = compared(first, second)
    includes = [found.low <= 0 <= found.high for found in pair.difference.intervals.values() if found]
    if any(includes) or pair.adjusted_p > 0.05:
        assert pair.ahead is None


def test_where_nothing_differs_a_side_is_said_to_be_ahead_less_than_once_in_twenty():
    random = np.random.default_rng(23)
    false = 0
    for _ in range(60):
        easy = random.beta(1, 1, size=24)
        one, other = (["".join("R" if hit else "f" for hit in row) for row in random.random((24, 2)) < easy[:, None]]
                      for _ in range(2))  # fmt: skip
        false += compared(one, other).ahead is not None
    assert false / 60 < 0.05


def test_a_large_difference_is_mostly_found():
    random = np.random.default_rng(19)
    found = 0
    for _ in range(15):
        one = ["R" if hit else "f" for hit in random.random(40) < 0.85]
        other = ["R" if hit else "f" for hit in random.random(40) < 0.35]
        found += compared(one, other).ahead is not None
    assert found / 15 > 0.8
