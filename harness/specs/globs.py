"""Path globs: `*` within a directory, `**` across them, relative to the tree's root."""

import re
from collections.abc import Iterable
from functools import cache


def matches(path: str, globs: Iterable[str]) -> bool:
    """Whether `path` matches at least one of the globs as a whole."""
    return any(_pattern(glob).fullmatch(path) for glob in globs)


@cache
def _pattern(glob: str) -> re.Pattern[str]:
    tokens = re.split(r"(\*\*/|\*\*|\*|\?)", glob)
    known = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(known.get(token) or re.escape(token) for token in tokens), re.DOTALL)
