"""Acts of a Go test file on its package, by what runs before any test or changes the code of the package. Pure."""

from collections.abc import Collection, Iterator

import tree_sitter_go
from tree_sitter import Language, Node, Query, QueryCursor

from harness.judging.languages.conduct import words_of
from harness.judging.languages.found import text_of
from harness.judging.languages.go.means import PREDECLARED

_RUNS = frozenset(
    {
        "call_expression", "index_expression", "slice_expression", "type_assertion_expression",
        "type_conversion_expression",
    }
)  # fmt: skip
_HARMLESS = frozenset({"errors.New", "regexp.MustCompile", "time.Duration"})
_LITERALS = frozenset({"interpreted_string_literal", "raw_string_literal", "int_literal"})
_TYPES = frozenset({"map_type", "slice_type", "channel_type", "int_literal"})
_OF_PACKAGE = Query(
    Language(tree_sitter_go.language()),
    """
    (source_file [
        (function_declaration name: (identifier) @name)
        (const_declaration (const_spec name: (identifier) @name))
        (var_declaration [(var_spec name: (identifier) @name) (var_spec_list (var_spec name: (identifier) @name))])
        (type_declaration [(type_spec name: (type_identifier) @name) (type_alias name: (type_identifier) @name)])
        (method_declaration) @method
    ])
    (source_file (method_declaration receiver: (parameter_list (parameter_declaration type: [
        (type_identifier) @of
        (pointer_type (type_identifier) @of)
        (generic_type type: (type_identifier) @of)
        (pointer_type (generic_type type: (type_identifier) @of))
    ]))))
    """,
)
"""Names that a file gives to a package, and the types that its methods are of."""
_PREDECLARED = PREDECLARED | words_of("any clear comparable max min print println")


def acts_on_package(root: Node, known: Collection[str]) -> bool:
    """Return whether a file's variables run something, or its declarations change what the package's code means.

    `known` are the names of Go's own packages that the file imports.
    """
    return _runs_at_start(root, known) or _changes_meanings(root)


def _changes_meanings(root: Node) -> bool:
    """Return whether a file gives a predeclared name another meaning, or a method to a type that isn't its own."""
    found = QueryCursor(_OF_PACKAGE).captures(root)
    declared = {text_of(node) for node in found.get("name", ())}
    own = sum(text_of(node) in declared for node in found.get("of", ()))
    return not declared.isdisjoint(_PREDECLARED) or own < len(found.get("method", ()))


def _runs_at_start(root: Node, known: Collection[str]) -> bool:
    """Return whether the value of a package's variable is more than text: a call, or what may panic."""
    declarations = [node for node in root.children if node.type == "var_declaration"]
    return any(_may_end(node, known) for declaration in declarations for node in _outside_functions(declaration))


def _outside_functions(node: Node) -> Iterator[Node]:
    """Yield the nodes below one that aren't in the text of a function."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        if node.type != "func_literal":
            waiting += node.named_children


def _may_end(node: Node, known: Collection[str]) -> bool:
    """Return whether a part of a value runs what isn't known to be harmless. `known` are Go's own packages here.

    The name of a builtin may be another function's.
    """
    if node.type not in _RUNS:
        return False
    called = node.child_by_field_name("function")
    if node.type == "call_expression" and text_of(called) in ("make", "new"):
        spared = _TYPES
    elif node.type == "type_conversion_expression":
        spared = _LITERALS
    elif node.type == "call_expression" and text_of(called) in _HARMLESS:
        spared = _LITERALS if text_of(called).partition(".")[0] in known else frozenset[str]()
    else:
        return True
    arguments = node.child_by_field_name("arguments" if called else "operand")
    given = arguments.named_children if called and arguments else [arguments]
    return not all(each is not None and each.type in spared for each in given)
