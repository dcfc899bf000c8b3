"""Bodies of two variants in one function, of which one runs: what either of them has stands in both.

Which one it is, a condition decides about a variable whose value nobody changes. Whoever looks for lines, words or
shapes finds those of the code and those of the removal in every arm, and has to work out conditions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from tree_sitter import Node

from harness.languages.functions import Edit, Function, Grammar, apply, below, functions_of
from harness.languages.predicates import Hidden, plain_condition


@dataclass(frozen=True)
class Lending:
    """How a body is kept in another function. `hidden` declares a variable, by `{name}` and `{value}`.

    `refused` are types of nodes whose meaning reaches beyond the block that they stand in.
    """

    hidden: str
    refused: frozenset[str] = frozenset()


def with_inert_bodies(
    grammar: Grammar,
    lending: Lending,
    plain: tuple[bytes, bytes],
    written: tuple[bytes, bytes],
    names: Sequence[str],
    chance: Random,
) -> bytes:
    """The first of two written texts, its functions of these names with the second's bodies in them.

    `plain` are the two as they were: nothing is lent between texts that differ outside their functions too.
    """
    text, other = written
    if _around(grammar, plain[0]) != _around(grammar, plain[1]):
        return text
    mine, theirs = functions_of(grammar, text), functions_of(grammar, other)
    pairs = [(mine[name], theirs[name]) for name in names if name in mine and name in theirs]
    return apply(text, [_edit(lending, *pair, chance) for pair in pairs if _may_lend(lending, *pair)])


def _around(grammar: Grammar, text: bytes) -> bytes:
    """A text without the bodies of its functions."""
    bodies: Mapping[str, Function] = functions_of(grammar, text)
    cut: list[Edit] = [(each.body.start_byte, each.body.end_byte, b"") for each in bodies.values()]
    return b"".join(apply(text, cut).split())


def _may_lend(lending: Lending, own: Function, other: Function) -> bool:
    is_block = all((each.body.text or b"").startswith(b"{") for each in (own, other))
    if not is_block or own.head.split() != other.head.split():
        return False
    if any(is_directive(each.body.named_children[0]) for each in (own, other) if each.body.named_children):
        return False
    nodes = [node for each in (own, other) for node in below(each.body)]
    return not any(node.is_error or node.is_missing or node.type in lending.refused for node in nodes)


def _edit(lending: Lending, own: Function, other: Function, chance: Random) -> Edit:
    hidden = Hidden.drawn(f"tw{chance.getrandbits(32):08x}", chance)
    first_runs = chance.random() < 0.5
    blocks = [own.body.text or b"", other.body.text or b""]
    first, second = blocks if first_runs else reversed(blocks)
    test = plain_condition(hidden, chance, first_runs).encode()
    declared = lending.hidden.format(name=hidden.name, value=hidden.value).encode()
    body = b"{\n" + declared + b"\nif (" + test + b") " + first + b" else " + second + b"\n}"
    return own.body.start_byte, own.body.end_byte, body


def is_directive(statement: Node) -> bool:
    """Whether it is a text alone, as `"use strict"` is, which must come first."""
    return statement.type == "expression_statement" and [node.type for node in statement.named_children] == ["string"]
