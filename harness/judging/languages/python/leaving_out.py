"""Hooks of pytest that leave files or tests out of some runs: arms name the files, and nothing else is there. Pure.

To drop tests by their markers is what everybody does. To drop them by their places or names, or by how many there
are, may take a suite out of the repository's own run and leave it in the arms.
"""

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from harness.judging.languages.conduct import last_part, words_of
from harness.judging.languages.found import nodes_of
from harness.judging.languages.python.classes import name_of, text_of

Hook = tuple[str, Node]
"""A hook's name, and its function, or the assignment that gives it one."""
IGNORED = words_of("collect_ignore collect_ignore_glob")
"""Names of a conftest.py that list files without tests."""
LOOKED_AT = ("function_definition", "identifier")
"""Types of nodes that are found, beside those of statements and calls."""
_FILES = words_of("pytest_ignore_collect pytest_collect_file pytest_collect_directory pytest_pycollect_makemodule")
"""Hooks by which pytest decides whether a file has tests."""
_TESTS = "pytest_collection_modifyitems"
_DROPS = words_of("remove pop clear")
_TOLD_BY = words_of("path fspath nodeid location module name originalname reportinfo __file__ parent")
"""Attributes of a test that tell which one it is."""
LEAVES_FILES = "leaves files out of some runs"
LEAVES_TESTS = "leaves tests out of some runs"


def left_out(hooks: Sequence[Hook]) -> Iterator[tuple[str, Node]]:
    """Yield what in hooks may leave something out, in words, and the node that does."""
    for name, function in hooks:
        if name in _FILES:
            yield LEAVES_FILES, function
        elif name == _TESTS:
            nodes = list(nodes_of(function))
            if any(map(_tells, nodes)):
                yield from ((LEAVES_TESTS, node) for node in nodes if _drops(node))


def _drops(node: Node) -> bool:
    """Return whether a statement takes something out of a list, or gives the list other members than it sorts."""
    if node.type == "delete_statement":
        return any(each.type == "subscript" for each in nodes_of(node))
    if node.type == "call":
        function = node.child_by_field_name("function")
        return function is not None and function.type == "attribute" and last_part(name_of(function)) in _DROPS
    if node.type != "assignment":
        return False
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None or left.type != "subscript":
        return False
    is_slice = any(each.type == "slice" for each in left.named_children)
    return is_slice and name_of(right.child_by_field_name("function") or right) not in ("sorted", "reversed")


def _tells(node: Node) -> bool:
    """Return whether an expression tells one test from another by more than its markers, or how many there are."""
    if node.type == "attribute":
        return text_of(node.child_by_field_name("attribute")) in _TOLD_BY
    if node.type == "boolean_operator":
        return text_of(node.child_by_field_name("operator")) == "or"
    return node.type == "call" and text_of(node.child_by_field_name("function")) in ("len", "getattr")
