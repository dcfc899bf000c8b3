"""Rewriting in Python: different text for the same behaviour, where the text on disk is what runs."""

from collections.abc import Iterator, Sequence
from random import Random

import tree_sitter_python
from tree_sitter import Language, Node

from harness.languages.found import every_node
from harness.languages.rewriting_on_disk import fresh_name

_GRAMMAR = Language(tree_sitter_python.language())
_SPREAD = 0.7
"""The share of statements that get one without effect before them."""


def rewrite(text: bytes, lines: Sequence[int], chance: Random) -> bytes:
    """See `Code.rewrite`."""
    return rewrite_python(text, lines, chance, fresh_name(chance))


def rewrite_python(text: bytes, lines: Sequence[int], chance: Random, name: str) -> bytes:
    """`text` with statements without effect in every function that holds one of `lines` (counted from 1)."""
    places = sorted({place for body in _bodies(text, lines) for place in _places(body, chance)}, reverse=True)
    for at in places:
        text = text[:at] + f"{name} = {chance.randint(1, 2**31 - 1)}; ".encode() + text[at:]
    return text


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
