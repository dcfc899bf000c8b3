"""Statements that give a name what another value has, in all grammars, and what a file's names are given. Pure."""

from collections.abc import Collection, Mapping

from tree_sitter import Node

GIVES: Mapping[str, tuple[str, str]] = {
    "assignment": ("left", "right"),
    "short_var_declaration": ("left", "right"),
    "assignment_statement": ("left", "right"),
    "assignment_expression": ("left", "right"),
    "variable_declarator": ("name", "value"),
    "init_declarator": ("declarator", "value"),
}
"""Types of nodes that give a name a value, with the fields of both."""
_PLAIN = frozenset({b"=", b":="})
_AROUND = frozenset({"expression_list", "parenthesized_expression"})


def names_given(node: Node) -> tuple[Node, Node] | None:
    """Return a name and the only value that a statement gives it; None for any other statement, such as `a += b`."""
    if node.type not in GIVES:
        return None
    operator = node.child_by_field_name("operator")
    if operator is not None and operator.text not in _PLAIN:
        return None
    left, right = (_alone(node.child_by_field_name(name)) for name in GIVES[node.type])
    return (left, right) if left is not None and right is not None and left.type == "identifier" else None


def _alone(side: Node | None) -> Node | None:
    while side is not None and side.type in _AROUND:
        side = side.named_children[0] if side.named_child_count == 1 else None
    return side


class GivenValues:
    """The only values that the names of a file are given, wherever that stands; taken in node by node."""

    def __init__(self) -> None:
        self._values: dict[bytes, Node | None] = {}

    def give(self, names: Collection[bytes], value: Node | None) -> None:
        """Take in that names are given a value; a name that is given several is left out."""
        for name in names:
            self._values[name] = value if len(names) == 1 and name not in self._values else None

    def get(self, name: bytes) -> Node | None:
        """Return the value of a name; None where there is none, or several."""
        return self._values.get(name)
