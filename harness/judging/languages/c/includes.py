"""Files that C code includes: which are known for what they hold, and which aren't looked at."""

import re
from collections.abc import Callable
from posixpath import normpath

from harness.judging.languages.c.means import HEADERS
from harness.judging.languages.conduct import Sources

_OTHER_SOURCE = re.compile(r'"(.*/)?(\.\.|src)/.*\.c"|<.*\.c>')
_NO_CODE = re.compile(r'".*(?<!\.c)(?<!\.h)(?<!\.cc)(?<!\.hh)(?<!\.cpp)(?<!\.hpp)"')
"""Files whose content nobody looks at, since by their names they aren't code."""
_TABLE = re.compile(r'"(?!/)(?:.*/)?([^/]+\.(?:inc|def|tbl|inl))"')
"""Usual names of code that is included as a table; the repository has those that aren't the patch's own."""
_UP = re.compile(r"(?:\.{0,2}/)*")


class Includes:
    """The files of a repository and of a patch that code may include."""

    def __init__(self, sources: Sources, inspects: Callable[[bytes, str], bool]) -> None:
        """Take also what tells whether the text of a file of the patch inspects code."""
        self._inspects = inspects
        self._own = sources.own
        self._by_name: dict[str, list[str]] = {}
        for path in sources.own:
            self._by_name.setdefault(path.rpartition("/")[2], []).append(path)
        parts = [path.split("/") for path in sources.repository if path.endswith(".c") and path not in sources.own]
        self._sources = {"/".join(names[at:]) for names in parts for at in range(len(names))}
        self._seen: dict[str, bool] = {}
        self._is_looking = False

    def words(self, path: str, file: str, *, is_code: bool = True) -> str:
        """Return what including a path means, in words; one that isn't literal may be any."""
        if path[:1] not in ('"', "<") or not path:
            return "includes a file by a name that is made"
        if path[1:-1] in HEADERS:
            return f"includes {path[1:-1]}"
        table = _TABLE.fullmatch(path) if is_code else None
        if table is not None:
            return "includes a file that inspects code" if any(map(self._looks, self._named(table[1]))) else ""
        if _NO_CODE.fullmatch(path):
            return "includes a file that isn't code by its name"
        is_other = _OTHER_SOURCE.fullmatch(path) or self._is_source(path[1:-1], file)
        return "includes a second copy of the code" if is_other else ""

    def _named(self, name: str) -> list[str]:
        return self._by_name.get(name, [])

    def _is_source(self, path: str, file: str) -> bool:
        """Return whether a path is that of one of the repository's sources, and of none beside the file."""
        beside = normpath(f"{file.rpartition('/')[0] or '.'}/{path}")
        return beside not in self._own and _UP.sub("", normpath(path), count=1) in self._sources

    def _looks(self, path: str) -> bool:
        """Return whether a file of the patch inspects code, or has tables of its own."""
        if path not in self._seen:
            if self._is_looking:
                return True
            self._is_looking = True
            self._seen[path] = self._inspects(self._own[path], path)
            self._is_looking = False
        return self._seen[path]
