"""The three distributions that our intervals and tests need: normal, Student's t and the binomial with 1/2."""

from functools import lru_cache
from math import comb, cos, erfc, pi, sin, sqrt, tan

_HALVINGS = 80
"""Halvings of the interval from 0 to pi/2: more than a float can tell apart."""


def normal_below(value: float) -> float:
    """Return the chance that a standard normal variable is at most `value`: erfc(-value / sqrt(2)) / 2.

    Abramowitz & Stegun, Handbook of Mathematical Functions (1964), 26.2.29.
    """
    return erfc(-value / sqrt(2)) / 2


@lru_cache(maxsize=1000)
def t_quantile(share: float, freedom: int) -> float:
    """Return the value that a variable of Student's t distribution stays below with the chance `share`.

    The distribution function is inverted by bisection over the angle atan(value / sqrt(freedom)).

    Args:
        share: Above 0 and below 1.
        freedom: Degrees of freedom, 1 or more.

    Raises:
        ValueError: There is no such value.
    """
    if not 0 < share < 1 or freedom < 1:
        raise ValueError(f"no quantile {share} of Student's t with {freedom} degrees of freedom")
    if share < 0.5:
        return -t_quantile(1 - share, freedom)
    within, low, high = 2 * share - 1, 0.0, pi / 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _t_within(middle, freedom) < within:
            low = middle
        else:
            high = middle
    return sqrt(freedom) * tan(low)


def even_binomial_at_most(successes: int, trials: int) -> float:
    """Return the chance of at most `successes` in `trials`, each of which succeeds with the chance 1/2.

    The sum of C(trials, i) / 2**trials, in whole numbers up to the last step.
    """
    ways = sum(comb(trials, number) for number in range(successes + 1))
    return ways / (1 << trials)


def _t_within(angle: float, freedom: int) -> float:
    """Return the chance of a value between -x and x = sqrt(freedom) * tan(angle), negative for a negative angle."""
    odd = freedom % 2
    square = cos(angle) ** 2
    term, total = (cos(angle) if odd else 1.0), 0.0
    for power in range(3 if odd else 2, freedom + 1, 2):
        total += term
        term *= square * (power - 1) / power
    return 2 / pi * (angle + sin(angle) * total) if odd else sin(angle) * total
