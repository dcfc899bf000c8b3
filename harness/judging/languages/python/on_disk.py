"""Python whose text on disk is what runs: other text for the same behaviour, written anew for each arm.

    statements without effect -> bodies of other variants, which never run -> brackets -> layout

Each step leaves alone what it can't be sure of; a layout must have the very syntax tree of the text before it.

The same Python in other lines and spaces, token by token.
"""

import ast
import re
import tokenize
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from random import Random
from tokenize import TokenInfo

import tree_sitter_python
from tree_sitter import Language, Node

from harness.judging.languages.found import every_node
from harness.judging.languages.functions import Edit, apply
from harness.judging.languages.on_disk import fresh_name
from harness.judging.languages.python.bodies import (
    functions_of,
    rows_within_tokens,
    tokens_of,
    touched,
    with_inert_bodies,
)
from harness.judging.languages.variant_source import Layout, OnDisk, differing_lines

_BREAK, _WIDER = 0.35, (2, 3)
_WORD = re.compile(r"\w")
_NO_TEXT = frozenset(
    {tokenize.NEWLINE, tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
)
_Gap = Callable[[TokenInfo, TokenInfo, int], str | None]
"""A function that gives the space between two tokens of a line, within so many brackets; None to leave it."""


def spaced(text: bytes, names: Sequence[str], chance: Random) -> bytes:
    """Widen gaps, and end lines within brackets, in functions of these names."""

    def gap(before: TokenInfo, after: TokenInfo, depth: int) -> str | None:
        if depth and before.string in ("(", ",", "[") and chance.random() < _BREAK:
            return "\n" + " " * chance.randint(1, 12)
        if before.end != after.start:
            return " " * chance.choice(_WIDER)
        return " " if before.string == "(" else None

    return _with_gaps(text, names, gap)


def compact(text: bytes, names: Sequence[str]) -> bytes:
    """Indent by one space, and take blank lines and spaces around operators out of functions of these names."""

    def gap(before: TokenInfo, after: TokenInfo, _depth: int) -> str | None:
        words = [bool(_WORD.match(side)) for side in (before.string[-1:], after.string[:1])]
        is_quoted = tokenize.STRING in (before.type, after.type)
        return None if all(words) or (is_quoted and any(words)) else ""

    return _dedented(_with_gaps(text, names, gap))


def _with_gaps(text: bytes, names: Sequence[str], gap: _Gap) -> bytes:
    functions = functions_of(text) or {}
    rows = {
        row for name in names if name in functions
        for row in range(functions[name].lineno - 1, functions[name].end_lineno or 0)
    }  # fmt: skip
    lines = text.decode("utf-8", "surrogateescape").split("\n")
    for before, after, depth in reversed(list(_neighbours(tokens_of(text)))):
        row, start, end = before.end[0] - 1, before.end[1], after.start[1]
        new = gap(before, after, depth) if row in rows and not lines[row][start:end].strip(" ") else None
        if new is not None:
            lines[row] = lines[row][:start] + new + lines[row][end:]
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def _neighbours(tokens: Sequence[TokenInfo]) -> Iterator[tuple[TokenInfo, TokenInfo, int]]:
    """Yield tokens that stand side by side on a line, and within how many brackets."""
    depth = 0
    for before, after in pairwise(tokens):
        depth += (before.string in ("(", "[", "{")) - (before.string in (")", "]", "}"))
        if before.end[0] == after.start[0] and not {before.type, after.type} & _NO_TEXT:
            yield before, after, depth


def _dedented(text: bytes) -> bytes:
    """Return a text with steps of one space and without blank lines, but for lines within a text of several lines."""
    kept, levels, level, begins = rows_within_tokens(text), dict[int, int](), 0, True
    for token in tokens_of(text):
        if token.type in (tokenize.INDENT, tokenize.DEDENT):
            level += 1 if token.type == tokenize.INDENT else -1
        elif token.type == tokenize.NEWLINE:
            begins = True
        elif begins and token.type not in _NO_TEXT:
            levels[token.start[0] - 1], begins = level, False
    lines = text.decode("utf-8", "surrogateescape").split("\n")
    done = [line if row in kept else " " * levels.get(row, 0) + line.strip() for row, line in enumerate(lines)]
    short = [line for row, line in enumerate(done) if line.strip() or row in kept]
    return ("\n".join(short) + "\n").encode("utf-8", "surrogateescape")


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
    """Return `text` with statements without effect in every function that holds one of `lines` (counted from 1)."""
    places = sorted({place for body in _bodies(text, lines) for place in _places(body, chance)}, reverse=True)
    for at in places:
        text = text[:at] + f"{name} = {chance.randint(1, 2**31 - 1)}; ".encode() + text[at:]
    return text


def bracketed(text: bytes, names: Sequence[str], chance: Random) -> bytes:
    """Put brackets around most values that are returned or assigned in functions of these names."""
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
    """Yield where a statement can stand before another one on its line: before simple statements only."""
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
    """Return the second text where it is the same program as the first one, otherwise the first."""
    try:
        return after if ast.dump(ast.parse(before)) == ast.dump(ast.parse(after)) else before
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return before
