"""Tests that compare a digest with a recorded one: what an answer was once, without saying what it should be. Pure.

A digest is what a function for digests makes, or a variable that a loop multiplies and adds data to, or one that a
loop adds a sum of data to, or what a function that folds, or one that calls itself, makes in the same way, and
whatever is made of one. `numbers_of_answers.py` knows Python's own ways beside these. Names count wherever they
stand in a file. Takes time linear to the text.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import NamedTuple

from tree_sitter import Node

from harness.judging.languages.conduct import has_line
from harness.judging.languages.functions import below
from harness.judging.verify.conduct.assignments import GIVES, GivenValues
from harness.judging.verify.conduct.compared import Comparisons, is_digits
from harness.judging.verify.conduct.digest_calls import DigestCalls
from harness.judging.verify.conduct.digit_readers import is_long, keeps_digits
from harness.judging.verify.conduct.folding import UNNAMED, Functions, feeds_itself, folds, is_bounded
from harness.judging.verify.conduct.numbers_of_answers import Numbers
from harness.judging.verify.conduct.recorded_pairs import Pairs
from harness.judging.verify.conduct.recorded_values import has_table, is_literal, is_recorded
from harness.judging.verify.conduct.records_beside import Beside
from harness.judging.verify.conduct.rolling import Rolling, operator_of, own_operator, rolls, words_below

_LOOP = re.compile(r"^(for|while|do)_")
_FUNCTION = re.compile(r"(function_(definition|declaration)|method_(definition|declaration))$")
_ASSIGNS: Mapping[str, tuple[str, str]] = {
    **GIVES,
    "augmented_assignment": ("left", "right"),
    "named_expression": ("name", "value"),
    "var_spec": ("name", "value"),
    "const_spec": ("name", "value"),
    "preproc_def": ("name", "value"),
    "augmented_assignment_expression": ("left", "right"),
}
"""Types of nodes that give a name a value or change it, with the fields of both."""
_DECLARES = frozenset({"declaration", "var_declaration", "lexical_declaration", "expression_statement"})
"""Types of nodes that give a whole file a variable."""
_DEFAULTS = frozenset({"default_parameter", "typed_default_parameter"})
_CALLS = frozenset({"call", "call_expression"})
_CUTS = frozenset({"%", "&", ">>"})
_PARTS = re.compile(r"(subscript|slice|(subscript|index|slice)_expression)$")
"""Types of nodes that take a part of something: of a digest, a byte or a remainder is one as well."""
_MOST_ROUNDS, _MOST_DEEP, _MOST_NODES = 8, 20, 200
"""The most nodes of one side of a comparison that are looked at."""


@dataclass(eq=False)
class _Scope:
    """A function's body, or the whole file: the names in it that a digest has a part in, and those outside of it."""

    outer: "_Scope | None" = None
    digests: set[bytes] = field(default_factory=set)
    depth: int = 0

    def has(self, name: bytes) -> bool:
        """Return whether a name stands for something that a digest has a part in."""
        scope: _Scope | None = self
        while scope is not None and name not in scope.digests:
            scope = scope.outer
        return scope is not None

    @property
    def file(self) -> "_Scope":
        """The scope of the whole file."""
        return self.outer.file if self.outer else self

    def within(self) -> "_Scope":
        """Return the scope of a function in it; of one that is very deep in others, itself."""
        return _Scope(self, depth=self.depth + 1) if self.depth < _MOST_DEEP else self


@dataclass(eq=False)
class _Value:
    """The value of some names, or of a function: the words `inside`, and whether a digest is made there."""

    scope: _Scope
    names: frozenset[bytes]
    inside: _Scope
    words: set[bytes] = field(default_factory=set)
    is_digest: bool = False

    def spread(self) -> bool:
        """Return whether its names are found to be a digest's now."""
        self.is_digest = self.is_digest or any(map(self.inside.has, self.words))
        if not self.is_digest or self.names <= self.scope.digests:
            return False
        self.scope.digests |= self.names
        return True


class _Place(NamedTuple):
    """The surroundings of a node: scope, value that it is part of, its function's value, what its loop does."""

    scope: _Scope
    value: _Value | None = None
    returned: _Value | None = None
    loop: "dict[bytes, Rolling] | None" = None


def compares_recorded_digest(root: Node, literals: Collection[str], added: Collection[int]) -> bool:
    """Return whether a file compares a digest that it makes with a literal.

    Args:
        root: The file's syntax tree.
        literals: The types of nodes that are data.
        added: The lines, from 1, whose comparisons count; one counts as well if it only ends on such a line.
    """
    lines = sorted(added)
    found = _Reading(literals)
    found.read(root)
    is_table = False
    for sides, scope in found.comparisons:
        if not any(_is_on(side, lines) for side in sides):
            continue
        made = [side for side in sides if found.is_digest(side, scope) or _is_of_an_answer(side, sides, found)]
        others = [side for side in sides if side not in made]
        digits = 1 if any(map(found.leaves_rest, made)) else 2 if any(map(_takes_a_part, made)) else 4
        if made and any(is_recorded(side, literals, found.constants, digits) for side in others):
            return True
        is_table |= bool(made and others)
    if any(found.is_digest(side, scope) for side, scope in found.held if _is_on(side, lines)):
        return True
    if any(_is_on(side, lines) for side in found.beside.told(found.is_digest, found.makes)):
        return True
    return is_table and has_table(root, literals)


def _is_on(side: Node, lines: Sequence[int]) -> bool:
    return has_line(lines, side.start_point[0] + 1, side.end_point[0] + 1)


def _is_of_an_answer(side: Node, sides: Collection[Node], found: "_Reading") -> bool:
    is_number = any(found.numbers.are_compared(side, other) for other in sides if other is not side)
    return is_number or found.calls.is_itself(side)


class _Reading:
    """The finds of one walk through a file: values of names, names of literals, comparisons with their scopes."""

    def __init__(self, literals: Collection[str]) -> None:
        self._literals = literals
        self._values: list[_Value] = []
        self._plain: set[bytes] = set()
        self._others: set[bytes] = set()
        self._of_file: set[bytes] = set()
        self.comparisons: list[tuple[list[Node], _Scope]] = []
        self._given_values = GivenValues()
        self.numbers, self.calls = Numbers(), DigestCalls(literals, self._given_values)
        self._making: list[tuple[Node, _Value | None]] = []
        self._root = ""
        self._readers: list[_Value] = []
        """Values that a loop multiplies by the base of a notation."""
        self._mixed, self._has_long = set[bytes](), False
        """Names that a loop changes in other ways, and whether the file has a number that is long."""
        self._made = set[int]()
        """Nodes by their numbers that make a digest by themselves."""
        self._functions = Functions()
        self._pairs, self.beside = Pairs[_Scope](literals, self._given_values), Beside[_Scope](self._given_values)
        self._compared: Comparisons
        self._rolls = False

    @property
    def constants(self) -> set[bytes]:
        """Return the names that are given literals and nothing else."""
        return self._plain - self._others

    @property
    def held(self) -> Iterator[tuple[Node, _Scope]]:
        """The values with a bound that tells a digest. None where a loop makes one: readers of text do."""
        return iter(()) if self._rolls else self._pairs.held()

    def leaves_rest(self, side: Node) -> bool:
        """Return whether a value is the rest of something by a large number."""
        return self._pairs.leaves_rest(side)

    def is_digest(self, side: Node, scope: _Scope) -> bool:
        """Return whether a digest has a part in a value."""
        nodes = [side, *islice(below(side), _MOST_NODES)]
        return any(
            node.id in self._made or ("identifier" in node.type and scope.has(node.text or b"")) for node in nodes
        )

    def makes(self, side: Node, _scope: _Scope) -> bool:
        """Return whether a value makes a digest itself."""
        return any(node.id in self._made for node in (side, *islice(below(side), _MOST_NODES)))

    def read(self, root: Node) -> None:
        of_file = (node for node in root.named_children if node.type in _DECLARES)
        self._of_file = {word for node in of_file for word in words_below(node)}
        self._root, self._compared, waiting = root.type, Comparisons(root), [(root, _Place(_Scope()))]
        while waiting:
            node, place = waiting.pop()
            self._pairs.look(node, place.scope, is_loop=place.loop is not None)
            inner = self._look(node, place)
            waiting += [(child, inner) for child in reversed(node.children)]
        for node, value in self._making:
            if self.calls.makes(node) or (node.type in _CALLS and folds(node, self._functions, self._has_long)):
                self._made.add(node.id)
                if value is not None:
                    value.is_digest = True
        for value in self._readers:
            value.is_digest |= self._has_long or not self._mixed.isdisjoint(value.names)
        for _ in range(_MOST_ROUNDS):
            spread = [value.spread() for value in self._values]
            if True not in spread:
                break
        self.comparisons += self._pairs.all(self.is_digest)

    def _look(self, node: Node, place: _Place) -> _Place:
        """Take a node in, and return what its children stand in."""
        kind = node.type
        sides = list(self._compared.of(node))
        self.comparisons += ((each, place.scope) for each in sides)
        self.beside.look(node, sides, place.scope)
        if kind in self._literals and not self._has_long:
            self._has_long = is_long(node, self._root)
        if self.calls.look(node):
            self._making.append((node, place.value))
        if "identifier" in kind and place.value:
            place.value.words.add(node.text or b"")
        elif kind in _CALLS:
            self.numbers.hear(node)
            if place.returned and feeds_itself(node, place.returned.names):
                place.returned.is_digest = True
        elif kind in _DEFAULTS:
            name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
            if name is not None and value is not None and is_digits(value):
                self._plain.add(name.text or b"")
        elif kind in _ASSIGNS:
            return place._replace(value=self._given(node, place))
        elif _is_function(kind):
            inner, name = place.scope.within(), node.child_by_field_name("name") or _declared(node)
            returned = self._new(place.scope, name, inner)
            if name is not None:
                self._functions.texts.setdefault(name.text or b"", node)
            return _Place(inner, None, returned)
        elif kind in UNNAMED:
            body = node.child_by_field_name("body")
            is_block = body is not None and body.type in ("block", "statement_block")
            inner = place.scope.within()
            if place.value:
                place.value.inside = inner
            return _Place(inner, None if is_block else place.value, place.value)
        elif kind == "return_statement":
            return place._replace(value=place.returned)
        elif _is_loop(kind):
            return place._replace(loop={})
        return place

    def _given(self, node: Node, place: _Place) -> _Value:
        left, right = _ASSIGNS[node.type]
        given, value = self._new(place.scope, node.child_by_field_name(left)), node.child_by_field_name(right)
        self.numbers.give(given.names, value)
        self._given_values.give(given.names, value)
        is_plain = value is not None and is_literal(value, self._literals)
        (self._plain if is_plain else self._others).update(given.names)
        # What a function does once, others may have it do for each piece.
        is_fold = value is not None and (is_bounded(value) or given.names <= self._of_file)
        loop = {} if place.loop is None and is_fold else place.loop
        if value is not None and loop is not None:
            is_rolled = rolls(node, value, given.names, loop, self._plain)
            is_read = keeps_digits(value, given.names, own_operator(node) or "=")
            self._mixed |= given.names if not is_read else set()
            changed = [loop[name] for name in given.names & loop.keys()]  # of several, perhaps not all
            if is_rolled and is_read and all(state.multiplied for state in changed):
                self._readers.append(given)
            else:
                given.is_digest = is_rolled
            self._rolls |= is_rolled
            if is_rolled and given.names <= self._of_file:
                given.scope = place.scope.file
        return given

    def _new(self, scope: _Scope, target: Node | None, inside: _Scope | None = None) -> _Value:
        names = frozenset(words_below(target)) if target is not None else frozenset[bytes]()
        self._values.append(_Value(scope, names, inside or scope))
        return self._values[-1]


@cache
def _is_function(kind: str) -> bool:
    return _FUNCTION.search(kind) is not None


@cache
def _is_loop(kind: str) -> bool:
    return _LOOP.search(kind) is not None


def _declared(function: Node) -> Node | None:
    """Return the name of a function in C, whatever pointers stand around it."""
    found = function.child_by_field_name("declarator")
    while found is not None and found.type != "identifier":
        found = found.child_by_field_name("declarator")
    return found


def _takes_a_part(side: Node) -> bool:
    nodes = [side, *islice(below(side), _MOST_NODES)]
    return any(_PARTS.search(node.type) or operator_of(node) in _CUTS for node in nodes)
