"""Discovery of tests in C: every test_*.c is built into a program, and one program is one test.

Assertions are calls that end a program with a status other than 0, and functions with similar names.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

import tree_sitter_c
from tree_sitter import Language, Node, Query, QueryCursor

from harness.judging.languages.assertions import WORDS, Part, Tally, look, sounding
from harness.judging.languages.dotted_names import name_of
from harness.judging.languages.found import (
    FileQuota,
    HelperFunction,
    TestFile,
    TestFunction,
    every_node,
    parsed,
    text_of,
)

_CHECKS_GRAMMAR = Language(tree_sitter_c.language())
_SOUNDS = sounding(*WORDS, "must", "fail", "abort", before="_*(?:(?i:test|ck|cr|cu|mu|tap|g)_)?")
_ENDS = '"exit" "_exit" "_Exit" "quick_exit"'
_SUCCESS = '"0" "EXIT_SUCCESS"'
_QUERY = Query(
    _CHECKS_GRAMMAR,
    f"""
    ((call_expression function: (identifier) @check) @_ (#any-of? @check {_ENDS}))
    ((call_expression function: (identifier) @harmless
        arguments: (argument_list . [(number_literal) (identifier)] @status))
        @_ (#any-of? @harmless {_ENDS}) (#any-of? @status {_SUCCESS}))
    ((call_expression function: (identifier) @call) @_ (#match? @call "{_SOUNDS}"))
    ((call_expression function: (field_expression field: (field_identifier) @method))
        @_ (#match? @method "{_SOUNDS}"))
    (identifier) @name
    """,
)
_RETURNS = Query(
    _CHECKS_GRAMMAR,
    f"""
    (return_statement (_)) @check
    ((return_statement [(number_literal) (identifier)] @status) @harmless @_ (#any-of? @status {_SUCCESS}))
    """,
)
_MACROS = Query(_CHECKS_GRAMMAR, "[(preproc_function_def) (preproc_def)] @macro")
_CALLED = re.compile(r"\b([A-Za-z_]\w*)\s*\(\s*(\w*)")
_ENDING = re.compile("(exit|_exit|_Exit|quick_exit)")
_NAME = re.compile(_SOUNDS)


def c_part(node: Node) -> Part:
    """Read a node of C as a part that may assert."""
    return look(_QUERY, node)


def returned_from(main: Node) -> Part:
    """Return a status of `main` other than 0."""
    return look(_RETURNS, main)


def macros(root: Node) -> Iterator[tuple[str, Node, Part]]:
    """Yield the macros of a file, in order.

    Their bodies are text without a tree: no part of what stands around them.
    """
    captured = QueryCursor(_MACROS).captures(root).get("macro", [])  # in no order that is the same each time
    for node in sorted(captured, key=lambda node: node.start_byte):
        body = text_of(node.child_by_field_name("value"))
        found = [(match[1], match[2]) for match in _CALLED.finditer(body)]
        ends = [status for name, status in found if _ENDING.fullmatch(name) and status not in ("0", "EXIT_SUCCESS")]
        calls = tuple(name for name, _ in found if _NAME.search(name))
        names = frozenset(name for name, _ in found)
        part = Part(-1, -1, len(ends), calls, names)
        yield text_of(node.child_by_field_name("name")), node, part


FILE_RULE = "its name must be test_*.c, of letters, digits, _ and -"
_GRAMMAR = Language(tree_sitter_c.language())
_FILE = re.compile(r"test_[A-Za-z0-9_-]+\.c")
_NAMES = frozenset({"identifier", "type_identifier", "field_identifier", "statement_identifier"})


def is_test_file(path: str) -> bool:
    """Return whether a path is that of a C test program."""
    return _FILE.fullmatch(PurePosixPath(path).name) is not None


def discover(source: bytes, path: str) -> TestFile:
    """Return the one test of a file that has any code: the program, with the file's whole text.

    Its functions are `others`: parts of the program, with no result of their own.

    Raises:
        TooMuchToRead: The file is larger than anybody would write.
    """
    quota = FileQuota(path, source)
    root = parsed(_GRAMMAR, source)
    defined = {_declared(node): node for node in _definitions(root)}
    parts, helpers = _parts(root, defined)
    for helper in helpers:
        quota.take(helper.name)
    if not is_test_file(path) or all(node.type == "comment" for node in root.children):
        return TestFile((), helpers=helpers)
    lines = source.rstrip(b"\n").count(b"\n") + 1
    asserted = Tally().of(c_part(root), parts, [returned_from(defined["main"])] if "main" in defined else ())
    program = TestFunction(PurePosixPath(path).stem, 1, lines, source, assertions=asserted)
    return TestFile((program,), frozenset(defined) - {program.name}, helpers=helpers)


def _parts(root: Node, defined: Mapping[str, Node]) -> tuple[dict[str, list[Part]], tuple[HelperFunction, ...]]:
    """Return what functions and macros do, by their names, and where they are."""
    parts = {name: [c_part(node)] for name, node in defined.items()}
    found = [*macros(root)]
    parts |= {name: [part] for name, _, part in found}
    tally = Tally()
    named = [*defined.items(), *((name, node) for name, node, _ in found)]
    return parts, tuple(HelperFunction.at(node, name, tally.of(parts[name][0], parts)) for name, node in named)


def functions(source: bytes) -> frozenset[str]:
    """Return names of the functions that a text defines."""
    return frozenset(_declared(node) for node in _definitions(parsed(_GRAMMAR, source)))


def names(source: bytes) -> frozenset[str]:
    """Return every identifier of a text, and what it includes, as written between the quotes or brackets."""
    nodes = list(every_node(_GRAMMAR, source))
    included = (text_of(node.child_by_field_name("path")) for node in nodes if node.type == "preproc_include")
    return frozenset(text_of(node) for node in nodes if node.type in _NAMES) | {path[1:-1] for path in included}


def calls(source: bytes) -> frozenset[str]:
    """Return what a text calls, function-like macros included: `strcmp`, `fail`, `table->get`."""
    return frozenset(_callees(source))


def reaches_folder(path: str, source: bytes) -> bool:  # noqa: ARG001
    """Return False: programs include what they name; nothing acts on them unnamed."""
    return False


def _callees(source: bytes) -> list[str]:
    nodes = (node for node in every_node(_GRAMMAR, source) if node.type == "call_expression")
    return [name_of(node.child_by_field_name("function")) for node in nodes]


def _definitions(root: Node) -> Iterator[Node]:
    """Yield a file's functions, but for those within others."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type == "function_definition":
            yield node
        else:
            waiting += reversed(node.children)


def _declared(definition: Node) -> str:
    """Return the name in a declarator, whatever pointers and parentheses stand around it."""
    node = definition.child_by_field_name("declarator")
    while node is not None and node.type != "identifier":
        inner = node.named_children[0] if node.type == "parenthesized_declarator" else None
        node = inner or node.child_by_field_name("declarator")
    return text_of(node)
