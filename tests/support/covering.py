"""A few of many cases that show all that the many show: a whole judging of each would take too long."""

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def covering(
    cases: Iterable[T],
    shown: Callable[[T], set[object]],
    cost: Callable[[T], float] = lambda _: 1.0,
    seen: frozenset[object] = frozenset(),
) -> list[T]:
    """Return cases that show together what all of them show and isn't seen already, in the order they are given.

    Those that show most for their cost are taken first, and left out again where later ones show it as well.
    """
    cases = list(cases)
    left = set().union(*map(shown, cases)) - seen
    chosen: list[int] = []
    while left:
        best = max(range(len(cases)), key=lambda at: len(shown(cases[at]) & left) / cost(cases[at]))
        chosen.append(best)
        left -= shown(cases[best])
    for at in sorted(chosen, key=lambda at: -cost(cases[at])):
        if shown(cases[at]) <= seen.union(*(shown(cases[other]) for other in chosen if other != at)):
            chosen.remove(at)
    return [cases[at] for at in sorted(chosen)]
