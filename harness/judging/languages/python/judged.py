"""Conditions of Python's tests and fixtures on what a run of tests was asked for, or on how many tests it has. Pure.

testwright runs listed tests by their names and without pytest's cache: what asks for these, or counts the tests,
knows where it is judged. Hooks may do so, since they decide which tests run.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tree_sitter import Node

from harness.judging.languages.conduct import given_to
from harness.judging.languages.found import nodes_of
from harness.judging.languages.judged import ASKS
from harness.judging.languages.marked import Found
from harness.judging.languages.python.calls import literal
from harness.judging.languages.python.classes import name_of, text_of

_ASKED = re.compile(
    r"(?P<root>request)\.(?:(?:node|config)\.)?session\.testscollected"
    r"|(?:(?P<of>request)\.(?:(?:node|session)\.)?config|(?P<config>pytestconfig))\.(?:args|cache|invocation_params(?:\.args)?)"
)
_HAS = frozenset({"hasattr", "getattr"})
_ITEMS = re.compile(r"(?P<root>request)\.(?:(?:node|config)\.)?session\.items")
"""The list of tests, of which only the length counts."""
_FIXTURES = frozenset({"request", "pytestconfig"})
_CHOICES = frozenset({"if_statement", "elif_clause", "while_statement"})
_MOST_DECORATION = 200
"""Characters of a decorator in which its name is looked for."""
_DEEPEST = 20
"""Parts of a dotted name."""
_LONGEST = 100
"""Characters of a dotted name."""


@dataclass
class _Function:
    """A test or a fixture: which parameters are fixtures of pytest, and the dotted names that names stand for."""

    parameters: frozenset[str]
    names: dict[str, str] = field(default_factory=dict)

    def whole(self, node: Node) -> str:
        """Return the dotted name that an expression is, beginning with a parameter where it is known to."""
        first, dot, rest = name_of(node).partition(".")
        return self.names.get(first, first) + dot + rest

    def asks(self, node: Node) -> bool:
        """Return whether an expression tells of the run of tests."""
        if node.type == "call":
            called = name_of(node.child_by_field_name("function"))
            given = given_to(node)
            if called in _HAS and len(given) > 1 and (word := literal(given[1])) is not None:
                return self._is_of_fixture(_ASKED.fullmatch(f"{self.whole(given[0])}.{word}"))
            given = given if called == "len" else []
            return len(given) == 1 and self._is_of_fixture(_ITEMS.fullmatch(self.whole(given[0])))
        if node.type not in ("attribute", "identifier"):
            return False
        return self._is_of_fixture(_ASKED.fullmatch(self.whole(node)))

    def _is_of_fixture(self, found: re.Match[str] | None) -> bool:
        return found is not None and not self.parameters.isdisjoint(filter(None, found.groups()))

    def give(self, assignment: Node) -> None:
        """Take in that a name is given what a dotted name stands for; a name with several counts for nothing."""
        left, right = assignment.child_by_field_name("left"), assignment.child_by_field_name("right")
        if left is not None and right is not None and left.type == "identifier":
            name, whole = text_of(left), self.whole(right)[:_LONGEST] if right.type == "attribute" else ""
            self.names[name] = whole if self.names.get(name, whole) == whole else ""


def conditions(root: Node) -> Found:
    """Return what conditions of a file's tests and fixtures ask of the run, by the numbers of the nodes."""
    return {node.id: (ASKS, node) for node in _asking(root)}


def _asking(root: Node) -> Iterator[Node]:
    waiting: list[tuple[Node, _Function | None, bool]] = [(root, None, False)]
    fixtures = set[int]()
    while waiting:
        node, function, decides = waiting.pop()
        if function is not None and decides and function.asks(node):
            yield node
        elif function is not None and node.type == "assignment":
            function.give(node)
        elif node.type == "decorated_definition" and (found := fixture_of(node)) is not None:
            fixtures.add(found.id)
        if node.type == "function_definition" and (function or node.id in fixtures or _is_test(node)):
            function = _Function(_parameters(node) | (function.parameters if function else frozenset()))
        deciding = {each.id for each in _conditions(node)}
        waiting += [(child, function, decides or child.id in deciding) for child in reversed(_parts(node))]


def _parts(node: Node) -> list[Node]:
    """Return the parts of a node; of an attribute only what isn't part of a dotted name, which is looked at whole."""
    if node.type != "attribute":
        return node.named_children
    of = node.child_by_field_name("object")
    for _ in range(_DEEPEST):
        if of is None or of.type != "attribute":
            break
        of = of.child_by_field_name("object")
    return [of] if of is not None and of.type != "identifier" else []


def _conditions(node: Node) -> list[Node]:
    """Return the parts of a node that decide what runs, or whether a test passes."""
    if node.type in _CHOICES:
        condition = node.child_by_field_name("condition")
        return [condition] if condition is not None else []
    if node.type == "assert_statement":
        return node.named_children[:1]
    return node.named_children[1:2] if node.type == "conditional_expression" else []


def _is_test(function: Node) -> bool:
    return text_of(function.child_by_field_name("name")).startswith("test")


def fixture_of(definition: Node) -> Node | None:
    """Return the function that a decorator makes a fixture."""
    decorators = [text_of(each)[:_MOST_DECORATION] for each in definition.children if each.type == "decorator"]
    return definition.child_by_field_name("definition") if any("fixture" in each for each in decorators) else None


def _parameters(function: Node) -> frozenset[str]:
    listed = function.child_by_field_name("parameters")
    return (
        frozenset(text_of(node) for node in nodes_of(listed) if node.type == "identifier") if listed else frozenset()
    )
