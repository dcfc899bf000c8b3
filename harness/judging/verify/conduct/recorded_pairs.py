"""Ways to compare a value with a recorded one beside `==`: cases of a switch, keys of tables, ranges, rests. Pure.

A bound on one side, and a rest of nothing, tell a digest as well: text is added to the data until it lies there.

Each gives pairs of a value and of what it is compared with; whether one is a digest and the other recorded is for
`digests.py` to say. Takes time linear to the text.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Generic, TypeVar

from tree_sitter import Node

from harness.judging.languages.functions import below
from harness.judging.verify.conduct.assignments import GivenValues
from harness.judging.verify.conduct.numbers_of_answers import called_name
from harness.judging.verify.conduct.recorded_values import is_fixed

Pair = list[Node]
Scope = TypeVar("Scope")

_CASES = frozenset({"case_clause", "expression_case", "switch_case", "case_statement"})
_SWITCHES: Mapping[str, str] = {
    "match_statement": "subject",
    "expression_switch_statement": "value",
    "switch_statement": "value",
}
_CONDITION = "condition"
"""The field of what C's `switch` is about."""
_TAKEN: Mapping[str, tuple[str, str]] = {
    "subscript": ("value", "subscript"),
    "index_expression": ("operand", "index"),
    "subscript_expression": ("object", "index"),
}
"""Types of nodes that take something from a table, with the fields of the table and of the key."""
_ASKS = re.compile(r"get|has|pop|includes|index|indexOf|count|contains|setdefault|__contains__|__getitem__")
_BEGINS = re.compile(r"(starts|ends)_?with|Has(Prefix|Suffix)", re.I)
_HEX = re.compile(rb"b?[\"'`][0-9a-fA-F]{4,64}[\"'`]")
_KEYED = frozenset({"dictionary", "object", "literal_value"})
_PAIRS = frozenset({"pair", "keyed_element"})
_MEMBERS = frozenset({"list", "tuple", "set", "array"})
_ORDERS, _WITHIN = frozenset({"<", "<=", ">", ">="}), frozenset({"in", "not in"})
_COMPARES = frozenset({"comparison_operator", "binary_expression"})
_DIFFERS, _BINARY = frozenset({"-", "^"}), frozenset({"binary_operator", "binary_expression"})
_NUMBER = re.compile(rb"(0[xX][0-9a-fA-F]{1,400}|[0-9]{1,400})[uUlLn]*")
_LEAST, _NARROW = 1_000, 1_000
"""A range of numbers from this one on is narrow where it is at most so small a part of the larger one."""
_WIDTHS = frozenset({8, 16, 24, 31, 32, 48, 63, 64, 128, 160, 256, 512})
"""Bits of numbers: that a digest lies within them says nothing of its data."""
_SIZES = re.compile(rb"len|length|byteLength|size|Len|strlen|sizeof|bit_length")
_POWERS, _MOST_POWER = frozenset({"**", "<<"}), 1_000
_CUTS, _SHIFTS = frozenset({"%", "&", "/", "//"}), frozenset({">>", ">>>"})
_LEAST_MODULUS, _LEAST_SHIFT = 256, 8
"""A rest by so large a number, or what is left of it so many bits on, is known by chance only seldom."""
_NOTHING = frozenset({"not_operator", "unary_expression"})
_MATCHES = re.compile(r"fullmatch|match|search|findall|test|MatchString|MustCompile|compile")
_OWN_NAMES = re.compile(r"(has|get)attr|globals|locals|vars|dir")
"""Functions that look among names of the program: a digest may be one of them."""
_MOST, _MOST_OF_TABLES = 200, 10_000


@dataclass(frozen=True)
class _Bound(Generic[Scope]):
    """A bound of a value: a limit below or above it, and the condition that it is part of."""

    side: Node
    limit: Node
    scope: Scope
    is_below: bool
    condition: int


class Pairs(Generic[Scope]):
    """The pairs of one file, by the scopes in which they stand."""

    def __init__(self, literals: Collection[str], values: GivenValues) -> None:
        self._literals, self._values = literals, values
        self._found: list[tuple[Pair, Scope]] = []
        self._lookups: list[tuple[Node, Node, bool, Scope]] = []
        self._bounds: dict[bytes, list[_Bound[Scope]]] = {}
        self._rests: list[tuple[Node, Scope]] = []
        self._names: list[tuple[Node, Scope]] = []

    def look(self, node: Node, scope: Scope, is_loop: bool) -> None:
        """Take a node in."""
        kind = node.type
        if kind in _CASES:
            self._found += ((pair, scope) for pair in self._of_case(node))
        elif kind in _TAKEN:
            table, key = (node.child_by_field_name(name) for name in _TAKEN[kind])
            if table is not None and key is not None:
                self._lookups.append((key, table, True, scope))
        elif kind in ("call", "call_expression"):
            self._call(node, scope)
        if kind in _COMPARES:
            self._compared(node, scope)
        if kind in _NOTHING and node.named_children and node.children[0].type in ("not", "!"):
            self._rests.append((node.named_children[0], scope))
        if kind in _BINARY and not is_loop and _operator(node) in _DIFFERS:
            one, other = node.named_children[0], node.named_children[-1]
            for left, right in ((one, other), (other, one)):
                if (number := self._number(right)) is not None and number >= _LEAST and number & (number + 1):
                    self._found.append(([left, right], scope))

    def all(self, is_digest: Callable[[Node, Scope], bool]) -> Iterator[tuple[Pair, Scope]]:
        """Yield the pairs, once the whole file has been looked at; of tables those of a digest that is a key."""
        yield from self._found
        asked = (lookup for lookup in self._lookups if is_digest(lookup[0], lookup[3]))
        of_tables = (([key, each], scope) for key, table, kind, scope in asked for each in self._keys(table, kind))
        yield from islice(of_tables, _MOST_OF_TABLES)
        for bounds in self._bounds.values():
            if self._is_narrow(bounds):
                yield from (([bound.side, bound.limit], bound.scope) for bound in bounds)

    def held(self) -> Iterator[tuple[Node, Scope]]:
        """Yield values that have a bound, leave no rest, or are looked for among names: each tells a digest."""
        for bounds in self._bounds.values():
            yield from ((bound.side, bound.scope) for bound in bounds if self._is_held(bound))
        yield from ((side, scope) for side, scope in self._rests if self.leaves_rest(side))
        yield from self._names

    def leaves_rest(self, side: Node) -> bool:
        """Return whether a value is the rest of something by a large number, or what is left of it many bits on."""
        for node in self._inside(side):
            operator, right = _operator(node), node.named_children[-1] if node.named_children else None
            least = _LEAST_SHIFT if operator in _SHIFTS else _LEAST_MODULUS if operator in _CUTS else None
            if right is not None and least is not None and (self._number(right) or 0) >= least:
                return True
        return False

    def _is_held(self, bound: "_Bound[Scope]") -> bool:
        """Return whether a bound says something of a digest: it is none of a size, and no width."""
        if any(_SIZES.fullmatch(node.text or b"") for node in self._inside(bound.side) if "identifier" in node.type):
            return False
        if _HEX.fullmatch(bound.limit.text or b""):
            return True
        number = self._number(bound.limit)
        return number is not None and number >= _LEAST and not {number, number + 1} & {1 << bits for bits in _WIDTHS}

    def _inside(self, side: Node) -> Iterator[Node]:
        """Yield a value's nodes, and those of what the names in it were given, once each."""
        for node in (side, *islice(below(side), _MOST)):
            yield node
            value = self._values.get(node.text or b"") if node.type == "identifier" else None
            yield from (value, *islice(below(value), _MOST)) if value is not None else ()

    def _is_narrow(self, bounds: "list[_Bound[Scope]]") -> bool:
        """Return whether a value is held within two numbers that are near each other, or refused outside of them."""
        limits = [(number, each) for each in bounds if (number := self._number(each.limit)) is not None]
        limits.sort(key=lambda pair: pair[0])
        for (low, one), (high, other) in pairwise(limits):
            is_near = low >= _LEAST and high - low <= high // _NARROW
            is_refused = other.is_below and not one.is_below and one.condition == other.condition
            if is_near and ((one.is_below and not other.is_below) or is_refused):
                return True
        return False

    def _of_case(self, case: Node) -> Iterator[Pair]:
        switch = case.parent
        while switch is not None and switch.type in ("block", "switch_body", "compound_statement"):
            switch = switch.parent
        if switch is None or switch.type not in _SWITCHES:
            return
        subject = switch.child_by_field_name(_SWITCHES[switch.type]) or switch.child_by_field_name(_CONDITION)
        value = case.child_by_field_name("value")
        values = (
            [value] if value is not None else [item for item in case.named_children if item.type == "case_pattern"]
        )
        inner = (node for item in values for node in (item, *islice(below(item), _MOST)))
        if subject is not None:
            yield from ([node, subject] for node in inner if node.type in self._literals)

    def _call(self, call: Node, scope: Scope) -> None:
        function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
        if function is None or arguments is None or not arguments.named_children:
            return
        name, given = called_name(function), arguments.named_children
        of = function.child_by_field_name("object")
        if _ASKS.fullmatch(name) and of is not None:
            self._lookups.append((given[0], of, False, scope))
        elif name == "Contains" and len(given) > 1:
            self._lookups.append((given[1], given[0], False, scope))
        elif _MATCHES.fullmatch(name) and any(map(is_fixed, given)):
            self._found += (([item, each], scope) for each in filter(is_fixed, given) for item in given)
        elif _OWN_NAMES.fullmatch(name) and len(given) > 1:
            self._names.append((given[1], scope))
        elif _BEGINS.fullmatch(name) and _HEX.fullmatch(given[-1].text or b""):
            value = of if of is not None and len(given) == 1 else given[0]
            self._found.append(([value, given[-1]], scope))

    def _compared(self, node: Node, scope: Scope) -> None:
        sides = node.named_children
        if any(child.type in _WITHIN for child in node.children):
            self._lookups.append((sides[0], sides[-1], False, scope))
            called = called_name(sides[-1].child_by_field_name("function")) if sides[-1].type == "call" else ""
            self._found += [([sides[0], sides[-1]], scope)] if called == "range" else []
            self._names += [(sides[0], scope)] if _OWN_NAMES.fullmatch(called) else []
        if any(child.type in _ORDERS for child in node.children):
            orders = [child.type for child in node.children if child.type in _ORDERS]
            for (left, right), order in zip(pairwise(sides), orders, strict=False):
                for side, limit, is_below in ((left, right, ">" in order), (right, left, "<" in order)):
                    is_short = max(each.end_byte - each.start_byte for each in (side, limit)) < _MOST
                    if is_short and side.type not in self._literals:
                        bound = _Bound(side, limit, scope, is_below, _condition(node))
                        self._bounds.setdefault(side.text or b"", []).append(bound)

    def _number(self, node: Node) -> int | None:
        """Return the first number of a literal, of a name that has one, or of what is made of either."""
        for each in (node, *islice(below(node), _MOST)):
            value = self._values.get(each.text or b"") if each.type == "identifier" else each
            if value is not None and (power := self._power(value)) is not None:
                return power
            if value is not None and value.type in self._literals and _NUMBER.fullmatch(value.text or b""):
                return _number(value.text or b"")
        return None

    def _power(self, node: Node) -> int | None:
        """Return the number of `2 ** 20` and `1 << 20`."""
        if _operator(node) not in _POWERS:
            return None
        base, exponent = (
            _number(side.text) if side.text and _NUMBER.fullmatch(side.text) else None
            for side in (node.named_children[0], node.named_children[-1])
        )
        if base not in (1, 2) or exponent is None or exponent > _MOST_POWER:
            return None
        return 1 << exponent if _operator(node) == "<<" else base**exponent

    def _keys(self, table: Node, is_keyed: bool) -> Iterator[Node]:
        """Yield the keys of a table that is written down; of one without keys its members, where they count."""
        found: Node | None = self._values.get(table.text or b"") if table.type == "identifier" else table
        inside = (found, *islice(below(found), _MOST)) if found is not None else ()
        whole = next((node for node in inside if node.type in _KEYED or node.type in _MEMBERS), None)
        for item in whole.named_children[:_MOST] if whole is not None else ():
            if item.type in _PAIRS:
                key = item.child_by_field_name("key")
                yield from (
                    [key.named_children[0] if key.type == "literal_element" else key] if key is not None else []
                )
            elif item.type == "array" and item.named_children:
                yield item.named_children[0]
            elif not is_keyed:
                yield item


def _number(text: bytes) -> int:
    """Return the number that a literal stands for; one with zeros before it is octal, or a text of digits."""
    plain = text.rstrip(b"uUlLn")
    return int(plain, 16) if plain[:2] in (b"0x", b"0X") else int(plain)


def _condition(node: Node) -> int:
    """Return the number of the node that says what a comparison is part of: `a < 1 or a > 2`."""
    above = node.parent
    while above is not None and above.type == "parenthesized_expression":
        above = above.parent
    return above.id if above is not None else node.id


def _operator(node: Node) -> str:
    operator = node.child_by_field_name("operator")
    return operator.type if operator is not None and len(node.named_children) > 1 else ""
