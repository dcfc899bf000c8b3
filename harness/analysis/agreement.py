"""How far two raters with yes-or-no answers agree, beyond what chance explains."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Agreement:
    """Pairs of answers, counted: `yes_no` are those where the first says yes and the second no."""

    yes_yes: int = 0
    yes_no: int = 0
    no_yes: int = 0
    no_no: int = 0

    @property
    def pairs(self) -> int:
        return self.yes_yes + self.yes_no + self.no_yes + self.no_no

    @property
    def same(self) -> int:
        return self.yes_yes + self.no_no

    @property
    def raw(self) -> float | None:
        """The share of pairs that agree; None without pairs."""
        return self.same / self.pairs if self.pairs else None

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa (1960), from -1 to 1; None where chance alone would make both agree always.

        That is so without pairs, and where both have given one and the same answer throughout.
        """
        if not self.pairs:
            return None
        first_yes, second_yes = self.yes_yes + self.yes_no, self.yes_yes + self.no_yes
        by_chance = first_yes * second_yes + (self.pairs - first_yes) * (self.pairs - second_yes)
        if by_chance == self.pairs**2:
            return None
        expected = by_chance / self.pairs**2
        return (self.same / self.pairs - expected) / (1 - expected)


def agreement(pairs: Iterable[tuple[bool, bool]]) -> Agreement:
    counts = {(True, True): 0, (True, False): 0, (False, True): 0, (False, False): 0}
    for pair in pairs:
        counts[pair] += 1
    return Agreement(*counts.values())
