"""Loops that make a digest: they multiply a variable and add data to it, look both up, or add sums. Pure."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice

from tree_sitter import Node

from harness.judging.languages.functions import below
from harness.judging.verify.conduct.numbers_of_answers import has_sum, is_xored

_PRODUCTS, _SUMS = frozenset({"*", "/", "**", "<<", ">>"}), frozenset({"+", "-", "^", "|"})
_CALLS = frozenset({"call", "call_expression"})
_MULTIPLY = re.compile(rb"(Math\.imul|Math\.pow|math\.pow|pow)\b")
_OF_PRODUCTS = frozenset({b"Math", b"math", b"imul", b"pow"})
_MOST_NODES = 200


@dataclass
class Rolling:
    """The changes that a loop makes to a name."""

    multiplied: bool = False
    fed: bool = False


def rolls(
    node: Node, value: Node, names: frozenset[bytes], loop: dict[bytes, Rolling], plain: Collection[bytes]
) -> bool:
    """Return whether a loop has both multiplied a name and added data to it, now that it has read this as well."""
    operator = own_operator(node)
    is_own = operator.removesuffix("=") in _PRODUCTS | _SUMS
    done = False
    for name in names:
        words = {*words_below(value)} - _OF_PRODUCTS
        if not is_own and name not in words:
            continue
        state = loop.setdefault(name, Rolling())
        state.multiplied |= operator.removesuffix("=") in _PRODUCTS or multiplies(value, name)
        is_summed = is_own or sums_up(value)
        sums = is_summed and any(other in loop and loop[other].fed for other in words - {name})
        state.fed |= bool(words - {name} - {*plain}) and is_summed
        if _looks_up(value, name, plain):
            state.multiplied = state.fed = True
        xors = operator == "^=" or is_xored(value)
        done |= sums or (state.multiplied and state.fed) or (xors and has_sum(value))
    return done


def _looks_up(value: Node, name: bytes, plain: Collection[bytes]) -> bool:
    """Return whether a value is what a table has for a name xored with data, as check sums by table are made."""
    for node in (value, *islice(below(value), _MOST_NODES)):
        index = node.child_by_field_name("subscript") or node.child_by_field_name("index")
        words = {*words_below(index)} if index is not None and is_xored(index) else set[bytes]()
        if name in words and words - {name} - {*plain}:
            return True
    return False


def own_operator(node: Node) -> str:
    """Return the operator by which a statement gives a value: `+=`, `:=`; empty for a plain `=`."""
    return next((child.type for child in node.children if child.type.endswith("=") and len(child.type) > 1), "")


def multiplies(value: Node, name: bytes) -> bool:
    """Return whether a name is multiplied in a value."""
    nodes = [value, *islice(below(value), _MOST_NODES)]
    products = [node for node in nodes if operator_of(node) in _PRODUCTS]
    calls = [node for node in nodes if node.type in _CALLS and _MULTIPLY.match(node.text or b"")]
    return any(name in words_below(side) for node in (*products, *calls) for side in node.named_children)


def sums_up(value: Node) -> bool:
    """Return whether anything is added in a value."""
    return any(operator_of(node) in _SUMS for node in (value, *islice(below(value), _MOST_NODES)))


def operator_of(node: Node) -> str:
    """Return the operator of an expression that has two sides."""
    operator = node.child_by_field_name("operator")
    return operator.type if operator is not None and len(node.named_children) > 1 else ""


def words_below(node: Node) -> Iterator[bytes]:
    """Yield the names below a node, in their order; the first ones of a large one."""
    nodes = (each for each in (node, *islice(below(node), _MOST_NODES)) if "identifier" in each.type)
    return (each.text or b"" for each in nodes)
