"""Which calls of TypeScript register tests, and under what name."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from harness.languages.found import text_of

FUNCTIONS = frozenset({"arrow_function", "function_expression", "function_declaration"})
_TESTS = frozenset({"test", "it", "fit", "xit", "xtest"})
_SUITES = frozenset({"describe", "suite", "fdescribe", "xdescribe"})
_HOOKS = frozenset({"beforeEach", "afterEach", "beforeAll", "afterAll", "before", "after"})
_MODIFIERS = frozenset({"only", "skip", "todo", "fails", "failing", "concurrent", "sequential", "shuffle"})
_TABLES = frozenset({"each", "for", "skipIf", "runIf"})
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}


def aliases(root: Node) -> dict[str, bool]:
    """Names of functions that register, and whether suites: the usual ones, and what a file makes of them."""
    known = {**dict.fromkeys(_TESTS, False), **dict.fromkeys(_SUITES, True)}
    for statement in root.named_children:
        for node in _below(statement, {"import_specifier", "variable_declarator"}):
            new = node.child_by_field_name("alias" if node.type == "import_specifier" else "name")
            old = node.child_by_field_name("name" if node.type == "import_specifier" else "value")
            if new is not None and (name := _extended(old)) in known:
                known[text_of(new)] = known[name]
    return known


def _below(statement: Node, types: set[str]) -> Iterator[Node]:
    """The parts of an import or a declaration at the top of a file."""
    if statement.type in ("import_statement", "lexical_declaration", "variable_declaration", "export_statement"):
        waiting = [statement]
        while waiting:
            node = waiting.pop()
            if node.type in types:
                yield node
            elif node.type not in FUNCTIONS:
                waiting += reversed(node.named_children)


def _extended(node: Node | None) -> str:
    """`test` of `test` and of `test.extend(...)`."""
    if node is not None and node.type == "call_expression":
        function = node.child_by_field_name("function")
        extends = function is not None and text_of(function.child_by_field_name("property")) == "extend"
        node = function.child_by_field_name("object") if function is not None and extends else None
    return text_of(node) if node is not None and node.type == "identifier" else ""


def registering(node: Node, known: dict[str, bool]) -> bool | None:
    """Whether a call registers a suite (True) or a test (False); None for anything else."""
    function = node.child_by_field_name("function") if node.type == "call_expression" else None
    if function is None or argument(node) is None:
        return None
    allowed, table = _MODIFIERS, False
    while function.type in ("member_expression", "call_expression"):
        if function.type == "call_expression":
            inner = function.child_by_field_name("function")
            if table or inner is None or text_of(inner.child_by_field_name("property")) not in _TABLES:
                return None
            function, table = inner, True
            allowed = _MODIFIERS | _TABLES
        else:
            if text_of(function.child_by_field_name("property")) not in allowed:
                return None
            allowed, outer = _MODIFIERS, function.child_by_field_name("object")
            if outer is None:
                return None
            function = outer
    return known.get(text_of(function)) if function.type == "identifier" else None


def is_hook(node: Node) -> bool:
    """Whether a call registers what runs around tests."""
    function = node.child_by_field_name("function") if node.type == "call_expression" else None
    return function is not None and function.type == "identifier" and text_of(function) in _HOOKS


def argument(call: Node) -> Node | None:
    """A call's first argument."""
    arguments = call.child_by_field_name("arguments")
    if arguments is None or arguments.type != "arguments":
        return None
    return next((node for node in arguments.named_children if node.type != "comment"), None)


def template_of(node: Node | None) -> str:
    """A name's text; what is computed in it as in a template."""
    behind: list[str] = []
    while (
        node is not None and node.type == "binary_expression" and text_of(node.child_by_field_name("operator")) == "+"
    ):
        behind.append(template_of(node.child_by_field_name("right")))
        node = node.child_by_field_name("left")
    return _simple(node) + "".join(reversed(behind))


def _simple(node: Node | None) -> str:
    if node is None:
        return ""
    if node.type in ("string", "template_string"):
        return "".join(_piece(child) for child in node.named_children)
    return f"${{{text_of(node)}}}"


def _piece(node: Node) -> str:
    return _unescaped(text_of(node)) if node.type == "escape_sequence" else text_of(node)


def _unescaped(sequence: str) -> str:
    kind, rest = sequence[1:2], sequence[2:].strip("{}")
    if kind in ("u", "x") and re.fullmatch(r"[0-9a-fA-F]{1,6}", rest) and int(rest, 16) < 0x110000:
        return chr(int(rest, 16))
    return "" if kind in ("\n", "\r") else _ESCAPES.get(kind, kind)
