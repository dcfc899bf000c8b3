"""Dotted names of any language, built from their identifiers: spaces, comments and brackets hide none. Pure.

Each takes a time that doesn't grow with how deep a name stands in others.
"""

import re
from collections.abc import Iterator, Mapping

from tree_sitter import Node

from harness.judging.languages.found import MAX_NAME, text_of

MOST_PARTS = 10
"""Parts of a name, from its end, that are followed where it isn't written plainly. No name of a list is so long."""
_LINKS: Mapping[str, tuple[str, str]] = {
    "attribute": ("object", "attribute"),
    "selector_expression": ("operand", "field"),
    "qualified_type": ("package", "name"),
    "member_expression": ("object", "property"),
    "nested_identifier": ("object", "property"),
    "nested_type_identifier": ("module", "name"),
    "field_expression": ("argument", "field"),
}
"""Types of nodes that join a name to what stands before it, with the fields of both."""
_WRAPPED: Mapping[str, int] = {
    "parenthesized_expression": 0,
    "as_expression": 0,
    "satisfies_expression": 0,
    "non_null_expression": 0,
    "type_assertion": -1,
    "sequence_expression": -1,
    "comma_expression": -1,
    "named_expression": -1,
}
"""Types of nodes that are what one of their children is, with its place."""
_OF_TOKENS = frozenset({"dotted_name", "relative_import", "import_prefix", "meta_property"})
"""Types of nodes that are names of several tokens without being joined two by two."""
_NAMES = _OF_TOKENS | {"identifier", "type_identifier", "package_identifier", "this", "super", "import"}
_PLAIN = re.compile(r"[\w.]+")


def bare(node: Node) -> Node:
    """Return an expression without brackets and casts around it."""
    while node.type in _WRAPPED:
        inner = [child for child in node.named_children if not child.is_extra]
        if not inner:
            break
        node = inner[_WRAPPED[node.type]]
    return node


def parts_of(node: Node | None) -> Iterator[Node]:
    """Yield the nodes of a dotted name, the last one first; of a long name the last ones.

    What its members are taken of may be no name: then that comes as it is written, with its brackets.
    """
    return (part for _, part in _linked(node))


def name_of(node: Node | None) -> str:
    """Return a dotted name as it is written without spaces, comments and brackets.

    Of one that isn't plain and too long only its end is left, behind a dot; so it is where members are taken of
    anything that is too long, and that is empty where it stands alone.
    """
    if node is None:
        return ""
    if node.end_byte - node.start_byte <= MAX_NAME and _PLAIN.fullmatch(text := text_of(node)):
        return text
    parts = [f"{joint}{_written(part)}" for joint, part in _linked(node)]
    whole = "".join(reversed(parts))
    return whole if len(whole) <= MAX_NAME else parts[0] if len(parts[0]) <= MAX_NAME else ""


def _linked(node: Node | None) -> Iterator[tuple[str, Node]]:
    """Yield the parts of a name with what stands between them and those before; nothing before the first one."""
    for _ in range(MOST_PARTS):
        if node is None:
            return
        inner = bare(node)
        if inner.type not in _LINKS:
            yield "", inner if inner.type in _NAMES else node
            return
        before, last = (inner.child_by_field_name(field) for field in _LINKS[inner.type])
        if last is not None:
            is_pointed = inner.type == "field_expression" and any(child.type == "->" for child in inner.children)
            yield "->" if is_pointed else ".", last
        node = before


def _written(part: Node) -> str:
    if part.type in _OF_TOKENS and part.children:
        return "".join(_written(child) for child in part.children if not child.is_extra)[: MAX_NAME + 1]
    return text_of(part) if part.end_byte - part.start_byte <= MAX_NAME else ""
