"""Fixtures that note a failure against a test, which then runs all the same: pytest's subtests. Pure.

The report has such a failure as one of the test's own. A fixture that hands `subtests` on does nothing itself.
"""

from collections.abc import Iterator

from tree_sitter import Node

from harness.judging.languages.found import nodes_of
from harness.judging.languages.marked import Found
from harness.judging.languages.python.calls import literal
from harness.judging.languages.python.classes import name_of, text_of
from harness.judging.languages.python.judged import fixture_of

NOTES = "has a fixture fail in a test's stead"
_SUBTESTS = "subtests"
_HANDS_ON = frozenset({"return_statement", "yield"})


def noted_failures(root: Node) -> Found:
    """Return what notes failures in fixtures, by the numbers of the nodes: identifiers and calls."""
    return {node.id: (NOTES, node) for node in _noting(root)}


def _noting(root: Node) -> Iterator[Node]:
    fixtures = set[int]()
    waiting = [(root, False)]
    while waiting:
        node, is_within = waiting.pop()
        if node.type == "decorated_definition":
            if (fixture := fixture_of(node)) is not None:
                fixtures.add(fixture.id)
        elif node.type == "function_definition":
            is_within |= node.id in fixtures
        elif node.type == "parameters":
            continue
        elif node.type == "identifier" and is_within and text_of(node) == _SUBTESTS:
            if node.parent is not None and node.parent.type not in _HANDS_ON:
                yield node
        elif node.type == "call" and _asks_for_subtests(node):
            yield node
        waiting += [(child, is_within) for child in reversed(node.children)]


def _asks_for_subtests(call: Node) -> bool:
    """Return whether a call asks for the fixture by its name, as no test needs to."""
    given = call.child_by_field_name("arguments")
    if given is None or name_of(call.child_by_field_name("function")).rpartition(".")[2] != "getfixturevalue":
        return False
    return any(node.type == "string" and literal(node) == _SUBTESTS for node in nodes_of(given))
