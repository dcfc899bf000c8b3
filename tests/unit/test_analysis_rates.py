import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.analysis.rates import rate


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
