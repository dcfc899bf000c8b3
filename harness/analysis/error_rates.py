"""Both kinds of error that a verifier can make, on submissions whose right verdict is known."""

from collections.abc import Iterable
from typing import NamedTuple

from harness.analysis.statistics.proportions import Rate, rate

ALL = "all"


class Answer(NamedTuple):
    """A judged submission: its group, whether it is good enough, and whether it was resolved."""

    group: str
    is_sufficient: bool
    is_resolved: bool


class ErrorRates(NamedTuple):
    """Errors of one group; None where no submission could show one.

    `refusals` is the share of sufficient submissions that weren't resolved, `acceptances` that of the others that
    were.
    """

    group: str
    refusals: Rate | None
    acceptances: Rate | None


def error_rates(answers: Iterable[Answer]) -> list[ErrorRates]:
    """The rates of all submissions together, called `all`, then those of each group by name. Pure."""
    found = list(answers)
    groups = sorted({answer.group for answer in found})
    return [_rates(ALL, found), *(_rates(group, [item for item in found if item.group == group]) for group in groups)]


def _rates(group: str, answers: list[Answer]) -> ErrorRates:
    sufficient = [answer.is_resolved for answer in answers if answer.is_sufficient]
    others = [answer.is_resolved for answer in answers if not answer.is_sufficient]
    return ErrorRates(group, _share(sufficient.count(False), sufficient), _share(others.count(True), others))


def _share(part: int, whole: list[bool]) -> Rate | None:
    return rate(part, len(whole)) if whole else None
