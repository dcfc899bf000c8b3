"""Whether two sides differ on the same tasks, and what is left of that when several pairs are tested."""

from collections.abc import Sequence

from scipy.special import bdtr


def mcnemar(first: int, second: int) -> float:
    """Two-sided p of McNemar's exact test: `first` and `second` count the tasks that one side alone has won.

    Each of these tasks falls to either side with probability 1/2 where the two don't differ, so that this is the sign
    test: min(1, 2 * P(X <= min)) for a binomial X. 1 where no task tells the sides apart. McNemar, Psychometrika 12
    (1947), p. 153; the exact form: Fleiss, Levin & Paik, Statistical Methods for Rates and Proportions (2003),
    chapter 13.
    """
    if first < 0 or second < 0:
        raise ValueError(f"{first} and {second} are not counts")
    apart = first + second
    return min(1.0, 2 * float(bdtr(min(first, second), apart, 0.5))) if apart else 1.0


def holm(values: Sequence[float]) -> tuple[float, ...]:
    """p values adjusted for their number, in their order (Holm, Scandinavian Journal of Statistics 6 (1979), p. 65).

    The chance that any pair without a difference comes out below 5% is then at most 5%, however the tests depend on
    each other.
    """
    adjusted = [0.0] * len(values)
    largest = 0.0
    for rank, position in enumerate(sorted(range(len(values)), key=lambda index: values[index])):
        largest = max(largest, min(1.0, (len(values) - rank) * values[position]))
        adjusted[position] = largest
    return tuple(adjusted)
