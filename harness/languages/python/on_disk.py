"""Python whose text on disk is what runs: other text for the same behaviour, written anew for each arm.

    statements without effect -> bodies of other variants, which never run -> brackets -> layout

Each step leaves alone what it can't be sure of; a layout must have the very syntax tree of the text before it.
"""

import ast
from collections.abc import Iterator, Sequence
from random import Random

import tree_sitter_python
from tree_sitter import Language, Node

from harness.languages.found import every_node
from harness.languages.functions import Edit, apply
from harness.languages.on_disk.braces import fresh_name
from harness.languages.on_disk.written import Layout, OnDisk, differing_lines
from harness.languages.python.bodies import touched, with_inert_bodies
from harness.languages.python.spacing import compact, spaced

_GRAMMAR = Language(tree_sitter_python.language())
_SPREAD = 0.7
"""The share of statements that get one without effect before them."""
_VALUES = frozenset(
    {"attribute", "binary_operator", "boolean_operator", "call", "comparison_operator", "identifier", "integer",
     "not_operator", "subscript"}
)  # fmt: skip
"""Nodes that may stand in brackets where they are returned or assigned."""


def write(item: OnDisk, chance: Random) -> bytes:
    """See `Writer`."""
    name, names = fresh_name(chance), touched(item.family)
    text = with_idle(item.text, differing_lines(item.text, item.family), chance, name)
    if item.others:
        other = chance.choice(item.others)
        lent = with_idle(other, differing_lines(other, item.family), chance, name)
        text = with_inert_bodies(text, lent, names, chance)
    if text == item.text:
        return text
    text = _if_the_same(text, bracketed(text, names, chance))
    match item.layout:
        case Layout.SPACED:
            return _if_the_same(text, spaced(text, names, chance))
        case Layout.COMPACT:
            return _if_the_same(text, compact(text, names))
        case Layout.PLAIN:
            return text


def with_idle(text: bytes, lines: Sequence[int], chance: Random, name: str) -> bytes:
    """`text` with statements without effect in every function that holds one of `lines` (counted from 1)."""
    places = sorted({place for body in _bodies(text, lines) for place in _places(body, chance)}, reverse=True)
    for at in places:
        text = text[:at] + f"{name} = {chance.randint(1, 2**31 - 1)}; ".encode() + text[at:]
    return text


def bracketed(text: bytes, names: Sequence[str], chance: Random) -> bytes:
    """Brackets around most values that are returned or assigned in functions of these names."""
    edits: list[Edit] = []
    last = {name.rpartition(".")[2] for name in names}
    for function in every_node(_GRAMMAR, text):
        named = function.child_by_field_name("name") if function.type == "function_definition" else None
        if named is None or (named.text or b"").decode(errors="replace") not in last:
            continue
        for value in _values(function):
            if value.type in _VALUES and chance.random() < 0.7:
                edits += [(value.start_byte, value.start_byte, b"("), (value.end_byte, value.end_byte, b")")]
    return apply(text, list(dict.fromkeys(edits)))


def _values(function: Node) -> Iterator[Node]:
    waiting = [function]
    while waiting:
        node = waiting.pop()
        waiting += node.children
        if node.type == "return_statement" and node.named_child_count == 1:
            yield node.named_children[0]
        right = node.child_by_field_name("right") if node.type == "assignment" else None
        if right is not None:
            yield right


def _bodies(text: bytes, lines: Sequence[int]) -> Iterator[Node]:
    for node in every_node(_GRAMMAR, text):
        body = node.child_by_field_name("body") if node.type == "function_definition" else None
        first, last = node.start_point[0] + 1, node.end_point[0] + 1
        if body is not None and any(first <= line <= last for line in lines):
            yield body


def _places(body: Node, chance: Random) -> Iterator[int]:
    """Where a statement can stand before another one on its line: before simple statements only."""
    simple = [node for node in body.named_children if node.type.endswith("_statement") and _is_simple(node)]
    docstring = body.named_children[0] if body.named_children and _is_text(body.named_children[0]) else None
    for number, node in enumerate(node for node in simple if node != docstring):
        if number == 0 or chance.random() < _SPREAD:
            yield node.start_byte


def _is_simple(node: Node) -> bool:
    return node.type in (
        "expression_statement", "return_statement", "raise_statement", "assert_statement", "pass_statement",
        "delete_statement", "import_statement", "import_from_statement",
    )  # fmt: skip


def _is_text(node: Node) -> bool:
    return node.type == "expression_statement" and node.named_children[0].type in ("string", "concatenated_string")


def _if_the_same(before: bytes, after: bytes) -> bytes:
    """The second text where it is the same program as the first one, otherwise the first."""
    try:
        return after if ast.dump(ast.parse(before)) == ast.dump(ast.parse(after)) else before
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return before
