"""Files that C code includes: which are known for what they hold, and which aren't looked at."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from posixpath import normpath

from tree_sitter import Node

from harness.judging.languages.c.means import HEADERS
from harness.judging.languages.c.written import read
from harness.judging.languages.conduct import Sources
from harness.judging.languages.found import nodes_of, text_of

_OTHER_SOURCE = re.compile(r'"(.*/)?(\.\.|src)/.*\.c"|<.*\.c>')
_NO_CODE = re.compile(r'".*(?<!\.c)(?<!\.h)(?<!\.cc)(?<!\.hh)(?<!\.cpp)(?<!\.hpp)"')
"""Files whose content nobody looks at, since by their names they aren't code."""
_TABLE = re.compile(r'"(?!/)(?:.*/)?([^/]+\.(?:inc|def|tbl|inl))"')
"""Usual names of code that is included as a table; the repository has those that aren't the patch's own."""
_UP = re.compile(r"(?:\.{0,2}/)*")
_CODE = (".c", ".h", ".cc", ".cpp")
_OTHER_CODE = (".inc", ".def", ".tbl", ".inl", ".hh", ".hpp", ".hxx", ".ipp")
"""Usual suffixes of what is included and is no header of C."""
_SPLIT = re.compile(rb"\\[ \t\r]*\n")
_PATH = re.compile(r'\s*("[^"]*"|<[^>]*>)')


def literal_path(directive: str) -> str:
    """Return the path that is written behind `#include`, quotes included; empty for one that is made."""
    found = _PATH.match(directive)
    return found[1] if found else ""


def included(own: Mapping[str, bytes]) -> frozenset[str]:
    """Return the files of a patch that are code without a suffix of C: by their own suffix, or as C includes them."""
    found = {path for path in own if path.endswith(_OTHER_CODE)}
    others: dict[str, list[str]] = {}
    for path in own:
        if not path.endswith((*_CODE, *_OTHER_CODE)):
            others.setdefault(path.rpartition("/")[2], []).append(path)
    waiting = [path for path in own if path.endswith(_CODE) or path in found] if others else []
    while waiting:
        path = waiting.pop()
        text = _SPLIT.sub(b"", own[path])
        if any(name.encode() in text for name in others):
            for name in _included_names(read(own[path], path)):
                more = others.pop(name, [])
                found.update(more)
                waiting += more
    return frozenset(found)


def _included_names(root: Node) -> Iterator[str]:
    for node in nodes_of(root):
        if node.type == "preproc_include":
            path = literal_path(text_of(node.child_by_field_name("path")))
        elif node.type == "preproc_call" and text_of(node.child_by_field_name("directive")) != "#embed":
            path = literal_path(text_of(node.child_by_field_name("argument")))
        else:
            continue
        yield path[1:-1].rpartition("/")[2]


class Includes:
    """The files of a repository and of a patch that code may include."""

    def __init__(self, sources: Sources, others: Collection[str], inspects: Callable[[bytes, str], bool]) -> None:
        """Take also the files that `included` found, and what tells whether a file of the patch inspects code."""
        self._inspects, self._others = inspects, others
        self._own = sources.own
        self._by_name: dict[str, list[str]] = {}
        for path in sources.own:
            self._by_name.setdefault(path.rpartition("/")[2], []).append(path)
        parts = [path.split("/") for path in sources.repository if path.endswith(".c") and path not in sources.own]
        self._sources = {"/".join(names[at:]) for names in parts for at in range(len(names))}
        self._seen: dict[str, bool] = {}
        self._looking = ""

    def words(self, path: str, file: str, *, is_code: bool = True) -> str:
        """Return what including a path means, in words; one that isn't literal may be any."""
        if path[:1] not in ('"', "<") or not path:
            return "includes a file by a name that is made"
        if path[1:-1] in HEADERS:
            return f"includes {path[1:-1]}"
        read_too = [] if path[1] == "/" or not is_code else self._named(path[1:-1].rpartition("/")[2])
        if any(map(self._looks, read_too)):
            return "includes a file that inspects code"
        if read_too or (is_code and _TABLE.fullmatch(path)):
            return ""
        if _NO_CODE.fullmatch(path):
            return "includes a file that isn't code by its name"
        is_other = _OTHER_SOURCE.fullmatch(path) or self._is_source(path[1:-1], file)
        return "includes a second copy of the code" if is_other else ""

    def _named(self, name: str) -> list[str]:
        """Return the files of the patch that are looked at by themselves, though they have no suffix of C."""
        return [path for path in self._by_name.get(name, []) if path in self._others]

    def _is_source(self, path: str, file: str) -> bool:
        """Return whether a path is that of one of the repository's sources, and of none beside the file."""
        beside = normpath(f"{file.rpartition('/')[0] or '.'}/{path}")
        return beside not in self._own and _UP.sub("", normpath(path), count=1) in self._sources

    def _looks(self, path: str) -> bool:
        """Return whether a file of the patch inspects code, or includes itself; each other is looked at by itself."""
        if path not in self._seen:
            if self._looking:
                return path == self._looking
            self._looking = path
            self._seen[path] = self._inspects(self._own[path], path)
            self._looking = ""
        return self._seen[path]
