"""Functions that a file makes tests of while it is loaded, by the lines on which they begin. Pure."""

from collections.abc import Collection

from tree_sitter import Node

from harness.judging.languages.found import TestFunction, every_node
from harness.judging.languages.python import discovery
from harness.judging.languages.python.classes import GRAMMAR, with_short_comments
from harness.judging.languages.read_as_tests import read_as_tests

_NAME = "test_testwright_made_{}"
_KINDS = frozenset({"decorated_definition", "function_definition", "lambda"})


def functions_at(source: bytes, path: str, lines: Collection[int]) -> dict[int, TestFunction]:
    """Return the functions and lambdas that begin on these lines, decorators included: of several the outermost.

    See `Collecting.functions_at`.
    """
    nodes: dict[int, Node] = {}
    for node in every_node(GRAMMAR, with_short_comments(source)):
        if node.type in _KINDS and node.start_point[0] + 1 in lines and _function(node) is not None:
            nodes.setdefault(node.start_point[0] + 1, node)
    return read_as_tests(source, path, nodes, _NAME, _copy, discovery.discover)


def _function(node: Node) -> Node | None:
    """Return the function of a node, behind its decorators; None for a class."""
    inner = node.child_by_field_name("definition") if node.type == "decorated_definition" else node
    return inner if inner is not None and inner.type != "class_definition" else None


def _copy(source: bytes, node: Node, name: str) -> bytes:
    """Return a function once more under this name, as it would stand behind its file."""
    text, function = source[node.start_byte : node.end_byte], _function(node)
    called = function.child_by_field_name("name") if function else None
    if called is None:
        return b"\n\ndef %s():\n    return (%s)\n" % (name.encode(), text)
    indent = source[source.rfind(b"\n", 0, node.start_byte) + 1 : node.start_byte]
    first, last = called.start_byte - node.start_byte, called.end_byte - node.start_byte
    renamed = text[:first] + name.encode() + text[last:]
    return (b"\n\nif 1:\n" if indent else b"\n\n") + indent + renamed + b"\n"
