"""C test programs: every test_*.c is built into a program, and one program is one test."""

import re
from functools import cache
from pathlib import PurePosixPath

import tree_sitter_c
from tree_sitter import Language, Node

from harness.submission.discovery.found import TestFile, TestFunction, every_node, parser, text_of

FILE_RULE = "its name must be test_*.c, of letters, digits, _ and -"
_GRAMMAR = Language(tree_sitter_c.language())
_FILE = re.compile(r"test_[A-Za-z0-9_-]+\.c")
_NAMES = frozenset({"identifier", "type_identifier", "field_identifier", "statement_identifier"})
_ASSERTION = re.compile(r"(fail|assert|check|expect|verify|ck|cr|exit|abort)(_\w+)?", re.IGNORECASE)


def is_test_file(path: str) -> bool:
    return _FILE.fullmatch(PurePosixPath(path).name) is not None


def discover(source: bytes, path: str) -> TestFile:
    """The one test of a file that has any code: the program, with the file's whole text.

    Its functions are `others`: parts of the program, with no result of their own.
    """
    root = parser(_GRAMMAR).parse(source).root_node
    if not is_test_file(path) or all(node.type == "comment" for node in root.children):
        return TestFile(())
    lines = source.rstrip(b"\n").count(b"\n") + 1
    program = TestFunction(PurePosixPath(path).stem, 1, lines, source)
    return TestFile((program,), functions(source) - {program.name})


@cache
def functions(source: bytes) -> frozenset[str]:
    """Names of the functions that a text defines."""
    nodes = (node for node in every_node(_GRAMMAR, source) if node.type == "function_definition")
    return frozenset(_declared(node) for node in nodes)


@cache
def names(source: bytes) -> frozenset[str]:
    """Every identifier of a text, and what it includes, as written between the quotes or brackets."""
    nodes = list(every_node(_GRAMMAR, source))
    included = (text_of(node.child_by_field_name("path")) for node in nodes if node.type == "preproc_include")
    return frozenset(text_of(node) for node in nodes if node.type in _NAMES) | {path[1:-1] for path in included}


@cache
def calls(source: bytes) -> frozenset[str]:
    """What a text calls, function-like macros included: `strcmp`, `fail`, `table->get`."""
    return frozenset(_callees(source))


def assertions(source: bytes) -> int:
    """How many calls of a text look like checks by their name: `fail`, `assert`, `check_error`, `exit`."""
    return sum(_ASSERTION.fullmatch(name) is not None for name in _callees(source))


def reaches_folder(path: str, source: bytes) -> bool:  # noqa: ARG001
    """Programs include what they name; nothing acts on them unnamed."""
    return False


def _callees(source: bytes) -> list[str]:
    nodes = (node for node in every_node(_GRAMMAR, source) if node.type == "call_expression")
    return [text_of(node.child_by_field_name("function")) for node in nodes]


def _declared(definition: Node) -> str:
    """The name in a declarator, whatever pointers and parentheses stand around it."""
    node = definition.child_by_field_name("declarator")
    while node is not None and node.type != "identifier":
        inner = node.named_children[0] if node.type == "parenthesized_declarator" else None
        node = inner or node.child_by_field_name("declarator")
    return text_of(node)
