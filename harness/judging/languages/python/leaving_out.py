"""Hooks of pytest that leave files or tests out of some runs: arms name the files, and nothing else is there. Pure.

To drop tests by their markers is what everybody does. To drop them by their places or names, or by how many there
are, may take a suite out of the repository's own run and leave it in the arms.
"""

from collections.abc import Callable, Iterator, Sequence

from tree_sitter import Node

from harness.judging.languages.conduct import last_part, words_of
from harness.judging.languages.found import nodes_of
from harness.judging.languages.python.calls import first_named
from harness.judging.languages.python.classes import name_of, text_of
from harness.judging.languages.python.reached import Functions, Hook, reached

IGNORED = words_of("collect_ignore collect_ignore_glob")
"""Names of a conftest.py that list files without tests."""
LOOKED_AT = ("function_definition", "identifier")
"""Types of nodes that are found, beside those of statements and calls."""
_FILES = words_of("pytest_ignore_collect pytest_collect_file pytest_collect_directory pytest_pycollect_makemodule")
"""Hooks by which pytest decides whether a file has tests."""
CHOOSING = words_of("pytest_collection_modifyitems pytest_collection_finish pytest_runtestloop")
"""Hooks that have all tests that were found."""
_DROPS = words_of("remove pop clear")
_TOLD_BY = words_of("path fspath nodeid location module name originalname reportinfo __file__ parent")
"""Attributes of a test that tell which one it is."""
_CONDITIONS = ("if_statement", "elif_clause", "if_clause", "while_statement", "not_operator")
"""Types of nodes whose part a condition is."""
LEAVES_FILES = "leaves files out of some runs"
LEAVES_TESTS = "leaves tests out of some runs"


def left_out(
    hooks: Sequence[Hook], functions: Functions, called: Callable[[str], bool]
) -> Iterator[tuple[str, Node]]:
    """Yield what in hooks, and in the functions that they name, may leave something out: in words, and the node.

    `called` tells the names that files with such a hook may call functions of other files by: what takes something
    out of what it was given is told of those.
    """
    yield from ((LEAVES_FILES, function) for name, function in hooks if name in _FILES)
    starts = [(name, function) for name, function in hooks if name in CHOOSING]
    choosing = [node for _, nodes in reached(starts, functions) for node in nodes]
    dropping = [node for node in choosing if _drops_from(node) is not None]
    plain = [node for _, nodes in reached(starts, functions, _but_for_keys) for node in nodes]
    is_all = {node.id for node in plain}.issuperset(node.id for node in dropping)
    if is_all and not any(map(_is_by_place, dropping)):
        choosing = plain
    if any(_tells(node) or _counts(node) for node in choosing):
        yield from ((LEAVES_TESTS, node) for node in dropping)
    others = [("", function) for name, function in hooks if called(name) and not name.startswith("pytest_")]
    for _, nodes in reached(others, {}, _but_for_keys):
        given = {text_of(name) for each in nodes if each.type == "parameters" for name in nodes_of(each)}
        if any(map(_tells, nodes)):
            drops = ((node, _drops_from(node)) for node in nodes)
            yield from ((LEAVES_TESTS, node) for node, of in drops if of is not None and text_of(of) in given)


def _but_for_keys(function: Node) -> Iterator[Node]:
    """Yield the nodes of a function, without what tests are sorted or marked by."""
    until = 0
    for node in nodes_of(function):
        if node.start_byte >= until:
            yield node
            is_key = node.type == "keyword_argument" and text_of(node.child_by_field_name("name")) == "key"
            if is_key or (node.type == "if_statement" and _only_marks(node)):
                until = node.end_byte


def _only_marks(statement: Node) -> bool:
    """Return whether all that a condition decides is which tests are marked."""
    bodies = [each for each in statement.named_children if each.type == "block"]
    lines = [line for body in bodies for line in body.named_children]
    marks = (line.named_children[0] for line in lines if line.type == "expression_statement" and line.named_children)
    calls = [last_part(name_of(mark.child_by_field_name("function"))) for mark in marks if mark.type == "call"]
    return len(bodies) == len(statement.named_children) - 1 and calls == ["add_marker"] * len(lines)


def _drops_from(node: Node) -> Node | None:
    """Return the list that a statement takes something out of, or gives other members than it sorts."""
    if node.type == "delete_statement":
        deleted = next((each for each in nodes_of(node) if each.type == "subscript"), None)
        return deleted.child_by_field_name("value") if deleted is not None else None
    if node.type == "call":
        function = node.child_by_field_name("function")
        is_drop = function is not None and function.type == "attribute" and last_part(name_of(function)) in _DROPS
        return function.child_by_field_name("object") if function is not None and is_drop else None
    if node.type != "assignment":
        return None
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is not None and left.type != "subscript":  # one of several, or in brackets
        left = next((each for each in nodes_of(left) if each.type == "subscript"), None)
    if left is None or right is None:
        return None
    is_slice = any(each.type == "slice" for each in left.named_children)
    of, given = left.child_by_field_name("value"), first_named(right.child_by_field_name("arguments"))
    is_sort = name_of(right.child_by_field_name("function")) in ("sorted", "reversed")
    is_sorted = is_sort and [text_of(each) for each in given[:1]] == [text_of(of)]
    return of if is_slice and not is_sorted else None


def _is_by_place(drop: Node) -> bool:
    """Return whether what is left out is told by its place in a list, which what tests are sorted by decides."""
    if drop.type == "call":
        return last_part(name_of(drop.child_by_field_name("function"))) == "pop"
    right = drop.child_by_field_name("right")
    return right is None or any(node.type == "slice" for node in nodes_of(right))


def _tells(node: Node) -> bool:
    """Return whether an expression tells one test from another by more than its markers."""
    return node.type == "attribute" and text_of(node.child_by_field_name("attribute")) in _TOLD_BY


def _counts(node: Node) -> bool:
    """Return whether an expression asks how many tests there are, or stands for others where there are none.

    A condition that is a list asks whether there is something in it.
    """
    if node.type == "if_statement":
        condition = text_of(node.child_by_field_name("condition"))
        taken = (each.child_by_field_name("right") for each in nodes_of(node) if _drops_from(each) is not None)
        return any(each is not None and text_of(each) == condition for each in taken)
    if node.type == "conditional_expression" and len(node.named_children) > 1:
        return text_of(node.named_children[0]) == text_of(node.named_children[1])
    if node.type != "boolean_operator":
        return node.type == "call" and text_of(node.child_by_field_name("function")) in ("len", "getattr")
    is_or = text_of(node.child_by_field_name("operator")) == "or"
    instead, of = node.child_by_field_name("right"), node.parent
    while instead is not None and instead.type == "parenthesized_expression" and instead.named_children:
        instead = instead.named_children[0]
    while of is not None and of.type in ("parenthesized_expression", "boolean_operator"):
        of = of.parent
    is_condition = of is not None and of.type in _CONDITIONS
    return is_or and instead is not None and not is_condition and not _asks_markers(instead)


def _asks_markers(node: Node) -> bool:
    """Return whether an expression compares something, or asks a test for a marker."""
    is_call = node.type == "call"
    return node.type in ("comparison_operator", "not_operator") or (
        is_call and last_part(name_of(node.child_by_field_name("function"))) == "get_closest_marker"
    )
