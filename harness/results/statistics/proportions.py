"""Proportions with a confidence interval, tests on pairs, and ranks that claim no more than intervals allow."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb, sqrt
from typing import NamedTuple

from harness.results.statistics.distributions import even_binomial_at_most

Z_95 = 1.959963984540054
"""The 97.5th percentile of the standard normal distribution: a two-sided 95% interval."""


class Bounds(NamedTuple):
    """Bounds of a 95% interval."""

    low: float
    high: float


@dataclass(frozen=True)
class Rate:
    """A rate: `part` of `whole`, as fractions from 0 to 1; `low` and `high` are its 95% interval."""

    part: int
    whole: int
    low: float
    high: float

    @property
    def value(self) -> float:
        return self.part / self.whole

    @property
    def interval(self) -> str:
        """The interval in words: `95% interval 0% to 15%`."""
        return f"95% interval {self.low:.0%} to {self.high:.0%}"


def rate(part: int, whole: int) -> Rate:
    """Return a proportion with the score interval of Wilson (1927), which holds for small numbers too.

    Raises:
        ValueError: It isn't so that 0 <= part <= whole and whole > 0.
    """
    if not 0 <= part <= whole or whole <= 0:
        raise ValueError(f"{part} of {whole} is not a proportion")
    return Rate(part, whole, *score_bounds(part / whole, whole))


def score_bounds(share: float, whole: int) -> Bounds:
    """Return Wilson's interval of a share of `whole` observations.

    Each may itself be a share: of a task's attempts, say. Then the interval is wider than it need be, since a mean
    of
    shares varies less than a mean of zeros and ones.
    """
    square = Z_95**2
    centre = (share + square / (2 * whole)) / (1 + square / whole)
    half = Z_95 / (1 + square / whole) * sqrt(share * (1 - share) / whole + square / (4 * whole**2))
    return Bounds(max(0.0, centre - half), min(1.0, centre + half))


def score_bounds_of_difference(first: float, second: float, whole: int) -> Bounds:
    """Return the interval of `first - second`, both shares of the same `whole` observations, from Wilson's for each.

    Newcombe, Statistics in Medicine 17 (1998), p. 873, method 10, as for independent samples: where the two go up
    and down together, as sides do on easy and on hard tasks, it is wider than it need be.
    """
    one, two = score_bounds(first, whole), score_bounds(second, whole)
    below = sqrt((first - one.low) ** 2 + (two.high - second) ** 2)
    above = sqrt((one.high - first) ** 2 + (second - two.low) ** 2)
    return Bounds(max(-1.0, first - second - below), min(1.0, first - second + above))


def mcnemar(first: int, second: int) -> float:
    """Return the two-sided p of McNemar's exact test.

    Each of these tasks falls to either side with probability 1/2 where the two don't differ, so that this is the
    sign
    test: min(1, 2 * P(X <= min)) for a binomial X. McNemar, Psychometrika 12 (1947), p. 153; the exact form: Fleiss,
    Levin & Paik, Statistical Methods for Rates and Proportions (2003), chapter 13.

    Args:
        first: The number of tasks that the first side alone has won.
        second: The number of tasks that the second side alone has won.

    Returns:
        p; 1 where no task tells the sides apart.
    """
    if first < 0 or second < 0:
        raise ValueError(f"{first} and {second} are not counts")
    apart = first + second
    return min(1.0, 2 * even_binomial_at_most(min(first, second), apart)) if apart else 1.0


def holm(values: Sequence[float]) -> tuple[float, ...]:
    """Return p values adjusted for their number, in their order.

    The chance that any pair without a difference comes out below 5% is then at most 5%, however the tests depend on
    each other (Holm, Scandinavian Journal of Statistics 6 (1979), p. 65).
    """
    adjusted = [0.0] * len(values)
    largest = 0.0
    for rank, position in enumerate(sorted(range(len(values)), key=lambda index: values[index])):
        largest = max(largest, min(1.0, (len(values) - rank) * values[position]))
        adjusted[position] = largest
    return tuple(adjusted)


def ranks(intervals: Sequence[Bounds]) -> tuple[int, ...]:
    """Return for each system 1 + the number of systems whose interval lies wholly above its own.

    Equal ranks are ties.

    Systems whose intervals overlap aren't told apart, so that this is the best place which the data leave open.
    Bounds that differ by rounding alone are equal.
    """
    return tuple(1 + sum(other.low > own.high + _ROUNDING for other in intervals) for own in intervals)


_ROUNDING = 1e-9
_KNOWN = 50_000
"""Results that are remembered: in a large run many tasks have the same counts."""


@lru_cache(_KNOWN)
def pass_at(k: int, resolved: int, attempts: int) -> float:
    """Return the chance that at least one of `k` attempts resolves a task: 1 - C(n-c, k) / C(n, k), unbiased.

    Chen et al., "Evaluating large language models trained on code" (arXiv 2107.03374, 2021), equation 1. Raises
    ValueError unless 1 <= k <= attempts and 0 <= resolved <= attempts.
    """
    _check(k, resolved, attempts)
    return 1 - comb(attempts - resolved, k) / comb(attempts, k)


@lru_cache(_KNOWN)
def pass_all(k: int, resolved: int, attempts: int) -> float:
    """Return the chance that all of `k` attempts resolve a task (pass^k): C(c, k) / C(n, k), unbiased.

    The source is Yao et al., "tau-bench" (arXiv 2406.12045, 2024), section 4.

    Raises:
        ValueError: As `pass_at` does.
    """
    _check(k, resolved, attempts)
    return comb(resolved, k) / comb(attempts, k)


def _check(k: int, resolved: int, attempts: int) -> None:
    if not (1 <= k <= attempts and 0 <= resolved <= attempts):
        raise ValueError(f"k={k} with {resolved} of {attempts} attempts resolved")
