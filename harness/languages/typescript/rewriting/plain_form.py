"""A text in the form that the rules expect: arrow functions with blocks, braces, no missing `;`, no `!` behind."""

from collections.abc import Collection, Iterator

from tree_sitter import Node

from harness.languages.found import text_of
from harness.languages.functions import Edit, Grammar, apply, below, functions_of
from harness.languages.typescript.rewriting.reading import BLOCK, is_body

_ENDED = frozenset(
    {
        "expression_statement", "lexical_declaration", "variable_declaration", "return_statement", "throw_statement",
        "break_statement", "continue_statement",
    }
)  # fmt: skip
_STARTS = (b"{ return (", b"{ ")


def in_plain_form(grammar: Grammar, text: bytes, names: Collection[str]) -> bytes:
    """`text`, the functions of these names in plain form."""
    text = apply(
        text, [_left_out(node) for node in _nodes(grammar, text, names) if node.type == "non_null_expression"]
    )
    edits = [edit for node in _nodes(grammar, text, names) for edit in _edits(node)]
    # At one place the end of what is inside comes before the end of what is around it.
    ends, starts = [edit for edit in edits if edit[2] not in _STARTS], [edit for edit in edits if edit[2] in _STARTS]
    return apply(text, [*reversed(ends), *starts])


def _nodes(grammar: Grammar, text: bytes, names: Collection[str]) -> Iterator[Node]:
    found = functions_of(grammar, text)
    for name in names:
        if name in found:
            yield from _all(found[name].node)


def _left_out(node: Node) -> Edit:
    """The `!` of `a!`, which says nothing at run time. The grammar takes `a && b!.c` for `(a && b)!.c`."""
    return node.end_byte - 1, node.end_byte, b" "


def _all(node: Node) -> Iterator[Node]:
    yield node
    yield from below(node)


def _edits(node: Node) -> Iterator[Edit]:
    body = node.child_by_field_name("body") if node.type == "arrow_function" else None
    if body is not None and body.type not in BLOCK:
        yield body.start_byte, body.start_byte, _STARTS[0]
        yield body.end_byte, body.end_byte, b"); }"
    ended = ";" if node.type in _ENDED and not text_of(node).endswith(";") else ""
    opened = is_body(node) and node.type not in BLOCK | {"if_statement"}
    if opened:
        yield node.start_byte, node.start_byte, _STARTS[1]
    if opened or ended:
        yield node.end_byte, node.end_byte, (ended + (" }" if opened else "")).encode()
