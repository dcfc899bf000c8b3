"""Calls of TypeScript that register tests, the names that they give, and assertions.

Assertions are those of vitest, jest, chai, node's own assert, ava and tap, and similar names.
"""

import re
from collections.abc import Iterator
from functools import cache

from tree_sitter import Language, Node, Query, QueryCursor

from harness.judging.languages.assertions import WORDS, Part, look, sounding
from harness.judging.languages.found import text_of
from harness.specs.whole_text import whole_text

FUNCTIONS = frozenset({"arrow_function", "function_expression", "function_declaration"})
_TESTS = frozenset({"test", "it", "fit", "xit", "xtest"})
_SUITES = frozenset({"describe", "suite", "fdescribe", "xdescribe"})
HOOKS = frozenset({"beforeEach", "afterEach", "beforeAll", "afterAll", "before", "after"})
_MODIFIERS = frozenset({"only", "skip", "todo", "fails", "failing", "concurrent", "sequential", "shuffle"})
_OF_PLAYWRIGHT = frozenset({"fixme", "fail", "parallel", "serial"})
"""Modifiers whose call registers something only where its first argument is a title: `test.fail()` marks a test."""
_TABLES = frozenset({"each", "for", "skipIf", "runIf"})
_RUNNERS = frozenset({"vitest", "@jest/globals", "@playwright/test", "bun:test", "node:test"})
"""Modules whose exports register tests."""
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}


def aliases(root: Node) -> dict[str, bool]:
    """Return names of functions that register, and whether suites: the usual ones, and what a file makes of them."""
    usual = {**dict.fromkeys(_TESTS, False), **dict.fromkeys(_SUITES, True)}
    known = dict(usual)
    for statement in root.named_children:
        for node in _below(statement, {"import_specifier", "variable_declarator", "namespace_import"}):
            if whole := _whole_runner(node):
                known |= {f"{whole}.{name}": is_suite for name, is_suite in usual.items()}
            new = node.child_by_field_name("alias" if node.type == "import_specifier" else "name")
            old = node.child_by_field_name("name" if node.type == "import_specifier" else "value")
            if new is not None and (name := _extended(old)) in known:
                known[text_of(new)] = known[name]
    return known


def _whole_runner(node: Node) -> str:
    """Return the name under which a file has all that a test runner exports: `v` of `import * as v from "vitest"`."""
    if node.type == "namespace_import":
        statement = node.parent.parent if node.parent is not None else None
        source = statement.child_by_field_name("source") if statement is not None else None
        name = next((child for child in node.named_children if child.type == "identifier"), None)
    else:
        call, name = node.child_by_field_name("value"), node.child_by_field_name("name")
        called = call.child_by_field_name("function") if call is not None else None
        source = argument(call) if call is not None and text_of(called) == "require" else None
    is_whole = name is not None and name.type == "identifier" and source is not None and source.type == "string"
    return text_of(name) if is_whole and _simple(source) in _RUNNERS else ""


def _below(statement: Node, types: set[str]) -> Iterator[Node]:
    """Yield the parts of an import or a declaration at the top of a file."""
    if statement.type in ("import_statement", "lexical_declaration", "variable_declaration", "export_statement"):
        waiting = [statement]
        while waiting:
            node = waiting.pop()
            if node.type in types:
                yield node
            elif node.type not in FUNCTIONS:
                waiting += reversed(node.named_children)


def _extended(node: Node | None) -> str:
    """Return `test` of `test` and of `test.extend(...)`; `v.test` of that."""
    if node is not None and node.type == "call_expression":
        function = node.child_by_field_name("function")
        extends = function is not None and text_of(function.child_by_field_name("property")) == "extend"
        node = function.child_by_field_name("object") if function is not None and extends else None
    if node is not None and node.type == "member_expression":
        return _member(node)
    return text_of(node) if node is not None and node.type == "identifier" else ""


def _member(node: Node) -> str:
    """Return the name of a plain name's member; empty for one of anything else."""
    of, name = node.child_by_field_name("object"), node.child_by_field_name("property")
    return f"{text_of(of)}.{text_of(name)}" if of is not None and of.type == "identifier" else ""


def registering(node: Node, known: dict[str, bool]) -> bool | None:
    """Return whether a call registers a suite (True) or a test (False); None for anything else.

    `it.todo` says that a test is to be written: it is none.
    """
    function = node.child_by_field_name("function") if node.type == "call_expression" else None
    if function is None or argument(node) is None:
        return None
    allowed, table, suite, is_to_come = _MODIFIERS, False, False, False
    while function.type in ("member_expression", "call_expression") and _member(function) not in known:
        if function.type == "call_expression":
            inner = function.child_by_field_name("function")
            if table or inner is None or text_of(inner.child_by_field_name("property")) not in _TABLES:
                return None
            function, table = inner, True
            allowed = _MODIFIERS | _TABLES
        else:
            name = text_of(function.child_by_field_name("property"))
            suite = suite or name == "describe"
            is_to_come = is_to_come or name == "todo"
            if not (name in allowed or name == "describe" or (name in _OF_PLAYWRIGHT and _is_title(argument(node)))):
                return None
            allowed, outer = _MODIFIERS, function.child_by_field_name("object")
            if outer is None:
                return None
            function = outer
    registers = known.get(text_of(function) if function.type == "identifier" else _member(function))
    if registers is None or (is_to_come and not (registers or suite)):
        return None
    return registers or suite


def test_to_come(node: Node, known: dict[str, bool]) -> Node | None:
    """Return the title of a test that is only announced (`it.todo`), where these names register tests and suites."""
    function = node.child_by_field_name("function") if node.type == "call_expression" else None
    if function is None or function.type != "member_expression":
        return None
    is_one = text_of(function.child_by_field_name("property")) == "todo"
    return argument(node) if is_one and text_of(function.child_by_field_name("object")) in known else None


def _is_title(node: Node | None) -> bool:
    return node is not None and node.type in ("string", "template_string", "binary_expression")


def is_hook(node: Node, known: dict[str, bool]) -> bool:
    """Return whether a call registers what runs around tests, where these names register tests and suites."""
    function = node.child_by_field_name("function") if node.type == "call_expression" else None
    if function is not None and function.type == "member_expression":
        of = text_of(function.child_by_field_name("object"))
        is_of_test = of in _TESTS or f"{of}.test" in known
        function = function.child_by_field_name("property") if is_of_test else None
    return function is not None and text_of(function) in HOOKS


def argument(call: Node) -> Node | None:
    """Return a call's first argument."""
    arguments = call.child_by_field_name("arguments")
    if arguments is None or arguments.type != "arguments":
        return None
    return next((node for node in arguments.named_children if node.type != "comment"), None)


def template_of(node: Node | None) -> str:
    """Return a name's text; what is computed in it as in a template."""
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
        return whole_text("".join(_piece(child) for child in node.named_children))
    return f"${{{text_of(node)}}}"


def _piece(node: Node) -> str:
    return _unescaped(text_of(node)) if node.type == "escape_sequence" else text_of(node)


def _unescaped(sequence: str) -> str:
    kind, rest = sequence[1:2], sequence[2:].strip("{}")
    if kind in ("u", "x") and re.fullmatch(r"[0-9a-fA-F]{1,6}", rest) and int(rest, 16) < 0x110000:
        return chr(int(rest, 16))
    return "" if kind in ("\n", "\r") else _ESCAPES.get(kind, kind)


_EXPECT = '"expect" "expectTypeOf"'
_SOUNDS = f"(?!^(?:expect|expectTypeOf)$)(?:{sounding(*WORDS, 'must', 'fail')})"
_OF_EXPECT = '"soft" "poll" "unreachable" "fail" "assertions" "hasAssertions"'
_OF_T = (
    "is not deepEqual notDeepEqual true false truthy falsy throws throwsAsync notThrows like regex snapshot fail"
    " assert ok notOk equal notEqual equals same notSame match error rejects resolves"
)
_CHECKS = f"""
    (throw_statement) @check
    ([(member_expression object: (call_expression function: (identifier) @check))
      (subscript_expression object: (call_expression function: (identifier) @check))] @_ (#any-of? @check {_EXPECT}))
    ((call_expression function: (member_expression object: (identifier) @of property: (property_identifier) @check))
        @_ (#eq? @of "expect") (#any-of? @check {_OF_EXPECT}))
    ((call_expression function: (member_expression object: (identifier) @of property: (property_identifier) @check))
        @_ (#eq? @of "assert"))
    ((call_expression function: (member_expression object: (member_expression object: (identifier) @of)
        property: (property_identifier) @check)) @_ (#eq? @of "assert"))
    ((call_expression function: (member_expression object: (member_expression property: (property_identifier) @of)
        property: (property_identifier) @check)) @_ (#eq? @of "assert"))
    ((call_expression function: (member_expression object: (identifier) @of property: (property_identifier) @check))
        @_ (#any-of? @of "t" "tap") (#any-of? @check {" ".join(f'"{name}"' for name in _OF_T.split())}))
    ((member_expression property: (property_identifier) @check) @_ (#eq? @check "should"))
    ((call_expression
        function: (member_expression object: (identifier) @of property: (property_identifier) @harmless))
        @_ (#eq? @of "console"))
    ((call_expression function: (identifier) @call)
        @_ (#match? @call "{_SOUNDS}"))
    ((call_expression function: (member_expression property: (property_identifier) @method))
        @_ (#match? @method "{sounding("assert", "expect")}"))
    [(identifier) (shorthand_property_identifier)] @name
    (member_expression property: (property_identifier) @member) @_
"""
_FUNCTIONS = """
    (function_declaration name: (identifier) @name) @function
    (variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression)]) @function
    (method_definition name: (property_identifier) @member) @function
    (pair key: (property_identifier) @member value: [(arrow_function) (function_expression)]) @function
"""


MAX_DEPTH = 8
"""The most functions within functions: deeper ones are read as part of those around them."""


@cache
def _queries(grammar: Language) -> tuple[Query, Query]:
    return Query(grammar, _CHECKS), Query(grammar, _FUNCTIONS)


def typescript_part(grammar: Language, node: Node) -> Part:
    """Read a node of TypeScript as a part that may assert."""
    return look(_queries(grammar)[0], node)


def functions(grammar: Language, root: Node) -> list[tuple[str, Node]]:
    """Return a file's functions that have a name, but for those deep within others; a method's begins with a dot."""
    named: list[tuple[str, Node]] = []
    around: list[int] = []
    matches = [found for _, found in QueryCursor(_queries(grammar)[1]).matches(root)]
    for found in sorted(matches, key=lambda found: found["function"][0].start_byte):
        node = found["function"][0]
        while around and around[-1] <= node.start_byte:
            around.pop()
        if len(around) < MAX_DEPTH:
            around.append(node.end_byte)
            member = "member" in found
            named.append(("." * member + text_of(found["member" if member else "name"][0]), node))
    return named
