"""Ways to make a number of any answer: Python's `hash`, seeded chance and xored sums; rests of its bytes. Pure.

A hash, or a number that is drawn, counts where it is compared with a recorded number itself, and not by what else it
leads to: honest tests draw inputs by seeds, and put things into tables by their hash.
"""

import re
from collections.abc import Collection, Sequence
from itertools import islice
from typing import NamedTuple

from tree_sitter import Node

from harness.judging.languages.conduct import callee
from harness.judging.languages.functions import below

_SEEDED = frozenset({"random.Random", "Random"})
_SOURCES = frozenset({"NewSource", "NewPCG"})
"""Functions that make what Go draws by chance from."""
_DRAWS = frozenset(
    {"random", "getrandbits", "randrange", "randint", "randbytes", "uniform"}
    | {"Int", "Intn", "Int31", "Int31n", "Int63", "Int63n", "Uint32", "Uint64", "Float64"}
)
_AROUND = frozenset(
    {"hex", "oct", "bin", "str", "repr", "int", "abs", "round", "format"} | {"int32", "int64", "uint32", "uint64"}
)
"""Functions that give a number another form."""
_WIDE = frozenset({"from_bytes", "BigInt", "SetBytes", "SetString"})
"""Functions that make one number of many bytes, or of a long text."""
_RESTS = frozenset({"Mod", "Rem"})
"""Methods of Go's large numbers that leave a rest."""
_MOST_DIGITS = 100
_ROUND = re.compile(rb"10+n?")
_MODULUS, _REST = (
    re.compile(rb"[1-9][0-9_]+n?|0[xX][0-9a-fA-F]{2,}n?"),
    re.compile(rb"[1-9][0-9_]+n?|0[xX][0-9a-fA-F]+n?"),
)
_PASSED_ON = {"subscript": "value", "binary_operator": "left"}
_CALLS = frozenset({"call", "call_expression"})
_LITERALS = frozenset(
    {
        "string",
        "int_literal",
        "integer",
        "float",
        "true",
        "false",
        "none",
        "number",
        "interpreted_string_literal",
        "raw_string_literal",
    }
)
_NUMBER = re.compile(rb"-?[0-9.]")
_SUMS = frozenset({"sum", "fsum"})
_PLACES = frozenset({"enumerate", "ord", "count"})
"""Functions that number the parts of something."""
_MOST_NODES, _MOST_NAMES = 200, 20
"""The most nodes of a value that are looked at."""


def folds_sums(given: Sequence[Node]) -> bool:
    """Return whether a function that folds is given sums, and xor to fold them by."""
    if not given:
        return False
    function, *data = given
    named = (function.text or b"").rpartition(b".")[2]
    is_xor = named == b"xor" or (function.type == "lambda" and is_xored(function))
    return is_xor and any(map(has_sum, data))


def sums_by_place(call: Node) -> bool:
    """Return whether parts of an answer are summed by their places: `sum(i * ord(c) for i, c in enumerate(text))`."""
    if _last(call) not in _SUMS:
        return False
    nodes = list(islice(below(call), _MOST_NODES))
    is_product = any(_operator_of(node) in ("*", "/", "**", "<<") or node.text == b"operator.mul" for node in nodes)
    return is_product and any(_last(node) in _PLACES for node in nodes)


def _operator_of(node: Node) -> str:
    operator = node.child_by_field_name("operator")
    return operator.type if operator is not None and len(node.named_children) > 1 else ""


def is_xored(value: Node) -> bool:
    """Return whether a value is made by xor."""
    operators = (node.child_by_field_name("operator") for node in (value, *islice(below(value), _MOST_NODES)))
    return any(operator is not None and operator.type == "^" for operator in operators)


def has_sum(value: Node) -> bool:
    """Return whether Python's `sum` is in a value, called or handed on."""
    nodes = (value, *islice(below(value), _MOST_NODES))
    return any(node.type == "identifier" and node.text == b"sum" for node in nodes)


class _Facts(NamedTuple):
    """The parts of a value: whether it leaves a rest, whether it makes a wide number of an answer, its names."""

    divides: bool
    is_wide: bool
    names: tuple[bytes, ...]


def _facts(value: Node) -> _Facts:
    nodes = [value, *islice(below(value), _MOST_NODES)]
    names = tuple(islice((node.text or b"" for node in nodes if node.type == "identifier"), _MOST_NAMES))
    wide = any((_last(node) in _WIDE and _is_given_an_answer(node)) or _reads_digits(node) for node in nodes)
    return _Facts(any(map(_divides, nodes)), wide, names)


class Numbers:
    """The numbers of answers in one file, by the names that are given them."""

    def __init__(self) -> None:
        self._values: dict[bytes, Node | None] = {}
        self._facts: dict[bytes, _Facts] = {}
        self._leaves_rests = self._is_seeded = False

    def hear(self, call: Node) -> None:
        """Take a call in."""
        self._leaves_rests |= _last(call) in _RESTS
        self._is_seeded |= callee(call) in ("random.seed", "rand.Seed") and _is_given_more_than_a_literal(call)

    def give(self, names: Collection[bytes], value: Node | None) -> None:
        """Take in that names are given a value; a name with several counts for nothing."""
        single = next(iter(names)) if len(names) == 1 else None
        if single is not None and value is not None:
            self._facts[single] = _facts(value)
        for name in names:
            self._values[name] = value if name == single and name not in self._values else None

    def are_compared(self, side: Node, other: Node) -> bool:
        """Return whether one side of a comparison is the number of an answer, and the other may be a recorded one."""
        is_number = other.type == "identifier" or _NUMBER.match(other.text or b"") is not None
        return (is_number and self._is_number(_bare(side))) or (self._is_recorded_rest(other) and self._is_rest(side))

    def _is_recorded_rest(self, node: Node) -> bool:
        """Return whether a number of two digits or more is written down: smaller ones are check digits, too."""
        value = self._values.get(node.text or b"") if node.type == "identifier" else node
        given = _given(value) if value is not None and value.type in _CALLS else []
        text = (given[0] if len(given) == 1 else value).text if value is not None else None
        return _REST.fullmatch(text or b"") is not None

    def _is_rest(self, side: Node) -> bool:
        """Return whether a value is the rest of a division of a wide number by something else than a round one."""
        found = _facts(side)
        near = [self._facts[name] for name in found.names if name in self._facts]
        far = [self._facts[name] for facts in near for name in facts.names if name in self._facts]
        is_rest = self._leaves_rests or any(facts.divides for facts in (found, *near))
        return is_rest and any(facts.is_wide for facts in (found, *near, *far))

    def _is_number(self, node: Node, names: int = _MOST_NAMES) -> bool:
        if node.type == "identifier":
            value = self._values.get(node.text or b"")
            is_more = value is not None and value.type != "identifier" and names > 0
            return value is not None and is_more and self._is_number(_bare(value), names - 1)
        if node.type not in _CALLS:
            return False
        if callee(node) == "hash":
            return _is_given_more_than_a_literal(node)
        function = node.child_by_field_name("function")
        drawn = _field(function, "attribute") or _field(function, "field")
        of = _field(function, "object") or _field(function, "operand")
        if drawn is None or of is None or (drawn.text or b"").decode() not in _DRAWS:
            return False
        if of.text in (b"random", b"rand") and self._is_seeded:
            return True
        made = self._values.get(of.text or b"") if of.type == "identifier" else of
        return made is not None and _is_seeded(_bare(made))


def _is_seeded(made: Node) -> bool:
    """Return whether a source of chance is made of more than a literal."""
    if _last(made) == "New" and (given := _given(made)):
        source = given[0]
        return _last(source) in _SOURCES and any(each.type not in _LITERALS for each in _given(source))
    return made.type == "call" and callee(made) in _SEEDED and _is_given_more_than_a_literal(made)


def called_name(function: Node | None) -> str:
    """Return the last name of what a call calls."""
    fields = ("attribute", "property", "field")
    last = next((part for name in fields if (part := _field(function, name)) is not None), function)
    is_short = last is not None and last.end_byte - last.start_byte < _MOST_NODES
    return (last.text or b"").decode(errors="replace") if last is not None and is_short else ""


def _last(node: Node) -> str:
    """Return the last name of what a call calls; empty where a node is none."""
    return called_name(node.child_by_field_name("function")) if node.type in _CALLS else ""


def _reads_digits(node: Node) -> bool:
    """Return whether a text is read as a number of another base: `int(text, 16)`."""
    given = _given(node) if _last(node) == "int" else []
    return len(given) > 1 and given[0].type not in _LITERALS


def _divides(node: Node) -> bool:
    """Return whether a rest is left by a number that is neither a power of two nor one of ten."""
    operator, modulus = node.child_by_field_name("operator"), node.child_by_field_name("right")
    text = (modulus.text or b"") if modulus is not None and operator is not None and operator.type == "%" else b""
    if not _MODULUS.fullmatch(text) or _ROUND.fullmatch(text):
        return False
    try:
        number = int(text.rstrip(b"n"), 0)
    except ValueError:  # more digits than Python reads, or a slip (`10_`)
        return len(text) > _MOST_DIGITS
    return bool(number & (number - 1))


def _is_given_an_answer(call: Node) -> bool:
    return any(given.type not in _LITERALS for given in _given(call)[:1])


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
        elif node.type in ("parenthesized_expression", "expression_list") and node.named_child_count == 1:
            inner = node.named_children[0]
        elif node.type in _CALLS and callee(node) in _AROUND:
            inner = next(iter(_given(node)), None)
        if inner is None:
            return node
        node = inner
