"""Mutation operators: small changes of code, made on the syntax tree, that a good test should notice.

Names of operators are those of Stryker and its reports, so that results can be read beside those of other tools.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, Protocol

from tree_sitter import Node

from harness.judging.languages.found import text_of
from harness.judging.languages.functions import below


class Operator(StrEnum):
    """Mutation operators, the same in all languages."""

    CONDITION = "ConditionalExpression"
    """A condition negated, or a loop that never runs."""
    BOUNDARY = "ConditionalBoundary"
    """`<` to `<=` and so on. Stryker counts these among EqualityOperator."""
    EQUALITY = "EqualityOperator"
    ARITHMETIC = "ArithmeticOperator"
    LOGICAL = "LogicalOperator"
    UNARY = "UnaryOperator"
    UPDATE = "UpdateOperator"
    CONSTANT = "NumericLiteral"
    STRING = "StringLiteral"
    BOOLEAN = "BooleanLiteral"
    RETURN = "ReturnValue"
    CALL = "CallRemoval"
    ERROR_PATH = "ErrorPath"
    """Code that handles or reports an error is left out."""


class Mutation(NamedTuple):
    """One change of one text: the bytes from `start` to `end` become `replacement`."""

    operator: Operator
    start: int
    end: int
    replacement: bytes
    description: str

    def of(self, text: bytes) -> bytes:
        """Return the text with the change."""
        return text[: self.start] + self.replacement + text[self.end :]

    def identity(self, path: str, text: bytes) -> str:
        """Return the same for the same change of the same text in the same file, whatever else is mutated."""
        parts = (path, self.operator.value, str(self.start), str(self.end))
        whole = "\0".join(parts).encode() + b"\0" + text[self.start : self.end] + b"\0" + self.replacement
        return hashlib.sha256(whole).hexdigest()[:10]


class MutationOperators(Protocol):
    """A language's mutation operators. Pure."""

    def mutations(self, source: bytes, path: str) -> list[Mutation]:
        """Return every mutation of a text, in its order; no two give the same text."""
        ...

    def is_same_code(self, one: bytes, other: bytes) -> bool:
        """Return whether two texts are certainly the same code, told without the image.

        Returns:
            False where that can't be told.
        """
        ...


Rule = Callable[[Node], Iterable[Mutation]]
"""The mutations that begin at a node."""

BOUNDARIES = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
EQUALITIES = {"==": "!=", "!=": "==", "===": "!==", "!==": "===", "in": "not in", "not in": "in", "is": "is not",
              "is not": "is"}  # fmt: skip
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "//": "*", "%": "*", "<<": ">>", ">>": "<<", "&": "|",
              "|": "&", "^": "&", "**": "*"}  # fmt: skip
LOGICAL = {"&&": "||", "||": "&&", "and": "or", "or": "and", "??": "&&"}
UPDATES = {"++": "--", "--": "++", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "%=": "*=", "<<=": ">>=",
           ">>=": "<<=", "&=": "|=", "|=": "&=", "^=": "&=", "//=": "*="}  # fmt: skip
_TABLES = (
    (Operator.BOUNDARY, BOUNDARIES), (Operator.EQUALITY, EQUALITIES), (Operator.ARITHMETIC, ARITHMETIC),
    (Operator.LOGICAL, LOGICAL), (Operator.UPDATE, UPDATES),
)  # fmt: skip


@dataclass(frozen=True)
class Rules:
    """A language's rules. `of` are by the type of the node, `left_alone` are nodes that nothing below is mutated of.

    `operated` are nodes with operators among their children, `strings` whether `+` at a node may join strings.
    """

    operated: frozenset[str]
    of: Mapping[str, Sequence[Rule]]
    left_alone: Callable[[Node], bool]
    joins_strings: Callable[[Node], bool]
    skipped: frozenset[str] = field(default_factory=frozenset)


def mutations_of(rules: Rules, root: Node, source: bytes) -> list[Mutation]:
    """Return every mutation, in the order of the text; of several that give one text the first."""
    found: dict[tuple[int, int, bytes], Mutation] = {}
    for node in _looked_at(rules, root):
        for mutation in _at(rules, node):
            if source[mutation.start : mutation.end] != mutation.replacement:
                found.setdefault((mutation.start, mutation.end, mutation.replacement), mutation)
    return sorted(found.values(), key=lambda each: (each.start, each.end, each.operator, each.replacement))


def _looked_at(rules: Rules, root: Node) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if rules.left_alone(node):
            continue
        yield node
        waiting += reversed(node.children)


def _at(rules: Rules, node: Node) -> Iterator[Mutation]:
    if node.type in rules.operated:
        for child in node.children:
            if not child.is_named or child.type in ("is not", "not in"):
                yield from _swapped(rules, node, child)
    for rule in rules.of.get(node.type, ()):
        yield from rule(node)


def _swapped(rules: Rules, node: Node, operator: Node) -> Iterator[Mutation]:
    old = " ".join(text_of(operator).split())
    for kind, table in _TABLES:
        if old not in table:
            continue
        if old in ("+", "+=") and rules.joins_strings(node):
            continue
        yield changed(kind, operator, table[old], f"{old} becomes {table[old]}")


def changed(operator: Operator, node: Node, new: str, description: str) -> Mutation:
    """Return a node as other text."""
    return Mutation(operator, node.start_byte, node.end_byte, new.encode(), description)


def shown(node: Node | None, most: int = 40) -> str:
    """Return a node's text in one short line."""
    line = " ".join(text_of(node).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def number_changed(node: Node) -> Iterator[Mutation]:
    """Yield a whole number becomes the next one."""
    text = text_of(node)
    if text.isdigit() and (text == "0" or not text.startswith("0")):
        new = str(int(text) + 1)
        yield changed(Operator.CONSTANT, node, new, f"{text} becomes {new}")


def text_replaced(pairs: Mapping[str, str], operator: Operator = Operator.BOOLEAN) -> Rule:
    """Return a node whose whole text is a key becomes its value."""

    def rule(node: Node) -> Iterator[Mutation]:
        new = pairs.get(text_of(node))
        if new is not None:
            yield changed(operator, node, new, f"{text_of(node)} becomes {new}")

    return rule


def condition_negated(negate: Callable[[str], str], field_name: str = "condition") -> Rule:
    """Return the condition of a statement or a choice. One that is negated already is left to the rule of `not`."""

    def rule(node: Node) -> Iterator[Mutation]:
        condition = node.child_by_field_name(field_name)
        is_negated = condition is not None and text_of(condition).startswith(("!", "not "))
        if condition is not None and not is_negated:
            inner = text_of(condition)
            yield changed(Operator.CONDITION, condition, negate(inner), f"({shown(condition)}) is negated")

    return rule


def without_parentheses(condition: Node) -> Node:
    """Return a condition's node inside of its parentheses."""
    return condition.named_children[0] if condition.type == "parenthesized_expression" else condition


def negated_by_a_sign(node: Node) -> Iterator[Mutation]:
    """Yield the condition of an `if` or a choice, in languages that negate with `!`."""
    condition = node.child_by_field_name("condition")
    if condition is not None and not text_of(without_parentheses(condition)).startswith("!"):
        inner = without_parentheses(condition)
        yield changed(Operator.CONDITION, inner, f"!({text_of(inner)})", f"({shown(inner)}) is negated")


def unary_left_out(node: Node) -> Iterator[Mutation]:
    """Yield a sign of one operand, in languages that have `!`, `-` and `~`."""
    argument = node.child_by_field_name("argument")
    if argument is not None and node.children[0].type in ("!", "-", "~"):
        sign = node.children[0].type
        new = f"!!({text_of(argument)})" if sign == "!" else f"({text_of(argument)})"
        yield changed(Operator.UNARY, node, new, f"{sign} is left out of {shown(node)}")


def dropped(operator: Operator, new: str, what: str) -> Rule:
    """Return a whole statement."""

    def rule(node: Node) -> Iterator[Mutation]:
        yield changed(operator, node, new, f"{what} {shown(node)} is left out")

    return rule


def within(node: Node, types: frozenset[str]) -> Node | None:
    """Return the nearest node around one that has one of these types."""
    above = node.parent
    while above is not None and above.type not in types:
        above = above.parent
    return above


def has_string(node: Node, types: frozenset[str]) -> bool:
    """Return whether an operand of a sum is a string."""
    return any(child.type in types or any(each.type in types for each in below(child) if child.type == node.type)
               for child in node.children)  # fmt: skip
