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
_BYTES = re.compile(r"unsigned char|u?int8_t|u?intptr_t|void|u_char")
"""Types by which a union shows the bytes of its other fields, or leads to them."""
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


class ByteViews:
    """Unions of one file that show their other fields as bytes, by their names and by those of their fields."""

    def __init__(self, root: Node) -> None:
        self.names, self.fields = set[str](), set[str]()
        for node in nodes_of(root):
            kind = node.child_by_field_name("type") if node.type == "type_definition" else None
            if node.type == "union_specifier":
                self._take(node)
            elif kind is not None and kind.type == "union_specifier" and _shows_bytes(kind):
                self.names |= {text_of(each) for each in node.children_by_field_name("declarator")}

    def has_type(self, typed: Node) -> bool:
        """Return whether what a node declares is such a union."""
        kind = typed.child_by_field_name("type")
        if kind is None:
            return False
        if kind.type == "union_specifier":
            return text_of(kind.child_by_field_name("name")) in self.names or _shows_bytes(kind)
        return kind.type == "type_identifier" and text_of(kind) in self.names

    def _take(self, union: Node) -> None:
        if _shows_bytes(union):
            self.names |= {text_of(name)} if (name := union.child_by_field_name("name")) is not None else set()
            self.fields |= {text_of(last) for field in _fields(union) for last in [*_steps(field)][-1:]}


def _fields(union: Node) -> Iterator[Node]:
    body = union.child_by_field_name("body")
    for field in body.named_children if body is not None else ():
        yield from field.children_by_field_name("declarator")


def _shows_bytes(union: Node) -> bool:
    body = union.child_by_field_name("body")
    for field in body.named_children if body is not None else ():
        kind = field.child_by_field_name("type")
        if kind is None or kind.type in _MADE or not _BYTES.fullmatch(text_of(kind)):
            continue
        for declarator in field.children_by_field_name("declarator"):
            steps = " ".join(step.type for step in _steps(declarator))
            is_view = "pointer" in steps or "array" in steps or text_of(kind).endswith("ptr_t")
            if is_view and "function" not in steps:
                return True
    return False


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
