"""A mean over observations that come in clusters, and how far it can be trusted.

Tasks of one repository are alike, and so are attempts at one task: what has happened once tends to happen again. An
interval that takes them for independent is too narrow.

How far two quantities go up and down together, over observations that come in clusters.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtrit

from harness.results.statistics.proportions import Bounds

Clusters = Mapping[str, Sequence[float]]
"""The name of a cluster -> the values of its observations. No cluster is empty."""

Array = NDArray[np.float64]

LEVEL = 0.95
POWER = 0.8
RESAMPLES = 10_000
SEED = 20250101
"""Of the resampling: the same observations give the same interval, in whatever order they come."""


@dataclass(frozen=True)
class ClusterMean:
    """The mean over all observations, and its standard error by the differences between `clusters` of them.

    `error` is None where a single cluster, or clusters without any difference, leave nothing to tell it from.
    """

    value: float
    error: float | None
    clusters: int

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the t distribution that goes with `error`."""
        return self.clusters - 1


def mean(values: Iterable[float]) -> float:
    """Raises ZeroDivisionError where there are none."""
    found = list(values)
    return sum(found) / len(found)


def cluster_mean(clusters: Clusters) -> ClusterMean:
    """The mean, with its cluster-robust standard error (the sandwich estimator CR1 of a mean).

    Variance = G/(G-1) * sum over clusters of (sum of the cluster's residuals)^2 / N^2, for G clusters of N
    observations in all. Cameron & Miller, Journal of Human Resources 50 (2015), p. 317, sections II and VI; Miller,
    "Adding error bars to evals" (arXiv 2411.00640, 2024), has it without the factor for few clusters.
    """
    sums, sizes = _totals(clusters)
    value = float(sums.sum() / sizes.sum())
    residuals = sums - sizes * value
    count = len(sums)
    if count < 2 or np.allclose(residuals, 0.0, atol=1e-12):
        return ClusterMean(value, None, count)
    variance = count / (count - 1) * float(residuals @ residuals) / float(sizes.sum()) ** 2
    return ClusterMean(value, sqrt(variance), count)


def t_bounds(clusters: Clusters, within: Bounds) -> Bounds | None:
    """The 95% interval of the mean by the t distribution with G-1 degrees of freedom; None without an error."""
    found = cluster_mean(clusters)
    if found.error is None:
        return None
    half = float(stdtrit(found.freedom, (1 + LEVEL) / 2)) * found.error
    return _clipped(found.value - half, found.value + half, within)


def bootstrap_bounds(
    clusters: Clusters, within: Bounds, resamples: int = RESAMPLES, seed: int = SEED
) -> Bounds | None:
    """The 95% interval of the mean when whole clusters are drawn again with replacement; None without an error.

    Percentiles of the means of all draws (Efron & Tibshirani 1993, chapter 13; clusters: Davison & Hinkley 1997,
    section 3.8), moved outwards for few clusters: Hesterberg, The American Statistician 69 (2015), p. 371, the
    expanded percentile interval.
    """
    found = cluster_mean(clusters)
    if found.error is None:
        return None
    sums, sizes = _totals(clusters)
    count = found.clusters
    draws = _draws(count, resamples, seed)
    means = (draws @ sums) / (draws @ sizes)
    tail = expanded_tail(count)
    low, high = np.quantile(means, (tail, 1 - tail))
    return _clipped(float(low), float(high), within)


@lru_cache(maxsize=2)
def _draws(count: int, resamples: int, seed: int) -> Array:
    """How often each of `count` clusters is drawn, a line for each draw: the same ones for each pair of systems."""
    draws = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=resamples).astype(float)
    draws.setflags(write=False)
    return draws


def expanded_tail(count: int) -> float:
    """The share of draws that lies beyond either end of a 95% interval: 0.025 for many clusters, less for few."""
    t_quantile = float(stdtrit(count - 1, (1 - LEVEL) / 2))
    return float(ndtr(sqrt(count / (count - 1)) * t_quantile))


def minimum_detectable(clusters: Clusters) -> float | None:
    """The smallest true mean that a two-sided test at 5% tells from 0 with 80% power; None without an error.

    (t(0.975) + t(0.8)) * standard error, at G-1 degrees of freedom: Bloom, Evaluation Review 19 (1995), p. 547.
    """
    found = cluster_mean(clusters)
    if found.error is None:
        return None
    quantiles = stdtrit(found.freedom, (1 + LEVEL) / 2) + stdtrit(found.freedom, POWER)
    return float(quantiles) * found.error


def _totals(clusters: Clusters) -> tuple[Array, Array]:
    """Sum and number of each cluster's observations, by name: the order in which they come changes nothing."""
    names = sorted(clusters)
    sums = np.array([sum(sorted(clusters[name])) for name in names], dtype=float)
    return sums, np.array([len(clusters[name]) for name in names], dtype=float)


def _clipped(low: float, high: float, within: Bounds) -> Bounds:
    return Bounds(max(within.low, low), min(within.high, high))


Points = Mapping[str, Sequence[tuple[float, float]]]
"""The name of a cluster (a task) -> its observations."""

FEWEST_CLUSTERS = 5
"""With fewer there is no interval: draws of so few clusters hardly differ."""


@dataclass(frozen=True)
class Correlation:
    """Spearman's rho of `observations` in `clusters`, with its 95% interval; None with fewer than five clusters."""

    value: float
    bounds: Bounds | None
    observations: int
    clusters: int

    @property
    def excludes_zero(self) -> bool:
        return self.bounds is not None and (self.bounds.low > 0 or self.bounds.high < 0)


def spearman(points: Points) -> Correlation | None:
    """Spearman's rank correlation (American Journal of Psychology 15 (1904), p. 72): Pearson's of the ranks, ties
    having the mean of theirs. None where either quantity doesn't vary, or with fewer than three observations.

    The interval draws whole clusters again, as `bootstrap_bounds` does; ranks stay those of the whole sample.
    """
    names = sorted(points)
    pairs = np.array([pair for name in names for pair in points[name]], dtype=float).reshape(-1, 2)
    if len(pairs) < 3 or not (np.ptp(pairs, axis=0) > 0).all():
        return None
    ranked = np.column_stack([mean_ranks(pairs[:, 0]), mean_ranks(pairs[:, 1])])
    ranked -= ranked.mean(axis=0)
    moments = _moments(ranked)
    starts = np.cumsum([0, *(len(points[name]) for name in names)])[:-1]
    sums = np.add.reduceat(moments, starts, axis=0)
    value = float(_pearson(sums.sum(axis=0)[None, :])[0])
    return Correlation(value, _bounds(sums), len(pairs), len(names))


def mean_ranks(values: Array) -> Array:
    """From 1; equal values have the mean of their ranks."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: Array = (last - (counts - 1) / 2)[inverse]
    return ranks


def _moments(ranked: Array) -> Array:
    """A row for each observation: 1, x, y, xx, yy, xy."""
    x, y = ranked[:, 0], ranked[:, 1]
    return np.column_stack([np.ones(len(x)), x, y, x * x, y * y, x * y])


def _bounds(sums: Array) -> Bounds | None:
    count = len(sums)
    if count < FEWEST_CLUSTERS:
        return None
    draws = np.random.default_rng(SEED).multinomial(count, np.full(count, 1 / count), size=RESAMPLES)
    values = _pearson(draws @ sums)
    values = values[np.isfinite(values)]
    if len(values) < RESAMPLES / 2:
        return None
    tail = expanded_tail(count)
    low, high = np.quantile(values, (tail, 1 - tail))
    return Bounds(max(-1.0, float(low)), min(1.0, float(high)))


def _pearson(sums: Array) -> Array:
    """Of each row of summed moments; NaN where a quantity doesn't vary in it."""
    n, x, y, xx, yy, xy = sums.T
    spread = (n * xx - x * x) * (n * yy - y * y)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Array = np.where(spread > 1e-9, (n * xy - x * y) / np.sqrt(np.maximum(spread, 0)), np.nan)
    return found
