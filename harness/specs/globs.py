"""Path globs: `*` and `?` within a directory, `**` for any directories, relative to the tree's root.

Names that begin with a dot are as any other, case counts, and every other character stands for itself.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Annotated

from pydantic import AfterValidator, StringConstraints
from wcmatch import glob as wcmatch_glob

_FLAGS = wcmatch_glob.GLOBSTAR | wcmatch_glob.DOTGLOB | wcmatch_glob.CASE | wcmatch_glob.FORCEUNIX


def checked_glob(glob: str) -> str:
    """`glob`, if it has one meaning. Raises ValueError."""
    parts = glob.split("/")
    if any("**" in part and part != "**" for part in parts):
        raise ValueError(f"{glob!r}: '**' must be a whole part of the path, as in 'tests/**/*.py'")
    if any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"{glob!r}: a glob is relative to the repository's root, without '.', '..' or '//'")
    return glob


Glob = Annotated[str, StringConstraints(min_length=1, pattern=r"^[^/].*"), AfterValidator(checked_glob)]


def matches(path: str, globs: Iterable[str]) -> bool:
    """Whether `path`, as git has it, matches at least one of the globs as a whole."""
    return bool(_matcher(tuple(globs)).match(path))


@lru_cache(maxsize=256)
def _matcher(globs: tuple[str, ...]) -> wcmatch_glob.WcMatcher[str]:
    literal = [re.sub(r"([\[\]\\])", r"\\\1", glob) for glob in globs]
    return wcmatch_glob.compile(literal, flags=_FLAGS)
