"""McNemar's test and Holm's adjustment, held against scipy and statsmodels."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.results.statistics.proportions import holm, mcnemar

counts = st.integers(0, 200)
ps = st.lists(st.floats(0, 1), min_size=1, max_size=8)


@given(counts, counts)
def test_mcnemar_is_scipys_binomial_test_of_the_tasks_that_differ(stats, first, second):
    expected = stats.binomtest(min(first, second), first + second, 0.5).pvalue if first + second else 1.0
    assert mcnemar(first, second) == pytest.approx(expected, rel=1e-9)
    assert mcnemar(second, first) == mcnemar(first, second)


@pytest.mark.parametrize(
    ("first", "second", "p"), [(1, 7, 0.0703125), (10, 25, 0.016673847800120715), (0, 5, 0.0625), (0, 6, 0.03125)]
)
def test_mcnemar_is_that_of_statsmodels(first, second, p):
    """mcnemar(table, exact=True).pvalue of statsmodels 0.15.0; the last two are 2 / 2**n."""
    assert mcnemar(first, second) == pytest.approx(p, rel=1e-12)


def test_no_task_that_differs_shows_nothing():
    assert mcnemar(0, 0) == 1.0


def test_what_is_no_count_is_refused():
    with pytest.raises(ValueError, match="not counts"):
        mcnemar(-1, 2)


def test_holm_is_that_of_statsmodels():
    """multipletests(p, method="holm")[1] of statsmodels 0.15.0."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))


@given(ps)
def test_holm_never_lowers_a_p_and_never_exceeds_bonferroni(values):
    for before, after in zip(values, holm(values), strict=True):
        assert before <= after <= min(1.0, len(values) * before) or after == pytest.approx(before)


@given(ps, st.randoms(use_true_random=False))
def test_holm_keeps_the_order_of_the_ps_and_does_not_depend_on_theirs(values, random):
    order = random.sample(range(len(values)), len(values))
    assert holm([values[place] for place in order]) == tuple(holm(values)[place] for place in order)
    ranked = [after for _, after in sorted(zip(values, holm(values), strict=True))]
    assert ranked == sorted(ranked)


@given(st.floats(0, 1))
def test_one_pair_needs_no_adjustment(value):
    assert holm([value]) == (value,)
