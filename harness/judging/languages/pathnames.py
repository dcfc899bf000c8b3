"""Paths of any language as far as a file writes them: joined, added, with constants and strings filled in. Pure."""

from collections.abc import Mapping

from tree_sitter import Node

from harness.judging.languages.dotted_names import bare, name_of, parts_of
from harness.judging.languages.found import text_of

UNKNOWN = "$"
"""Text for what isn't written in the file."""
Constants = Mapping[str, Node | str]
"""By a name: what it stands for, as an expression or as its text."""
_JOINING = frozenset({"Path", "PosixPath", "PurePath", "PurePosixPath", "join", "joinpath", "Join", "str", "fspath"})
"""Names of calls that make a path of what they are given."""
_TEXTS = frozenset(
    {"string", "template_string", "interpreted_string_literal", "raw_string_literal", "string_literal"}
)
_COMPUTED = frozenset({"interpolation", "template_substitution"})
_JOINTS = {"/": "/", "+": ""}
_DEEPEST = 12
_MOST_PIECES = 50


def written(node: Node, constants: Constants, deepest: int = _DEEPEST) -> str:
    """Return the text that an expression of strings and paths comes to, with `UNKNOWN` for each other part."""
    node = bare(node)
    if deepest == 0:
        return UNKNOWN
    if node.type in _TEXTS:
        return _text(node, constants, deepest)
    if node.type == "concatenated_string":
        return "".join(written(child, constants, deepest - 1) for child in node.named_children[:_MOST_PIECES])
    if node.type == "identifier":
        value = constants.get(text_of(node), UNKNOWN)
        return value if isinstance(value, str) else written(value, constants, deepest - 1)
    sides = [node.child_by_field_name(side) for side in ("left", "operator", "right")]
    if sides[0] is not None and sides[2] is not None and (joint := _JOINTS.get(text_of(sides[1]))) is not None:
        return joint.join(written(side, constants, deepest - 1) for side in (sides[0], sides[2]))
    if joins(node):
        return "/".join(written(piece, constants, deepest - 1) for piece in _joined(node))
    return UNKNOWN


def joins(node: Node) -> bool:
    """Return whether a node is a call that makes a path of what it is given."""
    return _last_of(node) in _JOINING


def _last_of(call: Node) -> str:
    """Return the last part of what is called, also of a member of any expression."""
    function = call.child_by_field_name("function")
    return text_of(next(parts_of(function), None)) if function is not None and len(name_of(function)) > 0 else ""


def _joined(call: Node) -> list[Node]:
    arguments, function = (call.child_by_field_name(field) for field in ("arguments", "function"))
    given = [child for child in arguments.named_children if not child.is_extra] if arguments else []
    folder = bare(function).child_by_field_name("object") if function and _last_of(call) == "joinpath" else None
    return [*([folder] if folder else []), *given[:_MOST_PIECES]]


def _text(node: Node, constants: Constants, deepest: int) -> str:
    """Return a string's text with what is computed in it."""
    if not any(child.type in _COMPUTED for child in node.children):
        whole = text_of(node)
        start = min((place for quote in "\"'`" if (place := whole.find(quote)) >= 0), default=0) + 1
        quotes = 3 if whole[start - 1 : start + 2] in ('"""', "'''") and len(whole) >= start + 5 else 1
        return whole[start - 1 + quotes : -quotes]
    return "".join(_piece(child, constants, deepest - 1) for child in node.children[1:-1])


def _piece(child: Node, constants: Constants, deepest: int) -> str:
    if child.type not in _COMPUTED:
        return text_of(child)
    inner = [part for part in child.named_children if not part.is_extra]
    return written(inner[0], constants, deepest) if inner else UNKNOWN
