"""Other text for the same behaviour, in languages whose functions have bodies in braces. Works by tree-sitter.

    statements without effect -> bodies of other variants, which never run -> brackets -> layout

Each step leaves alone what it can't be sure of. A function gets the bodies of two variants, and a condition on a
variable whose value never changes decides which one runs. Searches for lines, words or shapes find those of the code
and those of the removal in every arm; only conditions tell them apart.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random

from tree_sitter import Node

from harness.judging.languages.composing import Hidden, plain_condition
from harness.judging.languages.found import every_node, parsed
from harness.judging.languages.functions import Edit, Function, Grammar, apply, below, functions_of, touched_functions
from harness.judging.languages.variant_source import Layout, OnDisk, Writer, differing_lines


@dataclass(frozen=True)
class Lending:
    """A way to keep a body in another function. `hidden` declares a variable, by `{name}` and `{value}`.

    `refused` are types of nodes whose meaning reaches beyond the block that they stand in.
    """

    hidden: str
    refused: frozenset[str] = frozenset()


def with_inert_bodies(
    grammar: Grammar,
    lending: Lending,
    plain: tuple[bytes, bytes],
    written: tuple[bytes, bytes],
    names: Sequence[str],
    chance: Random,
) -> bytes:
    """Return the first of two written texts, its functions of these names with the second's bodies in them.

    `plain` are the two as they were: nothing is lent between texts that differ outside their functions too.
    """
    text, other = written
    if _around(grammar, plain[0]) != _around(grammar, plain[1]):
        return text
    mine, theirs = functions_of(grammar, text), functions_of(grammar, other)
    pairs = [(mine[name], theirs[name]) for name in names if name in mine and name in theirs]
    return apply(text, [_edit(lending, *pair, chance) for pair in pairs if _may_lend(lending, *pair)])


def _around(grammar: Grammar, text: bytes) -> bytes:
    """Return a text without the bodies of its functions."""
    bodies: Mapping[str, Function] = functions_of(grammar, text)
    cut: list[Edit] = [(each.body.start_byte, each.body.end_byte, b"") for each in bodies.values()]
    return b"".join(apply(text, cut).split())


def _may_lend(lending: Lending, own: Function, other: Function) -> bool:
    is_block = all((each.body.text or b"").startswith(b"{") for each in (own, other))
    if not is_block or own.head.split() != other.head.split():
        return False
    if any(is_directive(each.body.named_children[0]) for each in (own, other) if each.body.named_children):
        return False
    nodes = [node for each in (own, other) for node in below(each.body)]
    return not any(node.is_error or node.is_missing or node.type in lending.refused for node in nodes)


def _edit(lending: Lending, own: Function, other: Function, chance: Random) -> Edit:
    hidden = Hidden.drawn(f"tw{chance.getrandbits(32):08x}", chance)
    first_runs = chance.random() < 0.5
    blocks = [own.body.text or b"", other.body.text or b""]
    first, second = blocks if first_runs else reversed(blocks)
    test = plain_condition(hidden, chance, first_runs).encode()
    declared = lending.hidden.format(name=hidden.name, value=hidden.value).encode()
    body = b"{\n" + declared + b"\nif (" + test + b") " + first + b" else " + second + b"\n}"
    return own.body.start_byte, own.body.end_byte, body


def is_directive(statement: Node) -> bool:
    """Return whether it is a text alone, as `"use strict"` is, which must come first."""
    return statement.type == "expression_statement" and [node.type for node in statement.named_children] == ["string"]


_VERBATIM = re.compile(r"string|template|regex|jsx|preproc|char|ERROR|comment|type_arg|lib")
"""Parts of the types of nodes within which spaces may be more than spaces."""
_VALUES = ("return_statement", "assignment_expression", "assignment_statement")
_BREAK, _WIDER = 0.35, (2, 3)


def bracketed(grammar: Grammar, text: bytes, names: Sequence[str], values: frozenset[str], chance: Random) -> bytes:
    """Put brackets around most values that are returned or assigned in the functions of these names."""
    edits: list[Edit] = []
    for node in _nodes(grammar, text, names):
        value = _value(node) if node.type in _VALUES else None
        if value is not None and value.type in values and not value.has_error and chance.random() < 0.7:
            edits += [(value.start_byte, value.start_byte, b"("), (value.end_byte, value.end_byte, b")")]
    return apply(text, edits)


def _value(node: Node) -> Node | None:
    """Return what is returned or assigned, where it is one value."""
    if node.type == "return_statement":
        found = node.named_children
    else:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        found = [right] if right is not None and not (left is not None and left.named_child_count > 1) else []
    found = found[0].named_children if len(found) == 1 and found[0].type == "expression_list" else found
    return found[0] if len(found) == 1 else None


def spaced(grammar: Grammar, text: bytes, names: Sequence[str], chance: Random) -> bytes:
    """Widen gaps, and end lines within brackets, in the functions of these names."""
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
    """Take indentation, blank lines and spaces around operators out of the functions of these names."""
    edits: list[Edit] = [
        (before.end_byte, after.start_byte, b"")
        for before, after in _neighbours(grammar, text, names)
        if _touch(before.text or b"", after.text or b"")
    ]
    shorter = _if_the_same(grammar, text, apply(text, edits))
    return _if_the_same(grammar, shorter, _without_indentation(grammar, shorter))


def _touch(before: bytes, after: bytes) -> bool:
    """Return whether two tokens stay two without a space: an operator beside a word."""
    signs = [bool(_CLOSE.fullmatch(token)) for token in (before, after)]
    return signs[0] != signs[1] and bool(_PLAIN.fullmatch(after if signs[0] else before))


def _without_indentation(grammar: Grammar, text: bytes) -> bytes:
    """Return a text without indentation and blank lines, but for lines within a token."""
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
    """Yield tokens that stand side by side on a line of one of the functions, spaces between them at most."""
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
    """Return the second text where it has the very tokens of the first one, otherwise the first."""
    return after if _tokens(grammar, before) == _tokens(grammar, after) else before


def _tokens(grammar: Grammar, text: bytes) -> list[tuple[str, bytes]]:
    return [(node.type, (node.text or b"").strip()) for node in _leaves(parsed(grammar.language, text))]


_SPREAD = 0.7
"""The share of statements that get one without effect before them."""


@dataclass(frozen=True)
class Braces:
    """Forms of a language with braces. `{name}` is a variable of ours that nothing reads.

    `declaration` stands at the start of a function that uses it, `footer` at the end of the file. `idle` changes
    it and nothing else, in a way that no compiler takes out; `{number}` is below 2**31.
    """

    grammar: Grammar
    functions: frozenset[str]
    """All types of nodes that are functions, those without a name too."""
    blocks: frozenset[str]
    declaration: str
    footer: str
    idle: str
    lending: Lending
    values: frozenset[str]
    """Types of nodes that may stand in brackets where they are returned or assigned."""


def writer_of(forms_at: Callable[[str], Braces]) -> Writer:
    """Return what `Code.write` is in a language that has these forms in a file at a path."""
    return lambda item, chance: _write(forms_at(item.path), item, chance)


def fresh_name(chance: Random) -> str:
    """Return a drawn name that no code has."""
    return f"tw{chance.getrandbits(32):08x}"


def _write(forms: Braces, item: OnDisk, chance: Random) -> bytes:
    grammar, name = forms.grammar, fresh_name(chance)
    names = touched_functions(grammar, item.family)
    text = with_idle(forms, item.text, differing_lines(item.text, item.family), chance, name)
    if item.others:
        other = chance.choice(item.others)
        lent = with_idle(forms, other, differing_lines(other, item.family), chance, name)
        text = with_inert_bodies(grammar, forms.lending, (item.text, other), (text, lent), names, chance)
    if text == item.text:
        return text
    text = bracketed(grammar, text, names, forms.values, chance)
    match item.layout:
        case Layout.SPACED:
            text = spaced(grammar, text, names, chance)
        case Layout.COMPACT:
            text = compact(grammar, text, names)
        case Layout.PLAIN:
            pass
    footer = forms.footer.format(name=name).encode()
    return text.rstrip(b"\n") + b"\n" + (footer if name.encode() in text else b"")


def with_idle(forms: Braces, text: bytes, lines: Sequence[int], chance: Random, name: str) -> bytes:
    """Add statements without effect to every function that holds one of these lines; the footer is still to come."""
    edits: dict[int, Edit] = {}
    for body in _bodies(forms, text, lines):
        edits |= {edit[0]: edit for edit in _spread(forms, body, chance, name)}
    return apply(text, list(edits.values()))


def _bodies(forms: Braces, text: bytes, lines: Sequence[int]) -> Iterator[Node]:
    """Yield the bodies of the functions that hold one of these lines, as far as statements find a place in them."""
    for node in every_node(forms.grammar.language, text):
        body = node.child_by_field_name("body") if node.type in forms.functions else None
        first, last = node.start_point[0] + 1, node.end_point[0] + 1
        if body is not None and body.type in forms.blocks and any(first <= line <= last for line in lines):
            yield body


def _spread(forms: Braces, body: Node, chance: Random, name: str) -> Iterator[Edit]:
    listed = next((node for node in body.named_children if node.type == "statement_list"), body)  # Go's grammar
    statements = [node for node in listed.named_children if "comment" not in node.type]
    directives = [node for node in statements if is_directive(node)]
    start = directives[-1].end_byte if directives else body.start_byte + 1
    yield start, start, ("\n" + forms.declaration.format(name=name) + _idle(forms, chance, name)).encode()
    for before, statement in pairwise(statements[len(directives) :]):
        # A macro that heads a loop looks like a statement without its semicolon: nothing may come behind it.
        if not before.has_error and chance.random() < _SPREAD:
            yield statement.start_byte, statement.start_byte, _idle(forms, chance, name).encode()


def _idle(forms: Braces, chance: Random, name: str) -> str:
    return forms.idle.format(name=name, number=chance.randint(1, 2**31 - 1))
