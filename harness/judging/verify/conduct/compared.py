"""Comparisons in a suite's text, also those that a helper makes of what it is given. Pure.

A helper is a function or a macro of the same text that compares a parameter with another one, or a function that
compares one with digits of its own: by words it only tells kinds of things apart. A call of it compares what it is
given in their places. Takes time linear to the text.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from tree_sitter import Node

from harness.judging.verify.conduct.assignments import names_given
from harness.judging.verify.conduct.rolling import words_below

_CALLS = frozenset({"call", "call_expression"})
_COMPARES = frozenset({"comparison_operator", "binary_expression"})
_EQUAL = frozenset({"==", "!=", "===", "!=="})
_CHECKS = re.compile(
    rb"(assert\w*|\w*equals?|expect|tobe|toequal|tostrictequal|strcmp|memcmp|strncmp|compare"
    rb"|cmp|compare_?digest|__eq__|__ne__|eq|ne|is_?close|localecompare|zip)",
    re.I,
)
"""Functions that compare what they are given, or pair it: a recorded text that a digest decodes is one as well."""
_PAIRS = re.compile(rb"zip", re.I)
"""Functions that only pair what they are given."""
_FUNCTIONS = frozenset(
    {"function_definition", "function_declaration", "method_definition", "method_declaration", "lambda"}
    | {"arrow_function", "function_expression", "func_literal"}
)
_AROUND = frozenset({"expression_list", "parenthesized_expression"})
_MACRO = "preproc_function_def"
_OF_MACROS = re.compile(rb"\b(\w+)\b[)\s]*[!=]=[(\s]*\b(\w+)\b|\b\w*cmp\w*\s*\([(\s]*(\w+)[)\s]*,[(\s]*(\w+)\b")
"""Two words that a macro's text compares."""
_DIGITS = re.compile(rb"b?[\"'`]?(0[xX])?(?=[a-fA-F]*[0-9])[0-9a-fA-F]{4,64}[uUlLn]*[\"'`]?")
_OWN = frozenset({b"self", b"cls"})
"""The first parameter of methods in Python, which calls don't give."""
_OBJECTS = ("object", "operand", "value", "argument", "function")
"""Fields of what a part, a member or a method is taken of."""
_FORMS = re.compile(
    rb"(str|repr|int|float|bytes|hex|list|tuple|sorted|expect|String|Number|BigInt|string|u?int(8|16|32|64)?"
    rb"|(fmt\.)?Sprint|strconv\.\w+)"
)
"""Functions that give a value another form."""
_MOST_CHARS, _MOST_OF_A_MACRO, _MOST_DEEP, _MOST_ROUNDS = 80, 1_000, 20, 3
_MOST_SIDES, _MOST_GIVEN, _MOST_PAIRS, _MOST_CALLS, _MOST_OF_A_NAME = 8, 20, 10, 20, 3
_MOST_HANDED = 10_000
"""Comparisons of one text that helpers make: no honest one has so many."""


@dataclass(eq=False)
class _Helper:
    """A function or a macro, and its pairs of a parameter with another one or with digits of its own."""

    parameters: list[bytes]
    defaults: dict[bytes, Node]
    pairs: dict[tuple[bytes, bytes], Node | None] = field(default_factory=dict)
    """A parameter with another one, or with the text of digits, which is then the value."""
    calls: list[Node] = field(default_factory=list)
    """Calls in it that may be of other helpers."""
    other_names: dict[bytes, bytes] = field(default_factory=dict)
    """Names that it gives its parameters."""

    def note(self, one: Node, other: Node) -> bool:
        """Note that it compares two values; return whether that is news."""
        before = len(self.pairs)
        if before >= _MOST_PAIRS:
            return False
        left, right = self.parameter(one), self.parameter(other)
        if left and right and left != right:
            self.pairs.setdefault((left, right), None)
        elif left and not right and is_digits(other):
            self.pairs.setdefault((left, other.text or b""), other)
        elif right and not left and is_digits(one):
            self.pairs.setdefault((right, one.text or b""), one)
        return len(self.pairs) > before

    def parameter(self, side: Node) -> bytes | None:
        """Return the parameter that a value is, a part of one, or another form of it."""
        node: Node | None = side
        for _ in range(_MOST_DEEP):
            if node is None:
                return None
            if node.type == "identifier":
                name = self.other_names.get(node.text or b"", node.text or b"")
                return name if name in self.parameters else None
            node = part_of(node)
        return None

    def sides(self, given: Sequence[Node]) -> Iterator[list[Node]]:
        """Yield what it compares of what it is given."""
        bound = dict(self.defaults)
        places = iter(self.parameters)
        for each in given:
            if each.type == "keyword_argument":
                named, value = each.child_by_field_name("name"), each.child_by_field_name("value")
                bound |= {named.text or b"": value} if named is not None and value is not None else {}
            elif (place := next(places, None)) is not None:
                bound[place] = each
        for (name, other), digits in [*self.pairs.items()]:
            second = bound.get(other) if digits is None else digits
            if (first := bound.get(name)) is not None and second is not None:
                yield [first, second]


class Comparisons:
    """All comparisons of one text, and its helpers."""

    def __init__(self, root: Node) -> None:
        self._helpers: dict[bytes, list[_Helper]] = {}
        self._left = _MOST_HANDED
        learning: list[_Helper] = []
        waiting: list[tuple[Node, Node | None, tuple[_Helper, ...]]] = [(root, None, ())]
        while waiting:
            node, parent, around = waiting.pop()
            if node.type in _FUNCTIONS or node.type == _MACRO:
                helper, same = _helper(node), self._helpers.setdefault(_name(node, parent), [])
                if len(same) < _MOST_OF_A_NAME:
                    same.append(helper)
                    learning.append(helper)
                around = (*around, helper)[-_MOST_DEEP:]
            elif around:
                _note(node, around)
            above = parent if node.type in _AROUND else node
            waiting += [(child, above, around) for child in reversed(node.named_children)]
        for _ in range(_MOST_ROUNDS):
            news = [self._learn(helper) for helper in learning if helper.calls]
            if True not in news:
                break
        self._left = _MOST_HANDED

    def of(self, node: Node) -> Iterator[list[Node]]:
        """Yield the values that a node compares with one another, each time two or more."""
        sides = _compared(node)
        if len(sides) > 1:
            yield sides
        elif node.type in _CALLS:
            yield from self._by_helpers(node)

    def _by_helpers(self, call: Node) -> Iterator[list[Node]]:
        helpers = [helper for helper in self._helpers.get(_called(call), ()) if helper.pairs]
        given = _arguments(call) if helpers and self._left > 0 else []
        for helper in helpers:
            for sides in helper.sides(given):
                self._left -= 1
                yield sides

    def _learn(self, helper: _Helper) -> bool:
        """Note what helpers that a helper calls compare for it; return whether that is news."""
        news = [helper.note(one, other) for call in helper.calls for one, other in self._by_helpers(call)]
        return True in news


def _note(node: Node, around: tuple[_Helper, ...]) -> None:
    """Take a node of some functions in, the outermost first."""
    sides = _compared(node)
    is_pairing = bool(sides) and node.type in _CALLS and _PAIRS.fullmatch(_called(node)) is not None
    given = names_given(node)
    for helper in around:
        if len(sides) > 1 and not is_pairing:
            for one, other in combinations(sides, 2):
                helper.note(one, other)
        elif node.type in _CALLS and len(helper.calls) < _MOST_CALLS:
            helper.calls.append(node)
        elif given and len(helper.other_names) < _MOST_GIVEN and (parameter := helper.parameter(given[1])):
            helper.other_names[given[0].text or b""] = parameter


def _compared(node: Node) -> list[Node]:
    """Return the sides of a comparison, or what a call that checks something is given; with it what `expect` is."""
    if node.type in _COMPARES:
        if not any(child.type in _EQUAL for child in node.children):
            return []
        return [node.named_children[0], node.named_children[-1]] if node.named_child_count > 1 else []
    if node.type not in _CALLS:
        return []
    called, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    names = [*words_below(called)] if called is not None else []
    if given is None or not names or not any(map(_CHECKS.fullmatch, (names[0], names[-1]))):
        return []
    before = called.named_children[:1] if called is not None and called.named_child_count > 1 else []
    return [*before, *given.named_children[:_MOST_SIDES]]


def _helper(node: Node) -> _Helper:
    parameters = _parameters(node)
    if node.type == _MACRO:
        names, value = [each.text or b"" for each in parameters], node.child_by_field_name("value")
        found = _OF_MACROS.findall((value.text or b"")[:_MOST_OF_A_MACRO]) if value is not None else []
        pairs = [(a or c, b or d) for a, b, c, d in found if {a or c, b or d} <= set(names)]
        return _Helper(names, {}, dict.fromkeys(pairs[:_MOST_PAIRS]))
    named = [(name, each.child_by_field_name("value")) for each in parameters for name in _names(each)]
    names = [name for name, _ in named]
    defaults = {name: value for name, value in named if value is not None and is_digits(value)}
    return _Helper(names[1:] if names[:1] and names[0] in _OWN else names, defaults)


def is_digits(value: Node) -> bool:
    """Return whether a value is written down in digits that may be a digest's."""
    return value.end_byte - value.start_byte <= _MOST_CHARS and _DIGITS.fullmatch(value.text or b"") is not None


def part_of(node: Node) -> Node | None:
    """Return the value that another one is a part or another form of; None where it is none."""
    if node.type in _CALLS:
        function = node.child_by_field_name("function")
        is_short = function is not None and function.end_byte - function.start_byte <= _MOST_CHARS
        if function is not None and is_short and _FORMS.fullmatch(function.text or b""):
            return next(iter(_arguments(node)), None)
        return function if function is not None and function.type != "identifier" else None
    inner = (found for name in _OBJECTS if (found := node.child_by_field_name(name)) is not None)
    alone = node.named_children[0] if node.named_child_count == 1 else None
    return next(inner, alone)


def _arguments(call: Node) -> list[Node]:
    """Return the first arguments of a call."""
    arguments = call.child_by_field_name("arguments")
    given = arguments.named_children[:_MOST_GIVEN] if arguments is not None else []
    return [each for each in given if each.type != "comment"]


def _parameters(function: Node) -> list[Node]:
    """Return a function's parameters; those of C stand in its declarator."""
    node: Node | None = function
    while node is not None:
        if (found := node.child_by_field_name("parameters")) is not None:
            return found.named_children[:_MOST_GIVEN]
        if (alone := node.child_by_field_name("parameter")) is not None:
            return [alone]
        node = node.child_by_field_name("declarator")
    return []


def _names(parameter: Node) -> list[bytes]:
    """Return the names of a parameter; in Go several may have one type."""
    if named := parameter.children_by_field_name("name"):
        return [each.text or b"" for each in named[:_MOST_GIVEN]]
    node: Node | None = parameter
    for name in ("pattern", "declarator"):
        while node is not None and (inner := node.child_by_field_name(name)) is not None:
            node = inner
    while node is not None and node.type != "identifier":
        node = node.named_children[0] if node.named_child_count else None
    return [node.text or b""] if node is not None else []


def _name(function: Node, parent: Node | None) -> bytes:
    """Return the name of a function, or that which a function without one is given."""
    has_name = any(function.child_by_field_name(name) is not None for name in ("name", "declarator"))
    node: Node | None = function if has_name else parent
    for _ in range(_MOST_DEEP):
        if node is None:
            return b""
        found = node.child_by_field_name("name") or node.child_by_field_name("left")
        if found is not None:
            return found.text or b""
        if node.type == "identifier":
            return node.text or b""
        node = node.child_by_field_name("declarator")
    return b""


def _called(call: Node) -> bytes:
    function = call.child_by_field_name("function")
    words = [*words_below(function)] if function is not None else []
    return words[-1] if words else b""
