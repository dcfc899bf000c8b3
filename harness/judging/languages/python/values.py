"""Values that a Python file gives to its names, by the function that a name stands in. Pure."""

from collections.abc import Callable, Iterator

from tree_sitter import Node

from harness.judging.languages.dotted_names import bare
from harness.judging.languages.pathnames import UNKNOWN, Names, written
from harness.judging.languages.python.classes import text_of
from harness.judging.languages.scopes import FILE, Scopes

_MOST_VALUES = 6
"""Values of one name that are looked at: the first ones and the last ones."""
_MOST_TARGETS = 50
_DEEPEST = 8
_PATTERNS = frozenset({"pattern_list", "tuple_pattern", "list_pattern"})
_LISTS = frozenset({"expression_list", "tuple", "list"})


class Values:
    """Values of names: all of a name in its function, as nobody knows which is set last."""

    def __init__(self, whole: Callable[[str], str]) -> None:
        """Take what tells a dotted name by the file's imports."""
        self.scopes = Scopes()
        self._whole = whole
        self._found: dict[tuple[int, str], list[Node | None]] = {}
        self._known = set[str]()
        self._global = set[tuple[int, str]]()
        self._texts: dict[tuple[int, int], str] = {}
        self._depth = self._count = 0

    def look(self, node: Node) -> None:
        """Take what a node sets. Nodes come in the order of the text."""
        if node.type in ("function_definition", "lambda"):
            scope = self.scopes.add(node)
            parameters = node.child_by_field_name("parameters")
            for child in parameters.named_children if parameters is not None else ():
                self._set(child.child_by_field_name("name") or next(iter(child.named_children), child), None, scope)
        elif node.type == "assignment":
            self._assign(node)
        elif node.type == "named_expression":
            self._set(node.child_by_field_name("name"), node.child_by_field_name("value"))
        elif node.type in ("for_statement", "for_in_clause"):
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            for value in right.named_children if right is not None and right.type in _LISTS else [None]:
                self._set(left, value)
        elif node.type == "as_pattern_target":
            self._set(next(iter(node.named_children), None), None)
        elif node.type == "global_statement":
            scope = self.scopes.innermost(node.start_byte)
            self._global |= {(scope, text_of(name)) for name in node.named_children}

    def _assign(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        value = right
        for _ in range(_DEEPEST):
            if value is None or value.type != "assignment":
                break
            value = value.child_by_field_name("right")
        if left is None or value is None:
            return
        if left.type in _PATTERNS and value.type in _LISTS:
            pairs = zip(left.named_children[:_MOST_TARGETS], value.named_children[:_MOST_TARGETS], strict=False)
            for name, part in pairs:
                self._set(name, part)
        else:
            self._set(left, value)

    def _set(self, name: Node | None, value: Node | None, scope: int | None = None) -> None:
        if name is None or name.type != "identifier":
            return
        scope = self.scopes.innermost(name.start_byte) if scope is None else scope
        text = text_of(name)
        self._known.add(text)
        self._found.setdefault((FILE if (scope, text) in self._global else scope, text), []).append(value)

    def knows(self, name: str) -> bool:
        """Return whether a name is set anywhere."""
        return name in self._known

    def of(self, name: Node) -> list[Node | None]:
        """Return what a name is set to where it stands; None for what nobody knows."""
        text = text_of(name)
        if text not in self._known:
            return []
        scopes = self.scopes.around(name.start_byte)
        found = next((self._found[scope, text] for scope in scopes if (scope, text) in self._found), [])
        return found if len(found) <= _MOST_VALUES else [*found[: _MOST_VALUES // 2], *found[-_MOST_VALUES // 2 :]]

    def texts(self, node: Node) -> list[str]:
        """Return the texts that an expression of strings and paths may come to, with `UNKNOWN` for unknown parts."""
        self._count = 1
        found = [written(node, self._names(0))]
        found += [written(node, self._names(at)) for at in range(1, self._count)]
        return list(dict.fromkeys(found))

    def exact(self, node: Node) -> Iterator[str]:
        """Yield the texts that an expression may come to as far as nothing in them is unknown."""
        if node.type == "string" and not any(child.type == "interpolation" for child in node.children):
            yield self.texts(node)[0]
        else:
            yield from (text for text in self.texts(node) if UNKNOWN not in text)

    def meant(self, node: Node) -> list[Node]:
        """Return an expression, or those that it is a name of."""
        found = [bare(value) for value in self.of(node) if value is not None] if node.type == "identifier" else []
        return found or [node]

    def _names(self, at: int) -> Names:
        return Names(lambda name: self._text_at(name, at), self._whole)

    def _text_at(self, name: Node, at: int) -> str | None:
        """Return the text of a name, by its value of this place among them, or by the first one."""
        values = self.of(name)
        self._count = max(self._count, len(values))
        value = values[at if at < len(values) else 0] if values else None
        if value is None:
            return UNKNOWN if values else None
        key = (value.id, at)
        if key not in self._texts:
            self._texts[key] = UNKNOWN
            self._depth += 1
            if self._depth <= _DEEPEST:
                self._texts[key] = written(value, self._names(at))
            self._depth -= 1
        return self._texts[key]
