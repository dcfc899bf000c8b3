"""Other text on disk for the same behaviour, in languages whose functions have bodies in braces.

For toolchains that don't separate text from code: there the text on disk is what runs. Works by tree-sitter, and puts
statements without effect between a function's own, other ones each time.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tree_sitter import Language, Node

from harness.languages.found import every_node
from harness.languages.functions import Edit, apply

_SPREAD = 0.7
"""The share of statements that get one without effect before them."""


@dataclass(frozen=True)
class Braces:
    """How statements without effect are written in a language. `{name}` is a variable of ours that nothing reads.

    `declaration` stands at the start of a function that uses it, `footer` at the end of the file. `idle` changes
    it and nothing else, in a way that no compiler takes out; `{number}` is below 2**31.
    """

    grammar: Language
    functions: frozenset[str]
    blocks: frozenset[str]
    declaration: str
    footer: str
    idle: str


def rewriting_in(forms: Braces) -> Callable[[bytes, Sequence[int], random.Random], bytes]:
    """What `Code.rewrite` is in a language of these forms."""
    return lambda text, lines, chance: _rewrite(forms, text, lines, chance, fresh_name(chance))


def fresh_name(chance: random.Random) -> str:
    return f"tw{chance.getrandbits(32):08x}"


def _rewrite(forms: Braces, text: bytes, lines: Sequence[int], chance: random.Random, name: str) -> bytes:
    edits: dict[int, Edit] = {}
    for body in _bodies(forms, text, lines):
        edits |= {edit[0]: edit for edit in _spread(forms, body, chance, name)}
    if not edits:
        return text
    return apply(text, list(edits.values())).rstrip(b"\n") + b"\n" + forms.footer.format(name=name).encode()


def _bodies(forms: Braces, text: bytes, lines: Sequence[int]) -> Iterator[Node]:
    """The bodies of the functions that hold one of these lines, as far as statements find a place in them."""
    for node in every_node(forms.grammar, text):
        body = node.child_by_field_name("body") if node.type in forms.functions else None
        first, last = node.start_point[0] + 1, node.end_point[0] + 1
        if body is not None and body.type in forms.blocks and any(first <= line <= last for line in lines):
            yield body


def _spread(forms: Braces, body: Node, chance: random.Random, name: str) -> Iterator[Edit]:
    start = body.start_byte + 1
    yield start, start, ("\n" + forms.declaration.format(name=name) + _idle(forms, chance, name)).encode()
    listed = next((node for node in body.named_children if node.type == "statement_list"), body)  # Go's grammar
    statements = [node for node in listed.named_children if "comment" not in node.type]
    for before, statement in pairwise(statements):
        # A macro that heads a loop looks like a statement without its semicolon: nothing may come behind it.
        if not before.has_error and chance.random() < _SPREAD:
            yield statement.start_byte, statement.start_byte, _idle(forms, chance, name).encode()


def _idle(forms: Braces, chance: random.Random, name: str) -> str:
    return forms.idle.format(name=name, number=chance.randint(1, 2**31 - 1))
