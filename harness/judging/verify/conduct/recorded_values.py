"""Values that are written down in a suite, as one side of a comparison. Pure."""

import re
from collections.abc import Collection
from itertools import islice

from tree_sitter import Node

from harness.judging.languages.functions import below

_SEVERAL = frozenset({"list", "tuple", "array", "literal_value", "initializer_list"})
_MACRO_VALUE = re.compile(rb"\w+|\"[^\"]*\"")
_PLAIN_NUMBER = re.compile(rb"-?\d{1,3}")
_SHORTEST = 6
"""Characters of a literal's source, quotes included, or digits of a number but one."""
_WRITES = re.compile(
    rb"(int|str|float|bytes|bytearray|chr|hex|set|frozenset|list|tuple|dict|range|fromhex|complex|big|NewInt|BigInt"
    rb"|Number|parseInt|String|Set|Array|of|u?int(8|16|32|64)?|u?int\d+_t|string|byte|strconv|fmt|Itoa|Sprint|Format(Int|Uint)|Parse(Int|Uint)|Atoi)"
)
"""Names by which a value is written down in another form."""
_VARYING, _FIXED = re.compile(rb"\[[^\]]*\]|\{[^}]*\}|\\."), re.compile(rb"[0-9a-fA-F]{4}")
"""Parts of a regular expression that stand for several texts, and one that stands for itself."""
_MOST_NODES = 200
_TABLE = 10
"""Short hexadecimal texts of a file: fewer may be names or colours."""
_SHORT_HASH = re.compile(rb"""["'`](?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{6,31}["'`]""")


def is_recorded(side: Node, literals: Collection[str], constants: Collection[bytes], digits: int) -> bool:
    """Return whether a side is recorded: of numbers those with so many digits, since others may be lengths."""
    if is_literal(side, literals):
        return _is_long(side, digits)
    if side.type in _SEVERAL and side.named_child_count > 1:
        if all(is_literal(item, literals) for item in side.named_children):
            return True
    elif "identifier" in side.type:
        return side.text in constants
    return _is_written_down(side, literals, constants, digits)


def _is_written_down(side: Node, literals: Collection[str], constants: Collection[bytes], digits: int) -> bool:
    """Return whether a value is made of literals and constants alone, one of which is recorded."""
    nodes = [side, *islice(below(side), _MOST_NODES)]
    names = [node.text or b"" for node in nodes if "identifier" in node.type]
    if len(nodes) > _MOST_NODES or any(name not in constants and not _WRITES.fullmatch(name) for name in names):
        return False
    is_constant = any(name in constants for name in names)
    return is_constant or any(node.type in literals and _is_long(node, digits) for node in nodes)


def _is_long(literal: Node, digits: int) -> bool:
    text = literal.text or b""
    if literal.type == "regex":
        return is_fixed(literal)
    if _PLAIN_NUMBER.fullmatch(text):
        return len(text.lstrip(b"-")) >= digits
    return text[:1].isdigit() or len(text) >= _SHORTEST


def is_fixed(node: Node) -> bool:
    """Return whether a literal is a text or a regular expression that has hexadecimal digits of its own."""
    text = node.text or b""
    is_text = text[:1] in (b'"', b"'", b"`", b"/") or node.type == "string"
    return is_text and len(text) < _MOST_NODES and _FIXED.search(_VARYING.sub(b" ", text)) is not None


def is_literal(node: Node, literals: Collection[str]) -> bool:
    """Return whether a node is a literal, whatever brackets and signs stand around it."""
    while (
        node.type in ("expression_list", "parenthesized_expression", "unary_operator") and node.named_child_count == 1
    ):
        node = node.named_children[0]
    if node.type == "preproc_arg":
        return _MACRO_VALUE.fullmatch((node.text or b"").strip()) is not None
    return node.type in literals or (node.type == "template_string" and node.named_child_count < 2)


def has_table(root: Node, literals: Collection[str]) -> bool:
    """Return whether a file has many short texts that look like digests."""
    hashes = (node for node in below(root) if node.type in literals and _SHORT_HASH.fullmatch(node.text or b""))
    return len(list(islice(hashes, _TABLE))) == _TABLE
