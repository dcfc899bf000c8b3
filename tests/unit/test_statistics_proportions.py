import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.results.statistics.proportions import rate, score_bounds, score_bounds_of_difference


def test_the_interval_is_wilsons():
    """Values of Newcombe, Statistics in Medicine 17 (1998), table I, method 3."""
    assert (round(rate(81, 263).low, 4), round(rate(81, 263).high, 4)) == (0.2553, 0.3662)
    assert (round(rate(0, 20).low, 4), round(rate(0, 20).high, 4)) == (0.0, 0.1611)
    assert (round(rate(1, 29).low, 4), round(rate(1, 29).high, 4)) == (0.0061, 0.1718)


@given(st.integers(1, 500).flatmap(lambda whole: st.tuples(st.integers(0, whole), st.just(whole))))
def test_the_interval_holds_the_rate_and_stays_within_zero_and_one(numbers):
    found = rate(*numbers)
    assert 0 <= found.low <= found.value + 1e-12
    assert found.value - 1e-12 <= found.high <= 1


@pytest.mark.parametrize("numbers", [(1, 0), (-1, 2), (3, 2)])
def test_what_is_no_proportion_is_refused(numbers):
    with pytest.raises(ValueError, match="not a proportion"):
        rate(*numbers)


@pytest.mark.parametrize(("part", "whole"), [(7, 10), (0, 11), (11, 11), (1, 1)])
def test_the_interval_is_scipys(stats, part, whole):
    theirs = stats.binomtest(part, whole).proportion_ci(0.95, method="wilson")
    assert score_bounds(part / whole, whole) == pytest.approx((theirs.low, theirs.high))


def test_the_interval_of_a_difference_is_newcombes():
    """Statistics in Medicine 17 (1998), p. 873, table II, method 10, the two cases with samples of one size."""
    assert score_bounds_of_difference(6 / 7, 2 / 7, 7) == pytest.approx((0.0582, 0.8062), abs=1e-4)
    assert score_bounds_of_difference(1.0, 0.0, 10) == pytest.approx((0.6075, 1.0), abs=1e-4)


@given(st.floats(0, 1), st.floats(0, 1), st.integers(1, 100))
def test_the_interval_of_a_difference_is_mirrored_with_the_sides_and_holds_it(first, second, whole):
    low, high = score_bounds_of_difference(first, second, whole)
    assert -1 <= low <= first - second + 1e-9
    assert first - second - 1e-9 <= high <= 1
    assert score_bounds_of_difference(second, first, whole) == pytest.approx((-high, -low))
