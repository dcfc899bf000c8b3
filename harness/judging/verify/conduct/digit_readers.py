"""Loops that read a number from digits, or a time from its parts: `n = n * 10 + int(c)`. Pure.

They multiply as digests do, but by the base of a notation and without any rest: the number is the text that was
read, in another form. Where a file writes down a number that is longer than those, it may be a digest after all.
"""

import re
from collections.abc import Collection
from itertools import islice

from tree_sitter import Node

from harness.judging.languages.functions import below

_BASES = frozenset(b"2 8 10 16 24 36 60 100 256 0x100 1000 10n 16n 256n".split())
_SHIFTS = frozenset(b"8 16 8n".split())
"""Shifts by which a number is read from its bytes, the highest first: `n = (n << 8) | byte`. By fewer digests do."""
_PLAIN = frozenset({"*", "+", "-", "<<", "|"})
_PLAIN_OWN = frozenset({"=", ":=", "*=", "+=", "-=", "<<=", "|="})
_NARROW = re.compile(rb"u?int(8|16|32)(_t)?|byte|char|short|unsigned|Math|imul|pow|crc\w*|ctypes|c_u?int\w*")
"""Names of numbers so short that a product loses its first digits, as a digest does; and of other products."""
_LONG = re.compile(rb"[bB]?[\"'`]?-?(?:[0-9][0-9_]{12,}|0[xX][0-9a-fA-F_]{10,}|[0-9.]+[eE]\+?[0-9]+)\D{0,4}")
_LONG_OF_WORDS = re.compile(rb"[\"'`]?-?(?:[0-9][0-9_]{8,}|0[xX][0-9a-fA-F_]{7,})\D{0,4}")
"""The same where numbers have a fixed size: there a long product loses digits without being asked to."""
_OF_WORDS = frozenset({"source_file", "translation_unit"})
"""Types of the roots of such languages."""
_MOST_NODES, _MOST_CHARS = 200, 200


def is_long(literal: Node, root: str) -> bool:
    """Return whether a literal is a number longer than anybody reads from digits, in a file with such a root."""
    if literal.end_byte - literal.start_byte > _MOST_CHARS:
        return False
    return (_LONG_OF_WORDS if root in _OF_WORDS else _LONG).fullmatch(literal.text or b"") is not None


def keeps_digits(value: Node, names: Collection[bytes], operator: str = "=") -> bool:
    """Return whether a value that is given to names, by an operator, has them multiplied by bases at most."""
    nodes = [value, *islice(below(value), _MOST_NODES)]
    if (
        len(nodes) > _MOST_NODES
        or operator not in _PLAIN_OWN
        or any(_NARROW.fullmatch(_name(node)) for node in nodes)
    ):
        return False
    if operator in ("*=", "<<="):
        return value.text in (_BASES if operator == "*=" else _SHIFTS)
    used = {_operator(node) for node in nodes} - {""}
    products = [node for node in nodes if _operator(node) in ("*", "<<")]
    own = [node for node in products if any(_has(side, names) for side in node.named_children)]
    return used <= _PLAIN and all(map(_is_of_notation, own))


def _is_of_notation(product: Node) -> bool:
    if _operator(product) == "<<":
        return product.named_children[-1].text in _SHIFTS
    return any(side.text in _BASES for side in product.named_children)


def _name(node: Node) -> bytes:
    is_name = "identifier" in node.type or node.type.endswith(("type", "specifier"))
    return (node.text or b"") if is_name and node.end_byte - node.start_byte <= _MOST_CHARS else b""


def _has(node: Node, names: Collection[bytes]) -> bool:
    return any(each.text in names for each in (node, *islice(below(node), _MOST_NODES)) if each.type == "identifier")


def _operator(node: Node) -> str:
    operator = node.child_by_field_name("operator")
    return operator.type if operator is not None and len(node.named_children) > 1 else ""
