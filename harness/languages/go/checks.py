"""What asserts in Go: the testing package, testify and similar packages, and functions that get a `*testing.T`."""

import re
from collections.abc import Iterable
from functools import lru_cache

import tree_sitter_go
from tree_sitter import Language, Node, Query, QueryCursor

from harness.languages.assertions import WORDS, Part, look, sounding
from harness.languages.found import text_of

_GRAMMAR = Language(tree_sitter_go.language())
_TESTING = re.compile(r"\*?(\w+\.)?(T|B|F|TB|C|TestingT)")
_REPORTS = '"Error" "Errorf" "Fail" "FailNow" "Fatal" "Fatalf"'
_LIBRARY = re.compile(r"(^|/)(assert|require)$")
_PRINTING = frozenset(
    {"bufio", "bytes", "errors", "fmt", "io", "log", "log/slog", "os", "reflect", "strings", "time"}
)
_SOUNDS = sounding(*WORDS)
_USUAL = 200
"""Bytes of all names for which a query is remembered."""
_DECLARATIONS = Query(
    _GRAMMAR,
    """
    (parameter_declaration name: (identifier) @name type: [(pointer_type) (qualified_type) (type_identifier)] @type)
    (field_declaration name: (field_identifier) @name type: [(pointer_type) (qualified_type)] @type)
    (range_clause left: (expression_list (identifier) @other))
    """,
)


class GoChecks:
    """Reads the functions of one file. A loop may give the name of a `*testing.T` to something else."""

    def __init__(self, root: Node, imports: Iterable[tuple[str, str, str]]) -> None:
        self._testing, others = _declared(root)
        known = {name: path for name, path, _ in imports}
        libraries = frozenset(name for name, path in known.items() if _LIBRARY.search(path))
        printing = frozenset(name for name, path in known.items() if path in _PRINTING)
        self._plain = _query(self._testing, self._testing, libraries, printing)
        self._shadowed = _query(self._testing, self._testing - others, libraries, printing)

    def part(self, function: Node) -> Part:
        _, others = _declared(function)
        return look(self._shadowed if others & self._testing else self._plain, function)


def _declared(node: Node) -> tuple[frozenset[str], frozenset[str]]:
    """Names of what can fail a test, and names that loops give to other things."""
    testing, others = {"t"}, set[str]()
    for _, found in QueryCursor(_DECLARATIONS).matches(node):
        if "type" in found and _TESTING.fullmatch(text_of(found["type"][0])):
            testing |= {text_of(name) for name in found["name"]}
        others |= {text_of(name) for name in found.get("other", ())}
    return frozenset(testing), frozenset(others)


def _query(
    testing: frozenset[str], handed: frozenset[str], libraries: frozenset[str], printing: frozenset[str]
) -> Query:
    """Remembered for the names that files usually have: hostile text must not fill the memory."""
    usual = sum(len(name) for name in testing | libraries | printing) < _USUAL
    return (_remembered if usual else _made)(testing, handed, libraries, printing)


def _made(
    testing: frozenset[str], handed: frozenset[str], libraries: frozenset[str], printing: frozenset[str]
) -> Query:
    """`testing` are names that may stand for a `*testing.T`, `handed` those of them that stand for nothing else.

    `printing` are packages whose functions never fail a test that is handed to them.
    """
    return Query(
        _GRAMMAR,
        f"""
        ((call_expression function: (selector_expression operand: (identifier) @t field: (field_identifier) @check))
            @_ (#any-of? @t {_listed(testing)}) (#any-of? @check {_REPORTS}))
        ((call_expression function: (selector_expression
            operand: (selector_expression field: (field_identifier) @t) field: (field_identifier) @check))
            @_ (#any-of? @t {_listed(testing)}) (#any-of? @check {_REPORTS}))
        ((call_expression function: (selector_expression
            operand: (call_expression function: (selector_expression field: (field_identifier) @t))
            field: (field_identifier) @check)) @_ (#any-of? @t "T" "Require"))
        ((call_expression function: (selector_expression operand: (identifier) @of field: (field_identifier) @check))
            @_ (#any-of? @of {_listed(libraries)}))
        ((call_expression function: (identifier) @check) @_ (#eq? @check "panic"))
        ((call_expression function: (identifier) @call arguments: (argument_list (identifier) @t))
            @_ (#any-of? @t {_listed(handed)}))
        ((call_expression function: (selector_expression operand: (_) @of field: (field_identifier) @method)
            arguments: (argument_list (identifier) @t)) @_ (#any-of? @t {_listed(handed)})
            (#not-any-of? @of {_listed(printing)}))
        ((call_expression function: (identifier) @call) @_ (#match? @call "{_SOUNDS}"))
        ((call_expression function: (selector_expression field: (field_identifier) @method))
            @_ (#match? @method "{_SOUNDS}"))
        (identifier) @name
        (selector_expression field: (field_identifier) @member) @_
        (short_var_declaration left: (expression_list (identifier) @local) right: (expression_list (func_literal)))
        (var_spec name: (identifier) @local value: (expression_list (func_literal)))
        (assignment_statement left: (expression_list (identifier) @local) right: (expression_list (func_literal)))
        """,
    )


_remembered = lru_cache(maxsize=32)(_made)


def _listed(names: frozenset[str]) -> str:
    return " ".join(f'"{name}"' for name in sorted(names)) or '""'
