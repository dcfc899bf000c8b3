"""How often something happened, with a confidence interval."""

from dataclasses import dataclass
from math import sqrt

Z_95 = 1.959963984540054
"""The 97.5th percentile of the standard normal distribution: a two-sided 95% interval."""


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
    share, square = part / whole, Z_95**2
    centre = (share + square / (2 * whole)) / (1 + square / whole)
    half = Z_95 / (1 + square / whole) * sqrt(share * (1 - share) / whole + square / (4 * whole**2))
    return Rate(part, whole, max(0.0, centre - half), min(1.0, centre + half))
