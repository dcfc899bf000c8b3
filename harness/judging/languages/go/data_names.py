"""Names of a Go file that stand for slices and maps for sure: by their declarations, or since `len` takes them."""

from collections import Counter

from tree_sitter import Node

from harness.judging.languages.conduct import callee, given_to
from harness.judging.languages.dotted_names import bare
from harness.judging.languages.found import MAX_NAME, nodes_of, text_of
from harness.judging.languages.known_names import Key
from harness.judging.languages.scopes import FILE, Scopes

_FUNCTIONS = frozenset({"function_declaration", "method_declaration"})
_DECLARES = frozenset({"short_var_declaration", "range_clause", "var_spec", "const_spec", "parameter_declaration"})
_TYPES = frozenset({"slice_type", "map_type", "array_type", "pointer_type"})
_MADE = frozenset({"composite_literal", "slice_expression"})
_MAKERS = frozenset({"make", "append"})
_MEASURES = frozenset({"len", "cap"})


class DataNames:
    """The names of one file that are no functions. Made in time linear to the file."""

    def __init__(self, root: Node) -> None:
        self._functions, self._data = Scopes(), set[Key]()
        self._declared = Counter[Key]()
        self._measured: list[Key] = []
        self._names = set[str]()
        for node in nodes_of(root):
            if node.type in _FUNCTIONS:
                self._functions.add(node)
            elif node.type in _DECLARES:
                self._declare(node)
            elif node.type == "call_expression" and callee(node) in _MEASURES:
                short = (item for item in given_to(node) if item.end_byte - item.start_byte <= MAX_NAME)
                self._measured += map(self._key, short)
        if _MEASURES.isdisjoint(self._names):
            self._data |= {*self._measured}

    def has(self, node: Node) -> bool:
        """Return whether an expression is a slice, a map, or the address of a variable."""
        node = bare(node)
        if node.type in _MADE or (node.type == "unary_expression" and node.children[0].type == "&"):
            return True
        if node.type == "call_expression":
            return callee(node) in _MAKERS and callee(node) not in self._names
        if node.end_byte - node.start_byte > MAX_NAME:
            return False
        function, text = self._key(node)
        first = text.partition(".")[0]
        return (function, text) in self._data and self._declared[function, first] + self._declared[FILE, first] <= 1

    def _key(self, node: Node) -> Key:
        return self._functions.innermost(node.start_byte), text_of(node)

    def _declare(self, node: Node) -> None:
        left, right = (node.child_by_field_name(field) for field in ("left", "right"))
        right = right or node.child_by_field_name("value")
        names = [left] if left is not None and left.type == "identifier" else node.children_by_field_name("name")
        names = left.named_children if left is not None and left.type == "expression_list" else names
        values = right.named_children if right is not None and right.type == "expression_list" else []
        kind = node.child_by_field_name("type")
        for place, name in enumerate(names):
            key = self._key(name) if name.type == "identifier" else (FILE, "")
            self._declared[key] += 1
            self._names.add(key[1])
            value = values[place] if len(values) == len(names) and node.type != "range_clause" else None
            if (kind is not None and kind.type in _TYPES) or (value is not None and self._is_made(value)):
                self._data.add(key)

    @staticmethod
    def _is_made(value: Node) -> bool:
        value = bare(value)
        return value.type == "composite_literal" or (value.type == "call_expression" and callee(value) in _MAKERS)
