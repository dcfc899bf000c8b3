"""What runs of a variant's text, rewritten function by function as its seed says. See `VariantSource`."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import NamedTuple

from tree_sitter import Node

from harness.languages.composing import FEWEST, MOST, Rule, compose
from harness.languages.found import parsed, text_of
from harness.languages.functions import Edit, Function, Grammar, Piece, apply, below, functions_of, touched_functions
from harness.languages.predicates import Hidden, condition
from harness.languages.variant_source import VariantSource
from harness.languages.vocabulary import Names

_WORD = re.compile(rb"[A-Za-z_$][A-Za-z0-9_$]*")
_LESS = 2
"""Inert code has one of so many rules that a function's own has."""
_AFTERWARDS = (3, 8)
"""Rules applied once more where a function has inert code."""


def nothing(_: Node) -> Sequence[str]:
    return ()


def always(_: Function) -> bool:
    return True


def never(_: Node) -> bool:
    return False


def same_head(ours: Function, theirs: Function) -> bytes | None:
    """The other's body, where it stands behind the very same head."""
    return theirs.body.text if ours.head == theirs.head else None


@dataclass(frozen=True)
class Catalogue:
    """A language's rules, and how inert code is written in it."""

    grammar: Grammar
    rules: Sequence[Rule]
    join: Callable[[Sequence[str]], str]
    """A name of words."""
    hide: Callable[[Function, Hidden], Sequence[Edit]]
    """Edits that declare a variable of a value that no compiler may rely on."""
    labels: frozenset[str] = frozenset()
    """Types of nodes that are labels: there is one of each in a function, so inert code has others."""
    parentheses: tuple[str, str] = ("(", ")")
    """Around a condition."""
    may_change: Callable[[Function], bool] = always
    """Whether a function may be rewritten at all."""
    lend: Callable[[Function, Function], bytes | None] = same_head
    """The body of the second function, braces included, for use in the first one; None where that can't be."""
    declares: Callable[[Node], Sequence[str]] = nothing
    """The names that a node at the top of a file declares. Inert code takes along what its own file lacks."""
    announces: Callable[[Node], bool] = never
    """Whether such a node only announces what the file defines further down: it may stand there more than once."""


def rewritten_text(catalogue: Catalogue, source: VariantSource, path: str) -> bytes:
    """The text that what runs of `path` is compiled from: as it is written where the variant has no seed."""
    text, family, inert = source.code[path], source.family.get(path, ()), source.inert.get(path, ())
    if source.seed is None:
        return text
    touched = set(touched_functions(catalogue.grammar, family))
    # In the order of the text: what inert code takes along must stand above all that use it.
    for name in [name for name in functions_of(catalogue.grammar, text) if name in touched]:
        if _may_change(catalogue, text, name):
            chance = Random(f"{source.seed}/{path}/{name}")
            lenders = [lender for lender in inert if _may_change(catalogue, lender, name)]
            text = _Rewriting(catalogue, text, name, chance, [*family, *inert]).done(lenders)
    return text


def _may_change(catalogue: Catalogue, text: bytes, name: str) -> bool:
    function = functions_of(catalogue.grammar, text).get(name)
    return function is not None and catalogue.may_change(function)


class _Part(NamedTuple):
    statements: bytes
    runs: bool


class _Rewriting:
    """The rewriting of one function."""

    def __init__(self, catalogue: Catalogue, text: bytes, name: str, chance: Random, family: Sequence[bytes]) -> None:
        self._catalogue, self._text, self._name, self._chance = catalogue, text, name, chance
        function = functions_of(catalogue.grammar, text)[name].node
        known = [text_of(node) for node in below(function) if node.type.endswith("identifier")]
        self._names = Names(known, [text, *family], catalogue.join, chance)

    def done(self, lenders: Sequence[bytes]) -> bytes:
        """The whole text, with bodies of `lenders` in the function."""
        count = self._chance.randint(FEWEST, MOST)
        grammar = self._catalogue.grammar
        others = [self._composed(Piece.of(grammar, lender, self._name), count // _LESS) for lender in lenders]
        own = self._composed(Piece.of(grammar, self._text, self._name), count)
        beside = self._with_inert(own, others)
        return own.whole if beside == own else self._composed(beside, self._chance.randint(*_AFTERWARDS)).whole

    def _composed(self, piece: Piece, count: int) -> Piece:
        catalogue = self._catalogue
        return compose(catalogue.grammar, catalogue.rules, piece, count, self._names.fresh, self._chance).piece

    def _with_inert(self, piece: Piece, others: Sequence[Piece]) -> Piece:
        """The piece with the bodies of others beside its function's own, where they never run."""
        grammar, chance = self._catalogue.grammar, self._chance
        ours = functions_of(grammar, piece.text)[piece.name]
        brought = _Brought(self._catalogue, piece)
        parts: list[_Part] = []
        for other in others:
            theirs = functions_of(grammar, other.text)[other.name]
            body = self._catalogue.lend(ours, theirs)
            if body is not None:
                brought.take(other, body)
                parts.append(_Part(self._relabelled(body), runs=False))
        if not parts:
            return piece
        parts.append(_Part((ours.body.text or b"")[1:-1], runs=True))
        chance.shuffle(parts)
        hidden = Hidden.drawn(self._names.fresh(), chance)
        body = b"{\n" + self._nested(parts, hidden) + b"\n}"
        at = _place(ours.node)
        text = apply(piece.text, [(ours.body.start_byte, ours.body.end_byte, body), (at, at, brought.text)])
        hiding = self._catalogue.hide(functions_of(grammar, text)[piece.name], hidden)
        return replace(piece, text=apply(text, hiding))

    def _nested(self, parts: Sequence[_Part], hidden: Hidden) -> bytes:
        """Branches within branches, of which only those are taken that lead to the part that runs."""
        if len(parts) == 1:
            return parts[0].statements
        cut = self._chance.randint(1, len(parts) - 1)
        holds = any(part.runs for part in parts[:cut])
        opening, closing = self._catalogue.parentheses
        first, second = (self._nested(half, hidden) for half in (parts[:cut], parts[cut:]))
        test = f"if {opening}{condition(hidden, self._chance, holds)}{closing}".encode()
        return test + b" {\n" + first + b"\n} else {\n" + second + b"\n}"

    def _relabelled(self, body: bytes) -> bytes:
        """What stands in a body, each of its labels under another name."""
        root = parsed(self._catalogue.grammar.language, body)
        renamed: dict[bytes, bytes] = {}
        edits: list[Edit] = []
        for node in below(root):
            if node.type in self._catalogue.labels:
                new = renamed.setdefault(node.text or b"", self._names.fresh().encode())
                edits.append((node.start_byte, node.end_byte, new))
        return apply(body, edits)[1:-1]


class _Brought:
    """What bodies of other files need of the top of their files, and this file has not."""

    def __init__(self, catalogue: Catalogue, piece: Piece) -> None:
        self._catalogue, whole = catalogue, piece.whole
        at = len(piece.above) + _place(functions_of(catalogue.grammar, piece.text)[piece.name].node)
        top = below_top(parsed(catalogue.grammar.language, whole))
        self._known = {name for node in top for name in catalogue.declares(node)}
        self._above = {name for node in top if node.start_byte < at for name in catalogue.declares(node)}
        self.text = b""

    def take(self, other: Piece, body: bytes) -> None:
        """Take along what `body` names of what stands at the top of the other file."""
        needed = _words(body)
        chosen: list[bytes] = []
        for node in reversed(below_top(parsed(self._catalogue.grammar.language, other.whole))):
            names = self._catalogue.declares(node)
            wanted = node.type == "preproc_include" or not needed.isdisjoint(names)
            known = self._above if self._catalogue.announces(node) else self._known
            if wanted and not known.issuperset(names):
                self._known.update(names)
                self._above.update(names)
                needed |= _words(node.text or b"")
                chosen.append((node.text or b"").rstrip(b"\n") + b"\n")
        self.text += b"".join(reversed(chosen))


def _place(function: Node) -> int:
    """Where declarations for a function can stand in its file, under the same conditions of a preprocessor."""
    node = function
    while node.parent is not None and node.parent.parent is not None and not node.parent.type.startswith("preproc_"):
        node = node.parent
    return node.start_byte


def below_top(root: Node) -> list[Node]:
    """What stands at the top of a file, in conditions of a preprocessor too."""
    found: list[Node] = []
    for node in root.children:
        found += below_top(node) if node.type.startswith("preproc_if") else [node]
    return found


def _words(text: bytes) -> set[str]:
    return {word.decode() for word in _WORD.findall(text)}
