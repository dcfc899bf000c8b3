"""Comparisons in a suite's text, also those that a helper makes of what it is given. Pure.

A helper is a function or a macro of the same text that compares a parameter with another one, or with digits of its
own: with words it tells kinds of things apart. A call of it compares what it is given in their places. Takes time
linear to the text.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations, islice
from typing import NamedTuple

from tree_sitter import Node

from harness.judging.languages.functions import below

_CALLS = frozenset({"call", "call_expression"})
_COMPARES = frozenset({"comparison_operator", "binary_expression"})
_EQUAL = frozenset({"==", "!=", "===", "!=="})
_CHECKS = re.compile(
    rb"(assert\w*|\w*equals?|expect|tobe|toequal|tostrictequal|strcmp|memcmp|strncmp|compare"
    rb"|cmp|compare_?digest|__eq__|__ne__|eq|ne|is_?close|localecompare|zip)",
    re.I,
)
"""Functions that compare what they are given, or pair it: a recorded text that a digest decodes is one as well."""
_FUNCTIONS = frozenset(
    {"function_definition", "function_declaration", "method_definition", "method_declaration", "lambda"}
    | {"arrow_function", "function_expression", "func_literal"}
)
_MACRO, _OF_MACROS = "preproc_function_def", re.compile(rb"[!=]=|cmp\b")
_DIGITS = re.compile(rb"b?[\"'`]?(0[xX])?(?=[a-fA-F]*[0-9])[0-9a-fA-F]{4,64}[uUlLn]*[\"'`]?")
_OWN = frozenset({b"self", b"cls"})
"""The first parameter of methods in Python, which calls don't give."""
_MOST_NODES, _MOST_DEEP, _MOST_ROUNDS, _MOST = 200, 20, 8, 50


class _Pair(NamedTuple):
    """A parameter and what it is compared with: another one, by its name, or a value."""

    parameter: bytes
    other: "bytes | Node"


@dataclass(eq=False)
class _Helper:
    """A function or a macro, and what it compares of its parameters; `calls` are those in it that may compare."""

    parameters: list[bytes]
    defaults: dict[bytes, Node]
    pairs: dict[tuple[bytes, object], _Pair] = field(default_factory=dict)
    calls: list[Node] = field(default_factory=list)

    def take(self, one: Node, other: Node) -> bool:
        """Take in that it compares two values; return whether that is news."""
        before = len(self.pairs)
        left, right = self._given(one), self._given(other)
        pairs = [_Pair(a, b) for a in left for b in right if a != b]
        pairs += [_Pair(each, value) for names, none, value in ((left, right, other), (right, left, one))
                  for each in names if not none and _is_record(value)]  # fmt: skip
        for pair in pairs:
            if len(self.pairs) < _MOST:
                key = pair.other if isinstance(pair.other, bytes) else pair.other.id
                self.pairs.setdefault((pair.parameter, key), pair)
        return len(self.pairs) > before

    def bound(self, call: Node) -> Mapping[bytes, Node]:
        """Return what a call gives each parameter."""
        arguments = call.child_by_field_name("arguments")
        given = dict(self.defaults)
        places = iter(self.parameters)
        for each in arguments.named_children if arguments is not None else ():
            if each.type == "keyword_argument":
                name, value = each.child_by_field_name("name"), each.child_by_field_name("value")
                if name is not None and value is not None:
                    given[name.text or b""] = value
            elif each.type != "comment" and (place := next(places, None)) is not None:
                given[place] = each
        return given

    def _given(self, side: Node) -> list[bytes]:
        words = _words(side)
        return [name for name in self.parameters if name in words]


class Comparisons:
    """All comparisons of one text, and its helpers."""

    def __init__(self, root: Node) -> None:
        self._helpers: dict[bytes, list[_Helper]] = {}
        every: list[_Helper] = []
        waiting: list[tuple[Node, tuple[_Helper, ...]]] = [(root, ())]
        while waiting:
            node, around = waiting.pop()
            if node.type in _FUNCTIONS or node.type == _MACRO:
                helper = _helper(node)
                every.append(helper)
                self._helpers.setdefault(_name(node), []).append(helper)
                around = (*around, helper)[-_MOST_DEEP:]
            elif around and node.type in _CALLS | _COMPARES:
                _take(node, around)
            waiting += [(child, around) for child in node.named_children]
        for _ in range(_MOST_ROUNDS):
            is_news = [self._hand_on(helper) for helper in every if helper.calls]
            if True not in is_news:
                break

    def of(self, node: Node) -> Iterator[list[Node]]:
        """Yield the values that a node compares with one another, each time two or more."""
        sides = _compared(node)
        if len(sides) > 1:
            yield sides
        elif node.type in _CALLS:
            yield from self._handed(node)

    def _handed(self, call: Node) -> Iterator[list[Node]]:
        for helper in self._helpers.get(_called(call), [])[:_MOST_DEEP]:
            given = helper.bound(call) if helper.pairs else {}
            for pair in [*helper.pairs.values()]:
                one = given.get(pair.parameter)
                other = given.get(pair.other) if isinstance(pair.other, bytes) else pair.other
                if one is not None and other is not None:
                    yield [one, other]

    def _hand_on(self, helper: _Helper) -> bool:
        is_news = [helper.take(one, other) for call in helper.calls for one, other in self._handed(call)]
        return True in is_news


def _take(node: Node, around: tuple[_Helper, ...]) -> None:
    sides = _compared(node)
    for helper in around:
        if len(sides) > 1:
            for one, other in combinations(sides[:4], 2):
                helper.take(one, other)
        elif node.type in _CALLS and len(helper.calls) < _MOST:
            helper.calls.append(node)


def _compared(node: Node) -> list[Node]:
    """Return the sides of a comparison, or what a call that checks something is given; with it what `expect` is."""
    if node.type in _COMPARES:
        sides = [node.named_children[0], node.named_children[-1]] if node.named_child_count > 1 else []
        return sides if any(child.type in _EQUAL for child in node.children) else []
    if node.type not in _CALLS:
        return []
    called, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    names = list(_words_in_order(called)) if called is not None else []
    if given is None or not names or not any(map(_CHECKS.fullmatch, (names[0], names[-1]))):
        return []
    before = called.named_children[:1] if called is not None and called.named_child_count > 1 else []
    return [*before, *given.named_children]


def _helper(node: Node) -> _Helper:
    parameters = _parameters(node)
    if node.type == _MACRO:
        names = [each.text or b"" for each in parameters]
        helper, value = _Helper(names, {}), node.child_by_field_name("value")
        if value is not None and _OF_MACROS.search(value.text or b""):
            used = [name for name in names if re.search(rb"\b%s\b" % re.escape(name), value.text or b"")]
            helper.pairs = {(a, b): _Pair(a, b) for a, b in islice(combinations(used, 2), _MOST)}
        return helper
    named = [(name, each.child_by_field_name("value")) for each in parameters for name in _names(each)]
    names = [name for name, _ in named]
    return _Helper(
        names[1:] if names[:1] and names[0] in _OWN else names, {n: v for n, v in named if v and _is_record(v)}
    )


def _is_record(value: Node) -> bool:
    return value.end_byte - value.start_byte < _MOST_NODES and _DIGITS.fullmatch(value.text or b"") is not None


def _parameters(function: Node) -> list[Node]:
    """Return a function's parameters; those of C stand in its declarator."""
    node: Node | None = function
    while node is not None:
        if (found := node.child_by_field_name("parameters")) is not None:
            return found.named_children[:_MOST]
        if (alone := node.child_by_field_name("parameter")) is not None:
            return [alone]
        node = node.child_by_field_name("declarator")
    return []


def _names(parameter: Node) -> list[bytes]:
    """Return the names of a parameter; in Go several may have one type."""
    if named := parameter.children_by_field_name("name"):
        return [each.text or b"" for each in named]
    node: Node | None = parameter
    for field_name in ("pattern", "declarator"):
        while node is not None and (inner := node.child_by_field_name(field_name)) is not None:
            node = inner
    while node is not None and node.type != "identifier":
        node = node.named_children[0] if node.named_child_count else None
    return [node.text or b""] if node is not None else []


def _name(function: Node) -> bytes:
    """Return the name of a function, or that which a function without one is given."""
    node = function if function.child_by_field_name("body") is None or _has_name(function) else function.parent
    for _ in range(_MOST_DEEP):
        if node is None:
            return b""
        found = node.child_by_field_name("name") or node.child_by_field_name("left")
        if found is not None:
            return found.text or b""
        inner = node.child_by_field_name("declarator")
        if inner is None and node.type == "expression_list":
            inner = node.parent
        if inner is not None and inner.type == "identifier":
            return inner.text or b""
        node = inner
    return b""


def _has_name(function: Node) -> bool:
    return any(function.child_by_field_name(name) is not None for name in ("name", "declarator"))


def _called(call: Node) -> bytes:
    function = call.child_by_field_name("function")
    words = list(_words_in_order(function)) if function is not None else []
    return words[-1] if words else b""


def _words(node: Node) -> set[bytes]:
    return set(_words_in_order(node))


def _words_in_order(node: Node) -> Iterator[bytes]:
    nodes = (each for each in (node, *islice(below(node), _MOST_NODES)) if "identifier" in each.type)
    return (each.text or b"" for each in nodes)
