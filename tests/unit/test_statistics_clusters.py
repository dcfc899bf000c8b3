"""Means of clustered observations, held against statsmodels, scipy and simulated data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.results.statistics.clusters import (
    bootstrap_bounds,
    cluster_mean,
    expanded_tail,
    minimum_detectable,
    t_bounds,
)
from harness.results.statistics.proportions import Bounds

RATES, DIFFERENCES = Bounds(0.0, 1.0), Bounds(-1.0, 1.0)
REPOSITORIES = {"a": [1, 0.5, 0], "b": [1, 1], "c": [0, 0.5, 0.25, 0], "d": [1]}
clusters = st.dictionaries(
    st.text("abcdefgh", min_size=1, max_size=3),
    st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=1, max_size=4),
    min_size=1,
    max_size=9,
)


def by_task(values) -> dict[str, list[float]]:
    return {f"{number:03}": [float(value)] for number, value in enumerate(values)}


def test_the_standard_error_and_the_t_interval_are_those_of_statsmodels():
    """OLS(y, ones).fit(cov_type="cluster", cov_kwds={"groups": ...}, use_t=True) of statsmodels 0.15.0."""
    found = cluster_mean(REPOSITORIES)
    assert (found.value, found.error, found.freedom) == (pytest.approx(0.525), pytest.approx(0.19853631), 3)
    assert t_bounds(REPOSITORIES, Bounds(-9, 9)) == pytest.approx((-0.10683115, 1.15683115))
    assert t_bounds(REPOSITORIES, RATES) == (0.0, 1.0), "a rate doesn't leave 0 to 1"


def test_clusters_of_one_give_students_interval(stats):
    values = [0.0, 1.0, 1.0, 0.5, 0.0, 1.0, 0.5]
    expected = stats.t.interval(0.95, len(values) - 1, np.mean(values), stats.sem(values))
    assert t_bounds(by_task(values), Bounds(-9, 9)) == pytest.approx(expected)


def test_the_bootstrap_is_scipys_at_the_expanded_level(stats):
    values = np.random.default_rng(7).choice([0.0, 0.5, 1.0], size=60)
    level = 1 - 2 * expanded_tail(len(values))
    theirs = stats.bootstrap(
        (values,), np.mean, confidence_level=level, n_resamples=20_000, method="percentile", rng=1
    ).confidence_interval
    assert bootstrap_bounds(by_task(values), RATES) == pytest.approx(theirs, abs=0.01)


def test_the_bootstrap_of_unequal_clusters_is_scipys_with_a_ratio(stats):
    clusters = {name: [float(value) for value in values] for name, values in REPOSITORIES.items()}
    clusters |= {"e": [0.0, 1.0], "f": [0.5], "g": [1.0, 1.0, 1.0], "h": [0.0], "i": [0.0, 0.0], "j": [1.0, 0.5]}
    sums, sizes = ([kind(values) for values in clusters.values()] for kind in (sum, len))
    theirs = stats.bootstrap(
        (sums, sizes),
        lambda first, second, axis: first.sum(axis) / second.sum(axis),
        paired=True,
        vectorized=True,
        confidence_level=1 - 2 * expanded_tail(len(clusters)),
        n_resamples=20_000,
        method="percentile",
        rng=1,
    ).confidence_interval
    assert bootstrap_bounds(clusters, RATES) == pytest.approx(theirs, abs=0.015)


@pytest.mark.parametrize(("count", "tail"), [(5, 0.0010), (10, 0.0086), (11, 0.0097), (1000, 0.0249)])
def test_tails_are_narrower_for_few_clusters(stats, count, tail):
    """norm.cdf(sqrt(n / (n - 1)) * t.ppf(0.025, n - 1)), as in Hesterberg (2015)."""
    assert expanded_tail(count) == pytest.approx(tail, abs=0.0001)
    assert expanded_tail(count) == pytest.approx(
        stats.norm.cdf(np.sqrt(count / (count - 1)) * stats.t.ppf(0.025, count - 1))
    )


@pytest.mark.parametrize(("count", "of_power"), [(50, 0.4041829997), (20, 0.6604416545)])
def test_the_minimum_detectable_difference_is_that_of_a_power_analysis(count, of_power):
    """TTestPower().solve_power(nobs=count, alpha=0.05, power=0.8) of statsmodels 0.15.0, in standard deviations.

    That takes the noncentral t distribution; Bloom's formula comes to within a hundredth of it.
    """
    values = np.random.default_rng(3).normal(size=count)
    values = (values - values.mean()) / values.std(ddof=1)
    assert minimum_detectable(by_task(values)) == pytest.approx(of_power, rel=0.01)


@pytest.mark.parametrize("clusters", [{"a": [1.0, 0.0]}, {"a": [0.5, 0.5], "b": [0.5]}, {"a": [1.0], "b": [1.0]}])
def test_where_nothing_varies_no_error_is_made_up(clusters):
    assert cluster_mean(clusters).error is None
    assert t_bounds(clusters, RATES) is bootstrap_bounds(clusters, RATES) is minimum_detectable(clusters) is None


@settings(max_examples=50, deadline=None)
@given(clusters, st.randoms(use_true_random=False))
def test_the_order_of_clusters_and_observations_changes_nothing(clusters, random):
    names = random.sample([*clusters], len(clusters))
    shuffled = {name: random.sample(clusters[name], len(clusters[name])) for name in names}
    assert cluster_mean(shuffled) == cluster_mean(clusters)
    for bounds in (t_bounds, bootstrap_bounds):
        assert bounds(shuffled, DIFFERENCES) == bounds(clusters, DIFFERENCES)


@settings(max_examples=50, deadline=None)
@given(clusters)
def test_with_the_sides_exchanged_every_interval_is_mirrored(clusters):
    mirrored = {name: [-value for value in values] for name, values in clusters.items()}
    for bounds in (t_bounds, bootstrap_bounds):
        found, other = bounds(clusters, DIFFERENCES), bounds(mirrored, DIFFERENCES)
        assert (found is None) is (other is None)
        if found and other:
            assert (found.low, found.high) == pytest.approx((-other.high, -other.low))
    assert minimum_detectable(mirrored) == pytest.approx(minimum_detectable(clusters))


@settings(max_examples=50, deadline=None)
@given(clusters)
def test_an_interval_holds_the_mean(clusters):
    value = cluster_mean(clusters).value
    for bounds in (t_bounds, bootstrap_bounds):
        if found := bounds(clusters, DIFFERENCES):
            assert -1 <= found.low <= value + 1e-9
            assert value - 1e-9 <= found.high <= 1


@pytest.mark.parametrize(("tasks", "least"), [(12, 0.92), (40, 0.93)])
def test_the_interval_by_task_covers_the_true_difference_about_95_times_in_100(tasks, least):
    """Each side has three attempts; both find the same tasks hard, and the second is a little better."""
    random = np.random.default_rng(11)
    covered = 0
    for _ in range(400):
        easy = random.beta(1.5, 1.5, size=tasks)
        first, second = random.binomial(3, 0.8 * easy) / 3, random.binomial(3, 0.8 * easy + 0.1) / 3
        low, high = bootstrap_bounds(by_task(first - second), DIFFERENCES, resamples=1000) or DIFFERENCES
        covered += low <= -0.1 <= high
    assert least <= covered / 400 <= 0.985


def test_an_interval_that_takes_tasks_of_one_repository_for_independent_is_too_narrow_and_ours_is_not():
    random = np.random.default_rng(5)
    naive, ours = 0, 0
    for _ in range(400):
        values = np.clip(random.normal(0, 0.25, size=(8, 1)) + random.normal(0, 0.15, size=(8, 6)), -1, 1)
        clusters = {str(number): list(row) for number, row in enumerate(values)}
        naive += _holds(bootstrap_bounds(by_task(values.ravel()), DIFFERENCES, resamples=500))
        ours += _holds(t_bounds(clusters, DIFFERENCES))
    assert naive / 400 < 0.75
    assert 0.92 <= ours / 400 <= 0.98


def _holds(bounds: Bounds | None) -> bool:
    return bounds is not None and bounds.low <= 0 <= bounds.high
