"""Meanings of a file's names by its imports. Pure."""

from collections.abc import Iterable, Iterator

from tree_sitter import Node

from harness.judging.languages.python.classes import name_of, text_of


class Imports:
    """Names that the imports of a file bind, and listed ones that may be meant without their module's name."""

    def __init__(self, statements: Iterable[Node], listed: Iterable[str], common: frozenset[str]) -> None:
        """Take import statements, whole names of interest, and last parts that many other things have too."""
        bound = [(name, whole) for statement in statements for _, name, whole in imports_of(statement)]
        self._bound = dict(bound)
        modules = {module for _, whole in bound for module in (whole, whole.rpartition(".")[0])}
        parted = [(whole, *whole.rpartition(".")[::2]) for whole in listed]
        self._members = {last: whole for whole, module, last in parted if module in modules and last not in common}
        self._starred = {last: whole for whole, module, last in parted if f"{module}.*" in modules}
        self.has_stars = "*" in self._bound

    def resolved(self, name: str) -> str:
        """Return a dotted name by what the file imports; what is built in has no module."""
        first, dot, rest = name.partition(".")
        whole = self._bound.get(first, first) + dot + rest
        return whole.removeprefix("builtins.").removeprefix("__builtins__.")

    def member(self, of: str, name: str) -> str:
        """Return the listed name that a member of anything must be, if the file imports its module; else nothing.

        It is none of what is imported under another name, and none of a test itself.
        """
        first, _, rest = of.partition(".")
        is_known = first in self._bound or (first in ("self", "cls") and not rest)
        return "" if is_known else self._members.get(name, "")

    def starred(self, name: str) -> str:
        """Return the listed name that a plain name is by an import of all that a module has; else nothing."""
        return self._starred.get(name, "")


def imports_of(statement: Node) -> Iterator[tuple[Node, str, str]]:
    """Yield each part of a statement that binds a name, the name, and what it stands for; `*` for all names."""
    module = name_of(statement.child_by_field_name("module_name"))
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
