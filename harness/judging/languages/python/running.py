"""Builtins of Python that run text as code: where a file names them, and where it has something else of that name."""

from collections.abc import Iterable, Iterator

from tree_sitter import Node

from harness.judging.languages.python.classes import text_of

RUNNING = frozenset({"exec", "eval", "compile"})
_SCOPES = frozenset(
    {
        "function_definition",
        "lambda",
        "list_comprehension",
        "set_comprehension",
        "dictionary_comprehension",
        "generator_expression",
    }
)
_PATTERNS = frozenset(
    {
        "pattern_list",
        "tuple_pattern",
        "list_pattern",
        "list_splat_pattern",
        "dictionary_splat_pattern",
        "typed_parameter",
        "as_pattern_target",
    }
)
_TARGETS = {
    "assignment": "left",
    "for_statement": "left",
    "for_in_clause": "left",
    "named_expression": "name",
    "default_parameter": "name",
    "typed_default_parameter": "name",
    "function_definition": "name",
    "class_definition": "name",
    "keyword_argument": "name",
    "attribute": "attribute",
    "call": "function",
}
"""Where a name stands that is bound, not looked up; the last three are no matter of the name alone."""
_NO_BINDING = frozenset({"keyword_argument", "attribute", "call"})
_SAYS = frozenset({"dotted_name", "aliased_import", "global_statement", "nonlocal_statement", "delete_statement"})
_LISTS = frozenset({"expression_list", "tuple", "list", "parenthesized_expression"})
_FILE, _NOWHERE = 0, -1
_MOST_BETWEEN = 8
_MOST_STEPS = 300
"""Nodes around a name that are looked at."""


class OwnNames:
    """Names of these builtins that a file gives to something else, and where."""

    def __init__(self, names: Iterable[Node], *, is_sure: bool) -> None:
        """Take the names of these builtins in a file; without `is_sure` none is the file's own."""
        self._scopes: set[tuple[int, str]] = set()
        self._first: dict[str, int] = {}
        self._bodies: list[tuple[str, int, int]] = []
        self._unsure = set[str]() if is_sure else set(RUNNING)
        for node in names:
            name = text_of(node)
            if _is_said(node):
                self._unsure.add(name)
            elif _binds(node):
                scope = next(_scopes_of(node, binds=True), _NOWHERE)
                if scope == _FILE and (body := _body_of(node)) is not None:
                    self._bodies.append((name, body.start_byte, body.end_byte))
                elif scope == _FILE and _is_plain(node):
                    self._first.setdefault(name, _covered_from(node))
                elif scope != _FILE:
                    self._scopes.add((scope, name))

    def has(self, node: Node) -> bool:
        """Return whether a name stands for something of the file."""
        name = text_of(node)
        if name not in RUNNING or name in self._unsure:
            return False
        place = node.start_byte
        if name in self._first and self._first[name] <= place:
            return True
        if any(own == name and start <= place < end for own, start, end in self._bodies):
            return True
        return any((scope, name) in self._scopes for scope in _scopes_of(node, binds=False))


def is_looked_up(node: Node, *, or_called: bool = False) -> bool:
    """Return whether a name stands where its value is taken but not called."""
    around = node.parent
    if around is None or _is_said(node) or _binds(node):
        return False
    return (
        around.type not in _NO_BINDING
        or (or_called and around.type == "call")
        or around.child_by_field_name(_TARGETS[around.type]) != node
    )


def _is_said(node: Node) -> bool:
    """Return whether a name stands in a statement about names: of its import, its scope or its end."""
    around = node.parent
    for _ in range(_MOST_STEPS):
        if around is None or around.type not in _LISTS:
            break
        around = around.parent
    return around is not None and around.type in _SAYS


def _binds(node: Node) -> bool:
    child, around = node, node.parent
    while around is not None and around.type in _PATTERNS:
        child, around = around, around.parent
    if around is None or around.type in _NO_BINDING:
        return False
    if around.type in ("parameters", "lambda_parameters") or child.type == "as_pattern_target":
        return True
    return around.type in _TARGETS and around.child_by_field_name(_TARGETS[around.type]) == child


def _body_of(node: Node) -> Node | None:
    """Return the body of the loop or the `with` that binds a name: behind it, nobody knows whether it ran."""
    around = node
    for _ in range(_MOST_BETWEEN):
        if around.parent is None or around.parent.type in ("module", "block"):
            break
        around = around.parent
    return around.child_by_field_name("body") if around.type in ("for_statement", "with_statement") else None


def _covered_from(node: Node) -> int:
    """Return from where on a name is the file's own: behind the statement that binds it, and in a function's body."""
    statement = node
    while statement.parent is not None and statement.parent.type != "module":
        statement = statement.parent
    around = node.parent
    body = around.child_by_field_name("body") if around is not None and around.type == "function_definition" else None
    return body.start_byte if body is not None else statement.end_byte


def _is_plain(node: Node) -> bool:
    """Return whether a name is bound by a statement of the module itself, which nothing leaves out."""
    around = node.parent
    statement = around.parent if around is not None else None
    if statement is not None and statement.type in ("expression_statement", "decorated_definition"):
        statement = statement.parent
    return statement is not None and statement.type == "module"


def _scopes_of(node: Node, *, binds: bool) -> Iterator[int]:
    """Yield where the functions begin that a name belongs to, the inner ones first; last the file."""
    inner, child, around = node, node, node.parent
    for _ in range(_MOST_STEPS):
        if around is None:
            yield _FILE
            return
        is_name = around.child_by_field_name("name") == child
        if around.type in _SCOPES and not is_name and (binds or not _is_before(around, child, inner)):
            yield around.start_byte + 1
        elif around.type == "class_definition" and binds and not is_name:
            yield _NOWHERE
        inner, child, around = child, around, around.parent


def _is_before(scope: Node, child: Node, inner: Node) -> bool:
    """Return whether a part of a function is evaluated outside of it: defaults, or what a first loop is over."""
    if child.type != "for_in_clause":
        return child in (scope.child_by_field_name("parameters"), scope.child_by_field_name("return_type"))
    before = child.prev_named_sibling
    is_first = before is None or before.type != "for_in_clause"
    return is_first and child.child_by_field_name("right") == inner
