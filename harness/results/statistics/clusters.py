"""Means and correlations over observations that come in clusters, with intervals.

Tasks of one repository are alike, and so are attempts at one task: what has happened once tends to happen again. An
interval that takes them for independent is too narrow.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from math import floor, sqrt
from operator import itemgetter
from random import Random

from harness.results.statistics.distributions import normal_below, t_quantile
from harness.results.statistics.proportions import Bounds

Clusters = Mapping[str, Sequence[float]]
"""The name of a cluster -> the values of its observations. No cluster is empty."""

Draw = Callable[[Sequence[float]], Sequence[float]]
"""Picks values of clusters, in the order of their names: as many as there are clusters, with replacement."""

LEVEL = 0.95
POWER = 0.8
RESAMPLES = 10_000
_NOTHING = 1e-12
"""The most that rounding leaves of residuals that are all 0."""
SEED = 20250101
"""Seed of the resampling: the same observations give the same interval, in whatever order they come."""


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
    """Return the mean of some values.

    Raises:
        ZeroDivisionError: There are none.
    """
    found = list(values)
    return sum(found) / len(found)


def cluster_mean(clusters: Clusters) -> ClusterMean:
    """Return the mean, with its cluster-robust standard error (the sandwich estimator CR1 of a mean).

    Variance = G/(G-1) * sum over clusters of (sum of the cluster's residuals)^2 / N^2, for G clusters of N
    observations in all. Cameron & Miller, Journal of Human Resources 50 (2015), p. 317, sections II and VI; Miller,
    "Adding error bars to evals" (arXiv 2411.00640, 2024), has it without the factor for few clusters.
    """
    sums, sizes = _totals(clusters)
    count, observations = len(sums), sum(sizes)
    value = sum(sums) / observations
    residuals = [total - size * value for total, size in zip(sums, sizes, strict=True)]
    if count < 2 or all(abs(residual) <= _NOTHING for residual in residuals):
        return ClusterMean(value, None, count)
    variance = count / (count - 1) * sum(residual**2 for residual in residuals) / observations**2
    return ClusterMean(value, sqrt(variance), count)


def t_bounds(clusters: Clusters, within: Bounds) -> Bounds | None:
    """Return the 95% interval of the mean by the t distribution with G-1 degrees of freedom.

    Returns:
        None without an error.
    """
    found = cluster_mean(clusters)
    if found.error is None:
        return None
    half = t_quantile((1 + LEVEL) / 2, found.freedom) * found.error
    return _clipped(found.value - half, found.value + half, within)


def bootstrap_bounds(
    clusters: Clusters, within: Bounds, resamples: int = RESAMPLES, seed: int = SEED
) -> Bounds | None:
    """Return the 95% interval of the mean when whole clusters are drawn again with replacement.

    Percentiles of the means of all draws (Efron & Tibshirani 1993, chapter 13; clusters: Davison & Hinkley 1997,
    section 3.8), moved outwards for few clusters: Hesterberg, The American Statistician 69 (2015), p. 371, the
    expanded percentile interval.

    Returns:
        None without an error.
    """
    found = cluster_mean(clusters)
    if found.error is None:
        return None
    sums, sizes = _totals(clusters)
    drawn = draws(found.clusters, resamples, seed)
    totals = [sum(draw(sums)) for draw in drawn]
    weights = (sum(draw(sizes)) for draw in drawn) if len({*sizes}) > 1 else repeat(sum(sizes), resamples)
    means = [total / weight for total, weight in zip(totals, weights, strict=True)]
    return _clipped(*middle_of(means, expanded_tail(found.clusters)), within)


@lru_cache(maxsize=4)
def draws(count: int, resamples: int = RESAMPLES, seed: int = SEED) -> Sequence[Draw]:
    """Return draws of `count` clusters (two or more) with replacement: the same ones for each pair of systems."""
    random, places = Random(seed).random, [*range(count)]
    return [itemgetter(*[places[floor(random() * count)] for _ in places]) for _ in range(resamples)]


def middle_of(values: Iterable[float], tail: float) -> tuple[float, float]:
    """Return the quantiles `tail` and 1 - `tail`, between two values in proportion.

    Hyndman & Fan, The American Statistician 50 (1996), p. 361, definition 7.
    """
    ordered = sorted(values)

    def quantile(share: float) -> float:
        place = share * (len(ordered) - 1)
        before = min(floor(place), len(ordered) - 2)
        return ordered[before] + (place - before) * (ordered[before + 1] - ordered[before])

    return quantile(tail), quantile(1 - tail)


def expanded_tail(count: int) -> float:
    """Return the share of draws beyond either end of a 95% interval: 0.025 for many clusters, less for few."""
    return normal_below(sqrt(count / (count - 1)) * t_quantile((1 - LEVEL) / 2, count - 1))


def minimum_detectable(clusters: Clusters) -> float | None:
    """Return the smallest true mean that a two-sided test at 5% tells from 0 with 80% power; None without an error.

    (t(0.975) + t(0.8)) * standard error, at G-1 degrees of freedom: Bloom, Evaluation Review 19 (1995), p. 547.
    """
    found = cluster_mean(clusters)
    if found.error is None:
        return None
    return (t_quantile((1 + LEVEL) / 2, found.freedom) + t_quantile(POWER, found.freedom)) * found.error


def _totals(clusters: Clusters) -> tuple[Sequence[float], Sequence[int]]:
    """Sum and number of each cluster's observations, by name: the order in which they come changes nothing."""
    names = sorted(clusters)
    return [sum(sorted(clusters[name])) for name in names], [len(clusters[name]) for name in names]


def _clipped(low: float, high: float, within: Bounds) -> Bounds:
    return Bounds(max(within.low, low), min(within.high, high))


Points = Mapping[str, Sequence[tuple[float, float]]]
"""The name of a cluster (a task) -> its observations."""

FEWEST_CLUSTERS = 5
"""The fewest clusters with which there is an interval: draws of fewer hardly differ."""


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
    """Return Spearman's rank correlation with its interval.

    It is Pearson's correlation of the ranks, ties having the mean of theirs (Spearman, American Journal of
    Psychology
    15 (1904), p. 72). The interval draws whole clusters again, as `bootstrap_bounds` does; ranks stay those of the
    whole sample.

    Returns:
        None where either quantity doesn't vary, or with fewer than three observations.
    """
    names = sorted(points)
    pairs = [pair for name in names for pair in points[name]]
    if len(pairs) < 3 or any(len({*values}) == 1 for values in zip(*pairs, strict=True)):
        return None
    first, second = (_centred(mean_ranks(values)) for values in zip(*pairs, strict=True))
    moments = zip(*_moments(first, second), strict=True)
    sums = [tuple(map(sum, zip(*(next(moments) for _ in points[name]), strict=True))) for name in names]
    columns = [*zip(*sums, strict=True)]
    value = _pearson(*map(sum, columns))
    assert value is not None, "both quantities vary"
    return Correlation(value, _bounds(columns), len(pairs), len(names))


def mean_ranks(values: Sequence[float]) -> list[float]:
    """Rank from 1; equal values have the mean of their ranks."""
    counts = Counter(values)
    ranks, below = dict[float, float](), 0
    for value in sorted(counts):
        ranks[value] = below + (counts[value] + 1) / 2
        below += counts[value]
    return [ranks[value] for value in values]


def _centred(values: Sequence[float]) -> list[float]:
    centre = mean(values)
    return [value - centre for value in values]


def _moments(x: Sequence[float], y: Sequence[float]) -> tuple[Sequence[float], ...]:
    """Return a column for each of 1, x, y, xx, yy, xy, with a value for each observation."""
    both = [*zip(x, y, strict=True)]
    return [1.0] * len(x), x, y, [a * a for a in x], [b * b for b in y], [a * b for a, b in both]


def _bounds(columns: Sequence[Sequence[float]]) -> Bounds | None:
    """Return bounds from summed moments, with a value for each cluster in each column."""
    count = len(columns[0])
    if count < FEWEST_CLUSTERS:
        return None
    drawn = (_pearson(*(sum(draw(column)) for column in columns)) for draw in draws(count))
    values = [value for value in drawn if value is not None]
    if len(values) < RESAMPLES / 2:
        return None
    low, high = middle_of(values, expanded_tail(count))
    return Bounds(max(-1.0, low), min(1.0, high))


def _pearson(n: float, x: float, y: float, xx: float, yy: float, xy: float) -> float | None:
    """Return the correlation of each row of summed moments; NaN where a quantity doesn't vary in it."""
    spread = (n * xx - x * x) * (n * yy - y * y)
    return (n * xy - x * y) / sqrt(spread) if spread > 1e-9 else None
