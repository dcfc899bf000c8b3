"""Our distributions, held against scipy's."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.results.statistics.clusters import middle_of
from harness.results.statistics.distributions import even_binomial_at_most, normal_below, t_quantile

SHARES = (1e-6, 0.001, 0.025, 0.2, 0.4999, 0.5, 0.5001, 0.8, 0.9, 0.975, 0.995, 1 - 1e-6)


@given(st.floats(-37, 37))
def test_the_normal_distribution_is_scipys(special, value):
    assert normal_below(value) == pytest.approx(special.ndtr(value), rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("share", SHARES)
def test_students_quantiles_are_scipys(special, share):
    for freedom in (*range(1, 60), 99, 100, 499, 2000):
        assert t_quantile(share, freedom) == pytest.approx(special.stdtrit(freedom, share), rel=1e-8, abs=1e-12)


@given(st.integers(0, 1500), st.data())
def test_the_even_binomial_distribution_is_scipys(special, trials, data):
    successes = data.draw(st.integers(0, trials))
    expected = special.bdtr(successes, trials, 0.5)
    assert even_binomial_at_most(successes, trials) == pytest.approx(expected, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize(("share", "freedom"), [(0.0, 3), (1.0, 3), (0.5, 0), (float("nan"), 3)])
def test_a_quantile_that_does_not_exist_is_refused(share, freedom):
    with pytest.raises(ValueError, match="no quantile"):
        t_quantile(share, freedom)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=50), st.floats(0, 0.5))
def test_quantiles_of_draws_are_numpys(values, tail):
    import numpy as np

    assert middle_of(values, tail) == pytest.approx(np.quantile(values, (tail, 1 - tail)), rel=1e-9, abs=1e-9)


def test_rates_are_told_without_the_libraries_that_they_are_held_against():
    code = """
import sys
from harness.results.statistics.clusters import spearman
from harness.results.statistics.estimates import TaskPair, difference_over_tasks
from harness.results.statistics.proportions import mcnemar
difference_over_tasks([TaskPair(str(number), "a", number % 2, 1.0) for number in range(9)])
spearman({str(number): [(number, number % 3)] for number in range(9)})
mcnemar(3, 9)
print({"numpy", "scipy", "matplotlib", "pyarrow", "ray"} & {*sys.modules})
"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "set()"
