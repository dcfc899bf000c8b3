"""The same tokens in other lines and spaces, in languages whose functions have bodies in braces."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from random import Random

from tree_sitter import Node

from harness.languages.found import parsed
from harness.languages.functions import Edit, Grammar, apply, below, functions_of

_VERBATIM = re.compile(r"string|template|regex|jsx|preproc|char|ERROR|comment|type_arg|lib")
"""In the types of nodes within which spaces may be more than spaces."""
_VALUES = ("return_statement", "assignment_expression", "assignment_statement")
_BREAK, _WIDER = 0.35, (2, 3)


def bracketed(grammar: Grammar, text: bytes, names: Sequence[str], values: frozenset[str], chance: Random) -> bytes:
    """Brackets around most values that are returned or assigned in the functions of these names."""
    edits: list[Edit] = []
    for node in _nodes(grammar, text, names):
        value = _value(node) if node.type in _VALUES else None
        if value is not None and value.type in values and not value.has_error and chance.random() < 0.7:
            edits += [(value.start_byte, value.start_byte, b"("), (value.end_byte, value.end_byte, b")")]
    return apply(text, edits)


def _value(node: Node) -> Node | None:
    """What is returned or assigned, where it is one value."""
    if node.type == "return_statement":
        found = node.named_children
    else:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        found = [right] if right is not None and not (left is not None and left.named_child_count > 1) else []
    found = found[0].named_children if len(found) == 1 and found[0].type == "expression_list" else found
    return found[0] if len(found) == 1 else None


def spaced(grammar: Grammar, text: bytes, names: Sequence[str], chance: Random) -> bytes:
    """Wider gaps, and lines that end within brackets, in the functions of these names."""
    edits: list[Edit] = []
    for before, after in _neighbours(grammar, text, names):
        gap = text[before.end_byte : after.start_byte]
        if before.type in ("(", ",") and chance.random() < _BREAK:
            edits.append((before.end_byte, after.start_byte, b"\n\t\t"))
        elif gap:
            edits.append((before.end_byte, after.start_byte, b" " * chance.choice(_WIDER)))
        elif before.type == "(":
            edits.append((before.end_byte, after.start_byte, b" "))
    return _if_the_same(grammar, text, apply(text, edits))


_CLOSE = re.compile(rb"[=,;{}()<>!&|+*/%?:\[\]-]+")
_PLAIN = re.compile(rb"[A-Za-z0-9_$\])}\"'`(]+.*", re.DOTALL)


def compact(grammar: Grammar, text: bytes, names: Sequence[str]) -> bytes:
    """No indentation and no blank lines, and no spaces around operators in the functions of these names."""
    edits: list[Edit] = [
        (before.end_byte, after.start_byte, b"")
        for before, after in _neighbours(grammar, text, names)
        if _touch(before.text or b"", after.text or b"")
    ]
    shorter = _if_the_same(grammar, text, apply(text, edits))
    return _if_the_same(grammar, shorter, _without_indentation(grammar, shorter))


def _touch(before: bytes, after: bytes) -> bool:
    """Whether two tokens stay two without a space: an operator beside a word."""
    signs = [bool(_CLOSE.fullmatch(token)) for token in (before, after)]
    return signs[0] != signs[1] and bool(_PLAIN.fullmatch(after if signs[0] else before))


def _without_indentation(grammar: Grammar, text: bytes) -> bytes:
    """Lines within a token that goes over several stay as they are."""
    kept = {
        row
        for node in _leaves(parsed(grammar.language, text))
        for row in range(node.start_point[0] + 1, node.end_point[0] + 1)
    }
    lines = text.split(b"\n")
    done = [line if row in kept else line.strip(b" \t") for row, line in enumerate(lines)]
    return b"\n".join(line for row, line in enumerate(done) if line or row in kept)


def _nodes(grammar: Grammar, text: bytes, names: Sequence[str]) -> Iterator[Node]:
    functions = functions_of(grammar, text)
    for name in names:
        if name in functions and not functions[name].node.has_error:
            yield from below(functions[name].body)


def _neighbours(grammar: Grammar, text: bytes, names: Sequence[str]) -> Iterator[tuple[Node, Node]]:
    """Tokens that stand side by side on a line of one of the functions, spaces between them at most."""
    functions = functions_of(grammar, text)
    for name in names:
        if name not in functions or functions[name].node.has_error:
            continue
        for before, after in pairwise(_leaves(functions[name].body)):
            gap = text[before.end_byte : after.start_byte]
            if not gap.strip(b" ") and not (_is_verbatim(before) or _is_verbatim(after)):
                yield before, after


def _is_verbatim(leaf: Node) -> bool:
    node: Node | None = leaf
    while node is not None:
        if _VERBATIM.search(node.type):
            return True
        node = node.parent
    return False


def _leaves(root: Node) -> Iterator[Node]:
    return (node for node in below(root) if not node.child_count and node.end_byte > node.start_byte)


def _if_the_same(grammar: Grammar, before: bytes, after: bytes) -> bytes:
    """The second text where it has the very tokens of the first one, otherwise the first."""
    return after if _tokens(grammar, before) == _tokens(grammar, after) else before


def _tokens(grammar: Grammar, text: bytes) -> list[tuple[str, bytes]]:
    return [(node.type, (node.text or b"").strip()) for node in _leaves(parsed(grammar.language, text))]
