"""The first of some names, in words."""

from collections.abc import Sequence


def first_few(names: Sequence[object], most: int) -> str:
    """Return the first names and how many more there are: `a, b and 3 more`; empty for none."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(str, names[:most])) + more
