"""Many small changes of a function, none of which changes what it does: other text and other code for one behaviour.

A rule makes edits of one node of a syntax tree, or none where it can't tell that they are harmless. They are applied
in rounds, each to what the one before has made, so rules apply to what others made.

Fresh names of a function's own words: no mark tells them from those that its author gave.

Conditions that always hold, or never, in a form that no compiler sees through and no two of which look alike.

Each is about a variable whose value never changes: the compiler must not know that (`volatile` in C, a package's or
module's variable elsewhere). Values and numbers are below 2**30, so nothing overflows in any language.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from random import Random

from tree_sitter import Node

from harness.judging.languages.found import parsed
from harness.judging.languages.functions import Edit, Function, Grammar, Piece, apply, below, read_anew, reading_of

FEWEST, MOST = 25, 80
"""Rules applied to one function, where it has room for them."""
_PER_ROUND = 20
_GROWTH, _ROOM = 5, 6000
"""A function may become this many times as long as it was, and this many bytes more."""


@dataclass(frozen=True, eq=False)
class Scene:
    """The surroundings of a rule's node: the function around it, and where names and numbers are drawn."""

    function: Function
    chance: Random
    fresh: Callable[[], str]
    above: tuple[bytes, ...] = ()
    """The text above the function in its file."""

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """All of the function's nodes, its head's too."""
        return tuple(below(self.function.node))

    @cached_property
    def types(self) -> frozenset[str]:
        return frozenset(node.type for node in self.nodes)

    @cached_property
    def places(self) -> Mapping[str, Sequence[Node]]:
        """The named nodes of the body by their type, the body among them, in the order of the text."""
        return _by_type([self.function.body])

    def of_type(self, kind: str) -> list[Node]:
        """Return the function's named nodes of this type, those around its body first."""
        return [*self._around.get(kind, ()), *self.places.get(kind, ())]

    @cached_property
    def _around(self) -> Mapping[str, Sequence[Node]]:
        return _by_type([child for child in self.function.node.children if child != self.function.body])


def _by_type(roots: Sequence[Node]) -> Mapping[str, Sequence[Node]]:
    """Return nodes by their types, but for those without a name and children: skipping them saves half the time."""
    found: dict[str, list[Node]] = {}
    waiting = list(reversed(roots))
    while waiting:
        node = waiting.pop()
        found.setdefault(node.type, []).append(node)
        if node.named_child_count:
            waiting += node.named_children[::-1]
    return found


@dataclass(frozen=True, eq=False)
class Rule:
    """A rule of a catalogue. `rewrite` gets nodes of these types, named in the grammar, in a function's body.

    It returns edits within the node, or insertions anywhere else; nothing where a guard refuses. Two rules applied
    in one round get nodes of which neither holds the other.
    """

    name: str
    types: frozenset[str]
    rewrite: Callable[[Node, Scene], Sequence[Edit]]

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The types in an order that is the same in every process."""
        return tuple(sorted(self.types))


@dataclass(frozen=True)
class Composed:
    """A function with the rules that were applied to it so far."""

    piece: Piece
    applied: tuple[str, ...]
    """The names of the rules, in their order."""
    root: Node
    """The syntax tree of the piece's text."""
    function: Function


def compose(
    grammar: Grammar, rules: Sequence[Rule], piece: Piece, count: int, fresh: Callable[[], str], chance: Random
) -> Composed:
    """Return the piece with `count` rules applied to its function, fewer where that has no room for more."""
    applied: list[str] = []
    text, (root, functions) = piece.text, reading_of(grammar, piece.text)
    function = functions[piece.name]
    longest = len(function.node.text or b"") * _GROWTH + _ROOM
    faults = _faults(root)
    while len(applied) < count and function.node.end_byte - function.node.start_byte < longest:
        drawn = _drawn(rules, Scene(function, chance, fresh, piece.above), min(_PER_ROUND, count - len(applied)))
        if not drawn:
            break
        made = _applied(text, drawn)
        after, found = read_anew(grammar, made)
        if _faults(after) > faults:
            drawn = [one for one in drawn if _faults(parsed(grammar.language, _applied(text, [one]))) <= faults]
            made = _applied(text, drawn)
            after, found = read_anew(grammar, made)
        if not drawn or piece.name not in found or _faults(after) > faults:
            break
        applied += [rule for rule, _ in drawn]
        text, root, function = made, after, found[piece.name]
    return Composed(replace(piece, text=text), tuple(applied), root, function)


def _applied(text: bytes, drawn: Sequence[tuple[str, Sequence[Edit]]]) -> bytes:
    return apply(text, [edit for _, edits in drawn for edit in edits])


def _drawn(rules: Sequence[Rule], scene: Scene, count: int) -> list[tuple[str, Sequence[Edit]]]:
    """Return up to `count` rules with their edits; each rule that has a place is as likely as any other."""
    places, chance = scene.places, scene.chance
    offers = [(rule, [node for kind in rule.kinds for node in places.get(kind, ())]) for rule in rules]
    waiting = [offer for offer in offers if offer[1]]
    chosen: list[tuple[str, Sequence[Edit]]] = []
    taken: list[Edit] = []
    spans: list[tuple[int, int]] = []
    while waiting and len(chosen) < count:
        at = chance.randrange(len(waiting))
        rule, nodes = waiting[at]
        node = nodes.pop(chance.randrange(len(nodes)))
        if not nodes:
            del waiting[at]
        start, end = node.start_byte, node.end_byte
        if any(start < other[1] and other[0] < end for other in spans):
            continue
        edits = rule.rewrite(node, scene)
        if edits and not any(_cuts(edit, other) for edit in edits for other in taken):
            chosen.append((rule.name, edits))
            taken += edits
            spans.append((start, end))
    return chosen


def _cuts(one: Edit, other: Edit) -> bool:
    """Return whether one edit lies within what the other replaces, or both replace something that they share."""
    return one[0] < other[1] and other[0] < one[1]


def _faults(root: Node) -> int:
    """Return how many errors a tree has: a macro may be one, and stays one."""
    count, waiting = 0, [root]
    while waiting:
        node = waiting.pop()
        if node.has_error:
            count += node.is_error or node.is_missing
            waiting += node.children
    return count


_IDENTIFIER = re.compile(rb"[A-Za-z_$][A-Za-z0-9_$]*")
_PREFIX = re.compile(rb"\b([A-Za-z]+)_\w*\s*\(")
"""A function's prefix: another file may have more functions, and macros, whose names begin so."""
_WORD = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}(?![a-z])")
_FEWEST = 6
"""Words of a vocabulary: a shorter one is filled up."""
_COMMON = ("next", "count", "current", "last", "item", "start", "kind", "size", "left", "state")


def snake_case(words: Sequence[str]) -> str:
    """Return words as one name: `two_words`."""
    return "_".join(words)


def camel_case(words: Sequence[str]) -> str:
    """Return words as one name: `twoWords`."""
    return words[0] + "".join(word.capitalize() for word in words[1:])


class Names:
    """Names that occur in none of some texts, of the words of known ones.

    `join` makes a name of words in the language's way.
    """

    def __init__(
        self, known: Iterable[str], texts: Iterable[bytes], join: Callable[[Sequence[str]], str], chance: Random
    ) -> None:
        self._join, self._chance, texts = join, chance, list(texts)
        self._taken = set[str]().union(*map(_identifiers, texts))
        self._prefixes = frozenset[str]().union(*map(_prefixes, texts))
        self._words = _words(known)

    def fresh(self) -> str:
        """Return another name each time."""
        while True:
            words = self._chance.sample(self._words, self._chance.choice((2, 2, 2, 3)))
            name = self._join(words)
            if name not in self._taken and not (words[0] in self._prefixes and name.startswith(f"{words[0]}_")):
                self._taken.add(name)
                return name
            self._words.append(f"{self._chance.choice(_COMMON)}{self._chance.randint(2, 99)}")


@lru_cache(maxsize=256)  # all variants of a task share a family of texts
def _identifiers(text: bytes) -> frozenset[str]:
    return frozenset(name.decode() for name in set(_IDENTIFIER.findall(text)))


@lru_cache(maxsize=256)
def _prefixes(text: bytes) -> frozenset[str]:
    return frozenset(word.decode().lower() for word in set(_PREFIX.findall(text)))


def _words(known: Iterable[str]) -> list[str]:
    words = dict.fromkeys(word.lower() for name in sorted(set(known)) for word in _WORD.findall(name))
    return list(words) if len(words) >= _FEWEST else list(dict.fromkeys([*words, *_COMMON]))


_LARGEST = 2**30 - 1
_PLAIN: tuple[Callable[["Hidden", Random, bool], str], ...]
_FORMS: tuple[Callable[["Hidden", Random, bool], str], ...]


@dataclass(frozen=True)
class Hidden:
    """A variable, by its name, and the value that it always has."""

    name: str
    value: int

    @classmethod
    def drawn(cls, name: str, chance: Random) -> "Hidden":
        return cls(name, chance.randint(2, _LARGEST >> chance.choice((0, 4, 12, 20))))


def condition(hidden: Hidden, chance: Random, holds: bool) -> str:
    """Return a condition that always holds, or never; in C, Go and JavaScript it is the same text."""
    return chance.choice(_FORMS)(hidden, chance, holds)


def plain_condition(hidden: Hidden, chance: Random, holds: bool) -> str:
    """Return a condition of which no compiler warns, also where nothing is hidden from the compiler."""
    return chance.choice(_PLAIN)(hidden, chance, holds)


def _equal(hidden: Hidden, chance: Random, holds: bool) -> str:
    return _compared(hidden.name, hidden.value, chance, holds)


def _remainder(hidden: Hidden, chance: Random, holds: bool) -> str:
    divisor = chance.randint(3, 97)
    return _compared(f"{hidden.name} % {divisor}", hidden.value % divisor, chance, holds)


def _masked(hidden: Hidden, chance: Random, holds: bool) -> str:
    mask = chance.randint(3, _LARGEST)
    return _compared(f"({hidden.name} & {mask})", hidden.value & mask, chance, holds)


def _mixed(hidden: Hidden, chance: Random, holds: bool) -> str:
    other = chance.randint(1, _LARGEST)
    return _compared(f"({hidden.name} ^ {other})", hidden.value ^ other, chance, holds)


def _shifted(hidden: Hidden, chance: Random, holds: bool) -> str:
    bits = chance.randint(1, 9)
    return _compared(f"({hidden.name} >> {bits})", hidden.value >> bits, chance, holds)


def _added(hidden: Hidden, chance: Random, holds: bool) -> str:
    other = chance.randint(1, _LARGEST)
    return _compared(f"({hidden.name} + {other})", hidden.value + other, chance, holds)


_FORMS = (_equal, _remainder, _masked, _mixed, _shifted, _added)
_PLAIN = (_equal, _mixed, _added)


def _compared(what: str, value: int, chance: Random, holds: bool) -> str:
    """Return a comparison of `what`, which is `value`, with another number or the same one. Both are at least 0."""
    distance = chance.randint(1, 1 + (value >> 1))
    higher = value + distance
    true = [f"{what} == {value}", f"{what} < {higher}", f"{what} != {higher}", f"{what} <= {higher}"]
    false = [f"{what} != {value}", f"{what} >= {higher}", f"{what} == {higher}", f"{what} > {value}"]
    if value > 1:
        lower = max(value - distance, 1)
        true += [f"{what} > {lower - 1}", f"{what} >= {lower}"]
        false += [f"{what} < {lower}", f"{what} <= {lower - 1}", f"{what} == {lower - 1}"]
    return chance.choice(true if holds else false)
