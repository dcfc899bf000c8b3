"""The functions of a text by their qualified names, and which of them the variants of a task touch."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from tree_sitter import Language, Node

from harness.judging.languages.found import parsed

Edit = tuple[int, int, bytes]
"""Replace the bytes from the first offset up to the second."""


@dataclass(frozen=True, eq=False)
class Grammar:
    """Rules that tell functions apart. `qualified` gives a function's name; empty where it has none of its own."""

    language: Language
    functions: frozenset[str]
    """The types of their nodes, which have a field `body`."""
    qualified: Callable[[Node], str]


@dataclass(frozen=True)
class Function:
    """An outermost function that has a name, and what it is a part of (`const f = () => ...` is more than `f`)."""

    name: str
    node: Node
    body: Node

    @property
    def head(self) -> bytes:
        return (self.node.text or b"")[: self.body.start_byte - self.node.start_byte]


class SourceReading(NamedTuple):
    """A text's syntax tree and its functions by name."""

    root: Node
    functions: Mapping[str, Function]


@lru_cache(maxsize=192)  # as many as a task has texts of a file and of touched functions, and then some
def reading_of(grammar: Grammar, text: bytes) -> SourceReading:
    """Parse a text and find its functions, remembered for texts that are read more than once."""
    return read_anew(grammar, text)


def read_anew(grammar: Grammar, text: bytes) -> SourceReading:
    """Parse a text and find its functions."""
    root = parsed(grammar.language, text)
    return SourceReading(root, _functions_in(grammar, root))


def functions_of(grammar: Grammar, text: bytes) -> Mapping[str, Function]:
    """Return functions by name, in the order of the text.

    Of several with one name the later ones are numbered: `f#2`.
    """
    return reading_of(grammar, text).functions


def _functions_in(grammar: Grammar, root: Node) -> dict[str, Function]:
    found: dict[str, Function] = {}
    for name, node, body in _outermost(grammar, root):
        number, free = 1, name
        while free in found:
            number += 1
            free = f"{name}#{number}"
        found[free] = Function(free, node, body)
    return found


@dataclass(frozen=True)
class Piece:
    """A definition at a file's top that holds a function, and the texts around it, cut at the top of the file."""

    above: tuple[bytes, ...]
    text: bytes
    below: tuple[bytes, ...]
    name: str
    """The function's name within the piece."""

    @classmethod
    def of(cls, grammar: Grammar, text: bytes, name: str) -> "Piece":
        """Return the piece that holds the function of this name."""
        return _piece_of(grammar, text, name)

    @property
    def texts(self) -> tuple[bytes, ...]:
        """All of the file, in its order."""
        return (*self.above, self.text, *self.below)

    @property
    def whole(self) -> bytes:
        return b"".join(self.texts)


@lru_cache(maxsize=512)
def _piece_of(grammar: Grammar, text: bytes, name: str) -> Piece:
    function = functions_of(grammar, text)[name].node
    top = top_of(function)
    start, end = top.start_byte, top.end_byte
    within = functions_of(grammar, text[start:end])
    own = next(name for name, each in within.items() if each.node.start_byte == function.start_byte - start)
    return Piece((text[:start],), text[start:end], (text[end:],), own)


def top_of(node: Node) -> Node:
    """Return what holds a node at the top of its file."""
    while node.parent is not None and node.parent.parent is not None:
        node = node.parent
    return node


def touched_functions(grammar: Grammar, family: Sequence[bytes]) -> list[str]:
    """Return the names of functions that differ between the texts, sorted; absent in one counts as different."""
    return list(_touched(grammar, tuple(family)))


@lru_cache(maxsize=32)
def _touched(grammar: Grammar, family: tuple[bytes, ...]) -> tuple[str, ...]:
    texts = [{name: each.node.text for name, each in functions_of(grammar, text).items()} for text in family]
    names = {name for text in texts for name in text}
    return tuple(sorted(name for name in names if len({text.get(name) for text in texts}) > 1))


def below(node: Node) -> Iterator[Node]:
    """Yield all nodes below one, parents first, in the order of the text."""
    waiting = list(reversed(node.children))
    while waiting:
        inner = waiting.pop()
        yield inner
        waiting += reversed(inner.children)


def apply(text: bytes, edits: Sequence[Edit]) -> bytes:
    """Apply edits that don't overlap to a text. Of several at one place the first comes first."""
    pieces: list[bytes] = []
    at = 0
    for start, end, new in sorted(edits, key=lambda edit: edit[:2]):
        pieces += [text[at:start], new]
        at = end
    return b"".join([*pieces, text[at:]])


def _outermost(grammar: Grammar, root: Node) -> Iterator[tuple[str, Node, Node]]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type in grammar.functions:
            body, name = node.child_by_field_name("body"), grammar.qualified(node)
            if body is not None and name:
                yield name, node, body
                continue
        waiting += reversed(node.children)
