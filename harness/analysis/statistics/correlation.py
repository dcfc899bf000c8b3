"""How far two quantities go up and down together, over observations that come in clusters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness.analysis.statistics.clusters import RESAMPLES, SEED, Array, expanded_tail
from harness.analysis.statistics.proportions import Bounds

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
