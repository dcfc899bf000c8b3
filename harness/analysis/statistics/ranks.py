"""Ranks that claim no more than intervals allow."""

from collections.abc import Sequence

from harness.analysis.statistics.proportions import Bounds


def ranks(intervals: Sequence[Bounds]) -> tuple[int, ...]:
    """1 + the number of systems whose interval lies wholly above, for each. Equal ranks are ties.

    Systems whose intervals overlap aren't told apart, so that this is the best place which the data leave open.
    """
    return tuple(1 + sum(other.low > own.high for other in intervals) for own in intervals)
