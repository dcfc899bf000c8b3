"""The names in a log or file that are nearest to a missing name."""

import difflib
import re
from collections.abc import Iterable

_NAMED = 3
_CUTOFF, _AS_GOOD = 0.6, 0.1
"""Of likeness, which is 1 for the same: what a name must have, and what it may lack of the best."""
_LAST = re.compile(r".*(?:::| > | \| |\.)", re.DOTALL)
_CASE = re.compile(r"\[.*|/.*| - .*| \(.*", re.DOTALL)


def nearest(name: str, names: Iterable[str]) -> str:
    """In words: the names most like it by their last part, at most three; else how many there are."""
    known = list(dict.fromkeys(names))
    mine = _last(name)
    likeness = {other: difflib.SequenceMatcher(None, mine, _last(other)).ratio() for other in known}
    least = max(_CUTOFF, max(likeness.values(), default=0) - _AS_GOOD)
    close = sorted((other for other in known if likeness[other] >= least), key=lambda other: -likeness[other])
    if not close:
        return f"nothing is like it among the {len(known)} names that are there"
    more = f" and {len(close) - _NAMED} more" if len(close) > _NAMED else ""
    return f"nearest: {', '.join(close[:_NAMED])}{more}"


def last_part(name: str) -> str:
    """Of a name as a manifest or log has it, without the case that a log adds behind it."""
    head = name.partition("::")[0] if "::" in name else ""
    rest = name[len(head) :]
    return _LAST.sub("", _CASE.sub("", rest)) or rest


def _last(name: str) -> str:
    """To be compared: without what all names have in common."""
    return last_part(name).lower().removeprefix("test").lstrip("_")
