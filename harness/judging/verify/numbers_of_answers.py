"""Python's own ways to make a number of any answer: `hash`, chance that is seeded with it, sums that are xored. Pure.

A hash, or a number that is drawn, counts where it is compared with a recorded number itself, and not by what else it
leads to: honest tests draw inputs by seeds, and put things into tables by their hash.
"""

import re
from collections.abc import Collection, Sequence
from itertools import islice

from tree_sitter import Node

from harness.judging.languages.conduct import callee
from harness.judging.languages.functions import below

_SEEDED = frozenset({"random.Random", "Random"})
_DRAWS = frozenset({"random", "getrandbits", "randrange", "randint", "randbytes", "uniform"})
_AROUND = frozenset({"hex", "oct", "bin", "str", "repr", "int", "abs", "round", "format"})
"""Functions that give a number another form."""
_PASSED_ON = {"subscript": "value", "binary_operator": "left"}
_LITERALS = frozenset({"string", "integer", "float", "true", "false", "none"})
_NUMBER = re.compile(rb"-?[0-9.]")
_MOST_NODES = 200
"""The most nodes of a value that are looked at."""


def folds_sums(given: Sequence[Node]) -> bool:
    """Return whether a function that folds is given sums, and xor to fold them by."""
    if not given:
        return False
    function, *data = given
    named = (function.text or b"").rpartition(b".")[2]
    is_xor = named == b"xor" or (function.type == "lambda" and is_xored(function))
    return is_xor and any(map(has_sum, data))


def is_xored(value: Node) -> bool:
    """Return whether a value is made by xor."""
    operators = (node.child_by_field_name("operator") for node in (value, *islice(below(value), _MOST_NODES)))
    return any(operator is not None and operator.type == "^" for operator in operators)


def has_sum(value: Node) -> bool:
    """Return whether Python's `sum` is in a value, called or handed on."""
    nodes = (value, *islice(below(value), _MOST_NODES))
    return any(node.type == "identifier" and node.text == b"sum" for node in nodes)


class Numbers:
    """The numbers of answers in one file, by the names that are given them."""

    def __init__(self) -> None:
        self._values: dict[bytes, Node | None] = {}

    def give(self, names: Collection[bytes], value: Node | None) -> None:
        """Take in that names are given a value; a name with several counts for nothing."""
        single = next(iter(names)) if len(names) == 1 else None
        for name in names:
            self._values[name] = value if name == single and name not in self._values else None

    def are_compared(self, side: Node, other: Node) -> bool:
        """Return whether one side of a comparison is the number of an answer, and the other may be a recorded one."""
        is_number = other.type == "identifier" or _NUMBER.match(other.text or b"") is not None
        return is_number and self._is_number(_bare(side))

    def _is_number(self, node: Node) -> bool:
        if node.type == "identifier":
            value = self._values.get(node.text or b"")
            return value is not None and value.type != "identifier" and self._is_number(_bare(value))
        if node.type != "call":
            return False
        if callee(node) == "hash":
            return _is_given_more_than_a_literal(node)
        function = node.child_by_field_name("function")
        drawn, of = (_field(function, name) for name in ("attribute", "object"))
        if drawn is None or of is None or (drawn.text or b"").decode() not in _DRAWS:
            return False
        made = self._values.get(of.text or b"") if of.type == "identifier" else of
        is_seeded = made is not None and made.type == "call" and callee(made) in _SEEDED
        return made is not None and is_seeded and _is_given_more_than_a_literal(made)


def _field(node: Node | None, name: str) -> Node | None:
    return node.child_by_field_name(name) if node is not None else None


def _given(call: Node) -> list[Node]:
    arguments = call.child_by_field_name("arguments")
    return arguments.named_children if arguments is not None else []


def _is_given_more_than_a_literal(call: Node) -> bool:
    given = _given(call)
    return len(given) == 1 and given[0].type not in _LITERALS


def _bare(node: Node) -> Node:
    """Return a number without what cuts it or gives it another form."""
    while True:
        inner: Node | None = None
        if node.type in _PASSED_ON:
            inner = node.child_by_field_name(_PASSED_ON[node.type])
        elif node.type == "parenthesized_expression" and node.named_child_count == 1:
            inner = node.named_children[0]
        elif node.type == "call" and callee(node) in _AROUND:
            inner = next(iter(_given(node)), None)
        if inner is None:
            return node
        node = inner
