"""The tokens of a text that count where texts are compared: neither comments nor what does nothing. Pure."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tree_sitter import Node

from harness.judging.languages.conduct import Conduct
from harness.judging.languages.found import nodes_of
from harness.judging.verify.conduct.assignments import names_given

_IDLE = frozenset({"pass_statement", "empty_statement"})
_NAMED = frozenset({"identifier", "expression_list"})
_ASSIGNS = frozenset({"assignment", "assignment_statement", "assignment_expression"})
_CALLS = frozenset({"call", "call_expression"})
_LISTS, _PARTS = frozenset({"list", "array", "tuple"}), frozenset({"subscript", "subscript_expression"})
_HANDS_ON = _CALLS | _PARTS
_FUNCTIONS = frozenset(
    {"function_definition", "function_declaration", "lambda", "arrow_function", "function_expression", "func_literal"}
)
_BODIES = frozenset(
    {"block", "statement_block", "statement_list", "return_statement", "expression_list", "parenthesized_expression"}
)
"""Types of nodes that stand around all that a function returns."""
_AROUND_ASSIGNED = frozenset({"expression_statement", "lexical_declaration", "variable_declaration", "declaration"})
_MOST_CHARS, _MOST_BODY, _MOST_MEMBERS = 80, 200, 9


class Token(NamedTuple):
    """A token of a text: a name, a literal or another mark. An idle one stands around a value that is handed on."""

    text: bytes
    is_name: bool
    is_literal: bool
    is_idle: bool = False


def tokens_of(
    root: Node, conduct: Conduct, added: frozenset[int] | None = None, reads_texts: bool = False
) -> Iterator[Token]:
    """Yield the tokens of a text, comments left out; `added` are the lines that count, None for all.

    Texts that stand alone are left out as well, but for those of a file that reads them. What only hands on a value,
    a function's call or a place of a written list, is idle: it counts as data, and breaks no piece of a copy.
    """
    handing = {name: place for node in nodes_of(root) for name, place in _handing_on(node)}
    around, idle_until = set[int](), 0
    cursor = root.walk()  # a list of nodes would take some 100 bytes for each
    while True:
        node = cursor.node
        if node is None:
            return
        is_literal = node.type in conduct.literals
        if node.type in _HANDS_ON:
            around.update(each.id for each in _around_a_value(node, handing))
        if node.id in around:
            idle_until = max(idle_until, node.end_byte)
        is_left_out = node.type == "comment" or (_is_idle(node, conduct) and not (reads_texts and _is_text(node)))
        if not is_left_out and not is_literal and cursor.goto_first_child():
            continue
        if not is_left_out and node.text and (added is None or node.start_point[0] + 1 in added):
            yield Token(node.text, "identifier" in node.type, is_literal, node.start_byte < idle_until)
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def _is_text(node: Node) -> bool:
    return node.type == "expression_statement" and [inner.type for inner in node.named_children] == ["string"]


def _is_idle(node: Node, conduct: Conduct) -> bool:
    """Return whether a statement does nothing: a name or a literal alone, what is given to itself or thrown away."""
    if node.type in _IDLE:
        return True
    if node.type == "expression_statement":
        inner = node.named_children[0] if node.named_child_count == 1 else None
        return inner is not None and (inner.type in conduct.literals or inner.type in _NAMED)
    if node.type not in _ASSIGNS or node.child_by_field_name("operator") is not None:
        return False
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None or left.end_byte - left.start_byte > _MOST_CHARS:
        return False
    is_alike = left.end_byte - left.start_byte == right.end_byte - right.start_byte
    return left.text == b"_" or (is_alike and left.text == right.text)


def _handing_on(node: Node) -> Iterator[tuple[bytes, int]]:
    """Yield the name of a function that returns one of what it is given as it is, with that one's place."""
    named, body = node, node.child_by_field_name("body") if node.type in _FUNCTIONS else None
    if body is None or body.end_byte - body.start_byte > _MOST_BODY:
        return
    if node.child_by_field_name("name") is None and node.parent is not None:
        named = node.parent
    name = named.child_by_field_name("name") or named.child_by_field_name("left")
    parameters = node.child_by_field_name("parameters") or node.child_by_field_name("parameter")
    returned = _returned(body)
    if name is None or parameters is None or returned is None:
        return
    given = [_first_name(each) for each in parameters.named_children] or [_first_name(parameters)]
    if returned in given:
        yield name.text or b"", given.index(returned)


def _returned(body: Node) -> bytes | None:
    """Return the name that is all that a body returns, or that of what it was given; None where it does more."""
    given: dict[bytes | None, bytes | None] = {}
    while body.type != "identifier":
        inner = [node for node in body.named_children if node.type != "comment"]
        *before, last = inner or [body]
        if body.type not in _BODIES or last is body or not all(_gives(each, given) for each in before):
            return None
        body = last
    name = body.text
    for _ in given:
        name = given.get(name, name)
    return name


def _gives(statement: Node, given: dict[bytes | None, bytes | None]) -> bool:
    """Take in that a statement gives a name what another one has; return whether it does nothing else."""
    node = statement
    while node.type in _AROUND_ASSIGNED and node.named_child_count == 1:
        node = node.named_children[0]
    if (found := names_given(node)) is None or found[1].type != "identifier":
        return False
    left, right = (each.text for each in found)
    given[left] = given.get(right, right)
    return True


def _first_name(parameter: Node) -> bytes:
    node: Node | None = parameter
    while node is not None and node.type != "identifier":
        node = node.named_children[0] if node.named_child_count else None
    return (node.text or b"") if node is not None else b""


def _around_a_value(node: Node, handing: Mapping[bytes, int]) -> Iterator[Node]:
    """Yield what stands around a value that an expression hands on as it is; nothing for any other expression."""
    if node.type in _CALLS:
        called, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        is_short = handing and called is not None and called.end_byte - called.start_byte <= _MOST_CHARS
        place = handing.get(called.text or b"") if is_short and called is not None else None
        if place is None or given is None or place >= given.named_child_count:
            return
        kept = given.named_children[place]
        yield from (each for each in node.children if each.id != given.id)
        yield from (each for each in given.children if each.id != kept.id)
    elif node.type in _PARTS and node.named_child_count == 2 and (value := node.named_children[0]).type in _LISTS:
        place = _place(node.named_children[1])
        if place is not None and place < value.named_child_count <= _MOST_MEMBERS:
            kept = value.named_children[place]
            yield from (each for each in node.children if each.id != value.id)
            yield from (each for each in value.children if each.id != kept.id)


def _place(index: Node) -> int | None:
    text = index.text or b""
    return int(text) if len(text) < 3 and text.isdigit() else None
