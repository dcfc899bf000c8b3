"""Conditions that always hold, or never, in a form that no compiler sees through and no two of which look alike.

Each is about a variable whose value never changes: the compiler must not know that (`volatile` in C, a package's or
module's variable elsewhere). Values and numbers are below 2**30, so nothing overflows in any language.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

_LARGEST = 2**30 - 1
_PLAIN: tuple[Callable[["Hidden", Random, bool], str], ...]
_FORMS: tuple[Callable[["Hidden", Random, bool], str], ...]


@dataclass(frozen=True)
class Hidden:
    """A variable, by its name, and the value that it always has."""

    name: str
    value: int

    @classmethod
    def drawn(cls, name: str, chance: Random) -> "Hidden":
        return cls(name, chance.randint(2, _LARGEST >> chance.choice((0, 4, 12, 20))))


def condition(hidden: Hidden, chance: Random, holds: bool) -> str:
    """A condition that always holds, or never; in C, Go and JavaScript it is the same text."""
    return chance.choice(_FORMS)(hidden, chance, holds)


def plain_condition(hidden: Hidden, chance: Random, holds: bool) -> str:
    """Such a condition, of those that no compiler warns of, also where nothing is hidden from it."""
    return chance.choice(_PLAIN)(hidden, chance, holds)


def _equal(hidden: Hidden, chance: Random, holds: bool) -> str:
    return _compared(hidden.name, hidden.value, chance, holds)


def _remainder(hidden: Hidden, chance: Random, holds: bool) -> str:
    divisor = chance.randint(3, 97)
    return _compared(f"{hidden.name} % {divisor}", hidden.value % divisor, chance, holds)


def _masked(hidden: Hidden, chance: Random, holds: bool) -> str:
    mask = chance.randint(3, _LARGEST)
    return _compared(f"({hidden.name} & {mask})", hidden.value & mask, chance, holds)


def _mixed(hidden: Hidden, chance: Random, holds: bool) -> str:
    other = chance.randint(1, _LARGEST)
    return _compared(f"({hidden.name} ^ {other})", hidden.value ^ other, chance, holds)


def _shifted(hidden: Hidden, chance: Random, holds: bool) -> str:
    bits = chance.randint(1, 9)
    return _compared(f"({hidden.name} >> {bits})", hidden.value >> bits, chance, holds)


def _added(hidden: Hidden, chance: Random, holds: bool) -> str:
    other = chance.randint(1, _LARGEST)
    return _compared(f"({hidden.name} + {other})", hidden.value + other, chance, holds)


_FORMS = (_equal, _remainder, _masked, _mixed, _shifted, _added)
_PLAIN = (_equal, _mixed, _added)


def _compared(what: str, value: int, chance: Random, holds: bool) -> str:
    """A comparison of `what`, which is `value`, with another number or the same one. Both are at least 0."""
    distance = chance.randint(1, 1 + (value >> 1))
    higher = value + distance
    true = [f"{what} == {value}", f"{what} < {higher}", f"{what} != {higher}", f"{what} <= {higher}"]
    false = [f"{what} != {value}", f"{what} >= {higher}", f"{what} == {higher}", f"{what} > {value}"]
    if value > 1:
        lower = max(value - distance, 1)
        true += [f"{what} > {lower - 1}", f"{what} >= {lower}"]
        false += [f"{what} < {lower}", f"{what} <= {lower - 1}", f"{what} == {lower - 1}"]
    return chance.choice(true if holds else false)
