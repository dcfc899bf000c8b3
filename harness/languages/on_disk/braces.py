"""Other text for the same behaviour, in languages whose functions have bodies in braces. Works by tree-sitter.

    statements without effect -> bodies of other variants, which never run -> brackets -> layout

Each step leaves alone what it can't be sure of.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random

from tree_sitter import Node

from harness.languages.found import every_node
from harness.languages.functions import Edit, Grammar, apply, touched_functions
from harness.languages.on_disk.bodies import Lending, is_directive, with_inert_bodies
from harness.languages.on_disk.spacing import bracketed, compact, spaced
from harness.languages.on_disk.written import Layout, OnDisk, Writer, differing_lines

_SPREAD = 0.7
"""The share of statements that get one without effect before them."""


@dataclass(frozen=True)
class Braces:
    """How a language is written. `{name}` is a variable of ours that nothing reads.

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
    """What `Code.write` is in a language that has these forms in a file at a path."""
    return lambda item, chance: _write(forms_at(item.path), item, chance)


def fresh_name(chance: Random) -> str:
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
    """Statements without effect in every function that holds one of these lines; the footer is still to come."""
    edits: dict[int, Edit] = {}
    for body in _bodies(forms, text, lines):
        edits |= {edit[0]: edit for edit in _spread(forms, body, chance, name)}
    return apply(text, list(edits.values()))


def _bodies(forms: Braces, text: bytes, lines: Sequence[int]) -> Iterator[Node]:
    """The bodies of the functions that hold one of these lines, as far as statements find a place in them."""
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
