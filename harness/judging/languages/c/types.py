"""Types of C that make data of a function's address: numbers, and pointers to anything but functions."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from harness.judging.languages.found import nodes_of, text_of

_NUMBERS = frozenset({"primitive_type", "sized_type_specifier"})
_MADE = frozenset({"struct_specifier", "union_specifier", "enum_specifier"})
_STANDARD = re.compile(
    r"u?int_(fast|least)\d+_t|u_?int(max)?(\d+)?_t|u?intmax_t|_Bool|__u?int128(_t)?|off_t|u_(char|short|int|long)"
)
_DEEPEST = 20
"""Pointers, arrays and brackets of a type that are followed."""


def data_types(root: Node) -> frozenset[str]:
    """Return the names that a file gives to types of data."""
    known = set[str]()
    for node in nodes_of(root):
        if node.type == "type_definition":
            for declarator in node.children_by_field_name("declarator"):
                *_, last = _steps(declarator)
                if last.type == "type_identifier" and is_data(node, declarator, known):
                    known.add(text_of(last))
    return frozenset(known)


def is_data(typed: Node, declarator: Node | None, known: set[str] | frozenset[str]) -> bool:
    """Return whether a type with what is around it is a number, or a pointer to one or to data; `known` are types."""
    steps = [step.type for step in _steps(declarator)] if declarator is not None else []
    if len(steps) == _DEEPEST or any("function" in step for step in steps):
        return False
    is_pointer = any("pointer" in step for step in steps)
    kind = typed.child_by_field_name("type")
    if kind is None or (kind.type in _MADE and not is_pointer and typed.type != "type_definition"):
        return False
    if kind.type in _NUMBERS | _MADE:
        return is_pointer or kind.type != "primitive_type" or text_of(kind) != "void"
    name = text_of(kind) if kind.type == "type_identifier" else ""
    return name in known or _STANDARD.fullmatch(name) is not None


def _steps(declarator: Node) -> Iterator[Node]:
    """Yield a declarator and those inside it, the name at last."""
    inner: Node | None = declarator
    for _ in range(_DEEPEST):
        if inner is None:
            return
        yield inner
        is_bracket = "parenthesized" in inner.type
        children = [child for child in inner.named_children if not child.is_extra] if is_bracket else []
        inner = children[0] if children else inner.child_by_field_name("declarator")
