"""Meanings of a file's names by its imports. Pure."""

from collections.abc import Callable, Iterable, Iterator

from tree_sitter import Node

from harness.judging.languages.python.classes import name_of, text_of

_MOST_MEANINGS = 10
_SAME = {"builtins": "", "__builtins__": "", "posix": "os", "posixpath": "os.path"}
"""Modules that are others, or whose names need no module."""


class Imports:
    """Names that the imports of a file bind, and listed ones that may be meant without their module's name."""

    def __init__(
        self,
        statements: Iterable[Node],
        listed: Iterable[str],
        common: frozenset[str],
        matters: Callable[[str], bool],
    ) -> None:
        """Take import statements, whole names of interest, and last parts that many other things have too."""
        self._matters = matters
        self._bound: dict[str, list[str]] = {}
        self._places: dict[str, list[int]] = {}
        modules = set[str]()
        for statement in statements:
            for _, name, whole in imports_of(statement):
                modules |= {whole, whole.rpartition(".")[0]}
                meanings = self._bound.setdefault(name, [])
                if whole not in meanings:
                    meanings.append(whole)
                self._places.setdefault(name, []).append(statement.start_byte)
        self._stars = [whole[:-1] for whole in self._bound.get("*", ())][:_MOST_MEANINGS]
        parted = [(whole, *whole.rpartition(".")[::2]) for whole in listed]
        self._members = {last: whole for whole, module, last in parted if module in modules and last not in common}
        self.has_stars = bool(self._stars)

    def resolved(self, name: str) -> str:
        """Return a dotted name by what the file imports: of several meanings the one that matters.

        What is built in has no module.
        """
        first, dot, rest = name.partition(".")
        bound = self._bound.get(first)
        if bound is None and not self._stars:
            return _plain(name)
        wholes = [_plain(meaning + dot + rest) for meaning in (bound or (first,))[-_MOST_MEANINGS:]]
        starred = [] if bound else [_plain(module + name) for module in self._stars]
        return next((whole for whole in (*wholes, *starred) if self._matters(whole)), wholes[-1])

    def member(self, of: str, name: str) -> str:
        """Return the listed name that a member of anything must be, if the file imports its module; else nothing.

        It is none of what is imported under another name, and none of a test itself.
        """
        first, _, rest = of.partition(".")
        is_known = first in self._bound or (first in ("self", "cls") and not rest)
        return "" if is_known else self._members.get(name, "")

    def places(self, name: str) -> list[int]:
        """Return where statements begin that bind a name; the first ones of many."""
        return self._places.get(name, [])[:_MOST_MEANINGS]


def _plain(whole: str) -> str:
    """Return a whole name under the usual name of its module."""
    for module, usual in _SAME.items():
        if whole.startswith(f"{module}."):
            return f"{usual}.{whole[len(module) + 1 :]}".lstrip(".")
    return whole


def imports_of(statement: Node) -> Iterator[tuple[Node, str, str]]:
    """Yield each part of a statement that binds a name, the name, and what it stands for; `*` for all names."""
    module = name_of(statement.child_by_field_name("module_name"))
    module = _plain(f"{module}.")[:-1] if module.startswith("posix") else module
    for item in statement.named_children:
        if item.type == "wildcard_import":
            yield item, "*", f"{module}.*"
    for item in statement.children_by_field_name("name"):
        name = name_of(item.child_by_field_name("name") if item.type == "aliased_import" else item)
        alias = text_of(item.child_by_field_name("alias"))
        whole = f"{module}.{name}" if module else name
        if alias or module:
            yield item, alias or name, whole
        else:
            yield item, name.partition(".")[0], name.partition(".")[0]
            yield item, name, name
