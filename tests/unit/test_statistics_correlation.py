"""Rank correlation with an interval over clusters, held against scipy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.results.statistics.clusters import mean_ranks, spearman


def alone(pairs):
    return {f"{number:03}": [pair] for number, pair in enumerate(pairs)}


def test_rho_is_scipys_with_ties(stats):
    pairs = [(1, 0), (2, 1), (2, 0), (3, 1), (5, 1), (5, 0), (8, 1)]
    found = spearman(alone(pairs))
    assert found is not None
    assert found.value == pytest.approx(stats.spearmanr(*zip(*pairs, strict=True)).statistic)
    assert (found.observations, found.clusters) == (7, 7)


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=1, max_size=20))
def test_ranks_are_scipys(stats, values):
    assert mean_ranks(values) == pytest.approx(stats.rankdata(values))


def test_the_interval_is_near_that_of_scipys_bootstrap(stats):
    rng = np.random.default_rng(3)
    first = rng.normal(size=80)
    pairs = list(zip(first, first + rng.normal(size=80), strict=True))
    theirs = stats.bootstrap(
        tuple(zip(*pairs, strict=True)),
        lambda x, y: stats.spearmanr(x, y).statistic,
        paired=True,
        vectorized=False,
        n_resamples=1000,
        method="percentile",
        rng=1,
    ).confidence_interval
    found = spearman(alone(pairs))
    assert found is not None
    assert found.bounds == pytest.approx(theirs, abs=0.05)
    assert found.excludes_zero


def test_attempts_at_one_task_count_as_one_draw():
    """Ten copies of each observation tell no more than one, so that the interval hardly changes."""
    pairs = [(float(number), float(number % 3)) for number in range(12)]
    once, often = spearman(alone(pairs)), spearman({name: found * 10 for name, found in alone(pairs).items()})
    assert once is not None
    assert often is not None
    assert often.value == pytest.approx(once.value)
    assert often.bounds == pytest.approx(once.bounds, abs=0.02)


def test_nothing_is_said_where_nothing_varies_and_no_interval_of_few_tasks():
    assert spearman(alone([(1, 1), (1, 2), (1, 3)])) is None
    assert spearman(alone([(1, 1), (2, 2)])) is None
    few = spearman({"a": [(1, 1), (2, 3)], "b": [(3, 2)]})
    assert few is not None
    assert few.bounds is None
    assert not few.excludes_zero
