"""How often something happened, with a confidence interval."""

from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

Z_95 = 1.959963984540054
"""The 97.5th percentile of the standard normal distribution: a two-sided 95% interval."""


class Bounds(NamedTuple):
    """Of a 95% interval."""

    low: float
    high: float


@dataclass(frozen=True)
class Rate:
    """`part` of `whole`, as fractions from 0 to 1; `low` and `high` are its 95% interval."""

    part: int
    whole: int
    low: float
    high: float

    @property
    def value(self) -> float:
        return self.part / self.whole

    @property
    def interval(self) -> str:
        """In words: `95% interval 0% to 15%`."""
        return f"95% interval {self.low:.0%} to {self.high:.0%}"


def rate(part: int, whole: int) -> Rate:
    """A proportion with the score interval of Wilson (1927), which holds for small numbers too.

    Raises ValueError unless 0 <= part <= whole and whole > 0.
    """
    if not 0 <= part <= whole or whole <= 0:
        raise ValueError(f"{part} of {whole} is not a proportion")
    return Rate(part, whole, *score_bounds(part / whole, whole))


def score_bounds(share: float, whole: int) -> Bounds:
    """Wilson's interval of a share of `whole` observations. Each may itself be a share: of a task's attempts, say.

    Then it is wider than it need be, since a mean of shares varies less than a mean of zeros and ones.
    """
    square = Z_95**2
    centre = (share + square / (2 * whole)) / (1 + square / whole)
    half = Z_95 / (1 + square / whole) * sqrt(share * (1 - share) / whole + square / (4 * whole**2))
    return Bounds(max(0.0, centre - half), min(1.0, centre + half))


def score_bounds_of_difference(first: float, second: float, whole: int) -> Bounds:
    """The interval of `first - second`, both shares of the same `whole` observations, from Wilson's for each.

    Newcombe, Statistics in Medicine 17 (1998), p. 873, method 10, as for independent samples: where the two go up
    and down together, as sides do on easy and on hard tasks, it is wider than it need be.
    """
    one, two = score_bounds(first, whole), score_bounds(second, whole)
    below = sqrt((first - one.low) ** 2 + (two.high - second) ** 2)
    above = sqrt((one.high - first) ** 2 + (second - two.low) ** 2)
    return Bounds(max(-1.0, first - second - below), min(1.0, first - second + above))
