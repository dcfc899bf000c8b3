"""Rewriting of a variant's functions, deterministically from its seed. See `VariantSource`."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random
from typing import NamedTuple

from tree_sitter import Node

from harness.judging.languages.composing import FEWEST, MOST, Composed, Hidden, Names, Rule, compose, condition
from harness.judging.languages.found import parsed, text_of
from harness.judging.languages.functions import (
    Edit,
    Function,
    Grammar,
    Piece,
    apply,
    below,
    functions_of,
    read_anew,
    top_of,
    touched_functions,
)
from harness.judging.languages.variant_source import VariantSource

_WORD = re.compile(rb"[A-Za-z_$][A-Za-z0-9_$]*")
_LESS = 2
"""Inert code has one of so many rules that a function's own has."""
_AFTERWARDS = (3, 8)
"""Rules applied once more where a function has inert code."""


def nothing(_: Node) -> Sequence[str]:
    """Return no names: for languages in which nothing is borrowed."""
    return ()


def always(_: Function) -> bool:
    """Return True for any function."""
    return True


def never(_: Node) -> bool:
    """Return False for any node."""
    return False


def same_head(ours: Function, theirs: Function) -> bytes | None:
    """Return the other's body, where it stands behind the very same head."""
    return theirs.body.text if ours.head == theirs.head else None


@dataclass(frozen=True, eq=False)
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
    """Return the text that what runs of `path` is compiled from: as it is written where the variant has no seed."""
    text, family, inert = source.code[path], source.family.get(path, ()), source.inert.get(path, ())
    if source.seed is None:
        return text
    touched = set(touched_functions(catalogue.grammar, family))
    file = _File(catalogue.grammar, text)
    # In the order of the text: what inert code takes along must stand above all that use it.
    for name in [name for name in functions_of(catalogue.grammar, text) if name in touched]:
        if _may_change(catalogue, text, name) and (piece := file.piece(name)):
            chance = Random(f"{source.seed}/{path}/{name}")
            able = [lender for lender in inert if _may_change(catalogue, lender, name)]
            lenders = [Piece.of(catalogue.grammar, lender, name) for lender in able]
            names = Names(_known(catalogue, text, name), [*piece.texts, *family, *inert], catalogue.join, chance)
            file.put(_Rewriting(catalogue, names, chance).done(piece, lenders))
    return file.text


@lru_cache(maxsize=1024)
def _may_change(catalogue: Catalogue, text: bytes, name: str) -> bool:
    function = functions_of(catalogue.grammar, text).get(name)
    return function is not None and catalogue.may_change(function)


@lru_cache(maxsize=1024)
def _known(catalogue: Catalogue, text: bytes, name: str) -> frozenset[str]:
    """Return the identifiers of a function."""
    nodes = below(functions_of(catalogue.grammar, text)[name].node)
    return frozenset(text_of(node) for node in nodes if node.type.endswith("identifier"))


class _File:
    """A file whose functions are rewritten in their order.

    It is cut where functions that were rewritten begin and end, at the top of the file. What is left as it was is
    the same in every variant, so it is parsed and searched once.
    """

    def __init__(self, grammar: Grammar, text: bytes) -> None:
        self._grammar, self._text = grammar, text
        self._above: tuple[bytes, ...] = ()
        self._at, self._end = 0, 0
        """Where in the text as it was the last rewritten piece ends, and the one that is being rewritten."""

    @property
    def text(self) -> bytes:
        return b"".join((*self._above, self._text[self._at :]))

    def piece(self, name: str) -> Piece | None:
        """Return the piece that holds a function, which no earlier one stands behind.

        Returns:
            None if there is none any more.
        """
        top = top_of(functions_of(self._grammar, self._text)[name].node)
        start, self._end = top.start_byte, top.end_byte
        if start >= self._at:
            piece = Piece.of(self._grammar, self._text, name)
            return replace(piece, above=(*self._above, self._text[self._at : start]))
        functions = functions_of(self._grammar, self.text)  # another one of the same piece was rewritten
        return Piece.of(self._grammar, self.text, name) if name in functions else None

    def put(self, piece: Piece) -> None:
        """Replace the piece that `piece` has returned last with the rewritten one."""
        self._above, self._at = (*piece.above, piece.text), self._end


class _Part(NamedTuple):
    statements: bytes
    runs: bool


class _Rewriting:
    """The rewriting of one function."""

    def __init__(self, catalogue: Catalogue, names: Names, chance: Random) -> None:
        self._catalogue, self._names, self._chance = catalogue, names, chance

    def done(self, piece: Piece, lenders: Sequence[Piece]) -> Piece:
        """Return the piece with its function rewritten, and bodies of its namesakes in `lenders` in it."""
        count = self._chance.randint(FEWEST, MOST)
        others = [self._composed(lender, count // _LESS) for lender in lenders]
        own = self._composed(piece, count)
        beside = self._with_inert(own, others)
        if beside == own.piece:
            return beside
        return self._composed(beside, self._chance.randint(*_AFTERWARDS)).piece

    def _composed(self, piece: Piece, count: int) -> Composed:
        catalogue = self._catalogue
        return compose(catalogue.grammar, catalogue.rules, piece, count, self._names.fresh, self._chance)

    def _with_inert(self, own: Composed, others: Sequence[Composed]) -> Piece:
        """Return the piece with the bodies of others beside its function's own, where they never run."""
        grammar, chance = self._catalogue.grammar, self._chance
        piece, ours = own.piece, own.function
        brought = _Brought(self._catalogue, own)
        parts: list[_Part] = []
        for other in others:
            body = self._catalogue.lend(ours, other.function)
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
        hiding = self._catalogue.hide(read_anew(grammar, text).functions[piece.name], hidden)
        return replace(piece, text=apply(text, hiding))

    def _nested(self, parts: Sequence[_Part], hidden: Hidden) -> bytes:
        """Return branches within branches, of which only those are taken that lead to the part that runs."""
        if len(parts) == 1:
            return parts[0].statements
        cut = self._chance.randint(1, len(parts) - 1)
        holds = any(part.runs for part in parts[:cut])
        opening, closing = self._catalogue.parentheses
        first, second = (self._nested(half, hidden) for half in (parts[:cut], parts[cut:]))
        test = f"if {opening}{condition(hidden, self._chance, holds)}{closing}".encode()
        return test + b" {\n" + first + b"\n} else {\n" + second + b"\n}"

    def _relabelled(self, body: bytes) -> bytes:
        """Return what stands in a body, each of its labels under another name."""
        if not self._catalogue.labels:
            return body[1:-1]
        root = parsed(self._catalogue.grammar.language, body)
        renamed: dict[bytes, bytes] = {}
        edits: list[Edit] = []
        for node in below(root):
            if node.type in self._catalogue.labels:
                new = renamed.setdefault(node.text or b"", self._names.fresh().encode())
                edits.append((node.start_byte, node.end_byte, new))
        return apply(body, edits)[1:-1]


class _Top(NamedTuple):
    """Declarations at the top of a file, as far as inert code may need them."""

    start: int
    names: tuple[str, ...]
    is_announced: bool
    is_included: bool
    text: bytes


class _Brought:
    """Declarations that borrowed bodies need and this file lacks."""

    def __init__(self, catalogue: Catalogue, own: Composed) -> None:
        self._catalogue = catalogue
        place = _place(own.function.node)
        here = _tops_below(catalogue, own.root)
        above = [*_tops(catalogue, own.piece.above), *(top for top in here if top.start < place)]
        around = [*above, *here, *_tops(catalogue, own.piece.below)]
        self._known = {name for top in around for name in top.names}
        self._above = {name for top in above for name in top.names}
        self.text = b""

    def take(self, other: Composed, body: bytes) -> None:
        """Take along what `body` names of what stands at the top of the other file."""
        catalogue, piece = self._catalogue, other.piece
        needed = _words(body)
        chosen: list[bytes] = []
        tops = [*_tops(catalogue, piece.above), *_tops_below(catalogue, other.root), *_tops(catalogue, piece.below)]
        for top in reversed(tops):
            wanted = top.is_included or not needed.isdisjoint(top.names)
            known = self._above if top.is_announced else self._known
            if wanted and not known.issuperset(top.names):
                self._known.update(top.names)
                self._above.update(top.names)
                needed |= _words(top.text)
                chosen.append(top.text.rstrip(b"\n") + b"\n")
        self.text += b"".join(reversed(chosen))


def _tops(catalogue: Catalogue, texts: Sequence[bytes]) -> list[_Top]:
    return [top for text in texts for top in _tops_of(catalogue, text)]


@lru_cache(maxsize=512)
def _tops_of(catalogue: Catalogue, text: bytes) -> Sequence[_Top]:
    return () if catalogue.declares is nothing else _tops_below(catalogue, parsed(catalogue.grammar.language, text))


def _tops_below(catalogue: Catalogue, root: Node) -> Sequence[_Top]:
    if catalogue.declares is nothing:
        return ()
    return [
        _Top(
            node.start_byte,
            tuple(catalogue.declares(node)),
            catalogue.announces(node),
            node.type == "preproc_include",
            _whole(node),
        )
        for node in below_top(root)
    ]


def _whole(node: Node) -> bytes:
    """Return the text of a node at the top of a file; a C structure's own ends before its semicolon."""
    after = node.next_sibling
    return (node.text or b"") + (b";" if after is not None and after.type == ";" else b"")


def _place(function: Node) -> int:
    """Return where declarations for a function can stand in its file, under the same conditions of a preprocessor."""
    node = function
    while node.parent is not None and node.parent.parent is not None and not node.parent.type.startswith("preproc_"):
        node = node.parent
    return node.start_byte


def below_top(root: Node) -> list[Node]:
    """Return what stands at the top of a file, in conditions of a preprocessor too."""
    found: list[Node] = []
    for node in root.children:
        found += below_top(node) if node.type.startswith("preproc_if") else [node]
    return found


def _words(text: bytes) -> set[str]:
    return {word.decode() for word in _WORD.findall(text)}
