"""What asserts in C: calls that end a program with a status other than 0, and functions with similar names."""

import re
from collections.abc import Iterator

import tree_sitter_c
from tree_sitter import Language, Node, Query, QueryCursor

from harness.languages.assertions import WORDS, Part, look, sounding
from harness.languages.found import text_of

_GRAMMAR = Language(tree_sitter_c.language())
_SOUNDS = sounding(*WORDS, "must", "fail", "abort", before="_*(?:(?i:test|ck|cr|cu|mu|tap|g)_)?")
_ENDS = '"exit" "_exit" "_Exit" "quick_exit"'
_SUCCESS = '"0" "EXIT_SUCCESS"'
_QUERY = Query(
    _GRAMMAR,
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
    _GRAMMAR,
    f"""
    (return_statement (_)) @check
    ((return_statement [(number_literal) (identifier)] @status) @harmless @_ (#any-of? @status {_SUCCESS}))
    """,
)
_MACROS = Query(_GRAMMAR, "[(preproc_function_def) (preproc_def)] @macro")
_CALLED = re.compile(r"\b([A-Za-z_]\w*)\s*\(\s*(\w*)")
_ENDING = re.compile("(exit|_exit|_Exit|quick_exit)")
_NAME = re.compile(_SOUNDS)


def c_part(node: Node) -> Part:
    return look(_QUERY, node)


def returned_from(main: Node) -> Part:
    """A status of `main` other than 0."""
    return look(_RETURNS, main)


def macros(root: Node) -> Iterator[tuple[str, Node, Part]]:
    """The macros of a file, in order. Their bodies are text without a tree: no part of what stands around them."""
    captured = QueryCursor(_MACROS).captures(root).get("macro", [])  # in no order that is the same each time
    for node in sorted(captured, key=lambda node: node.start_byte):
        body = text_of(node.child_by_field_name("value"))
        found = [(match[1], match[2]) for match in _CALLED.finditer(body)]
        ends = [status for name, status in found if _ENDING.fullmatch(name) and status not in ("0", "EXIT_SUCCESS")]
        calls = tuple(name for name, _ in found if _NAME.search(name))
        names = frozenset(name for name, _ in found)
        part = Part(-1, -1, len(ends), calls, names)
        yield text_of(node.child_by_field_name("name")), node, part
