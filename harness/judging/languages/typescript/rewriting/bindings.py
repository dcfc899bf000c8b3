"""The names that a function declares: which of them never change, and which expressions are the same at any time."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from tree_sitter import Node

from harness.judging.languages.composing import Scene
from harness.judging.languages.found import text_of
from harness.judging.languages.functions import below
from harness.judging.languages.typescript.rewriting.reading import (
    BLOCK,
    FUNCTIONS,
    NAMES,
    bare,
    field,
    is_literal,
    operator,
)

_FIXED = frozenset({"const", "let", "parameter"})
_TARGETS = {
    "assignment_expression": "left",
    "augmented_assignment_expression": "left",
    "update_expression": "argument",
}
_READY = {"variable_declarator": "", "for_in_statement": "body", "required_parameter": "", "optional_parameter": ""}
_UNSEEN = frozenset({"type_annotation", "type_parameters", "type_arguments"})


@dataclass(frozen=True)
class Declaration:
    """A declaration of a name. `scope` holds every place where the name may be used."""

    kind: str
    name: Node
    scope: Node
    value: Node | None = None
    inner: bool = True
    """Whether it belongs to something within the function, not to the function itself."""

    @property
    def ready(self) -> int:
        """The offset from which on it surely has its value."""
        above = self.name.parent
        while above is not None and above.type not in _READY and above != self.scope:
            above = above.parent
        if above is None or above == self.scope:
            return self.name.end_byte if self.kind == "parameter" else self.scope.end_byte
        return above.end_byte if _READY[above.type] == "" else field(above, _READY[above.type]).start_byte


@dataclass(frozen=True)
class Bindings:
    """Names that a function declares, and what is known of each."""

    declared: Mapping[str, tuple[Declaration, ...]]
    assigned: frozenset[str]

    def settled(self, node: Node, at: int) -> bool:
        """Return whether an expression has one value from the offset `at` on, and no effect, and throws nothing."""
        core = bare(node)
        if is_literal(core):
            return True
        if core.type == "identifier":
            return self.fixed(text_of(core), at)
        if core.type == "unary_expression" and operator(core) in ("!", "typeof", "void"):
            return self.settled(field(core, "argument"), at)
        if core.type == "binary_expression" and operator(core) in ("===", "!==", "&&", "||", "??"):
            return self.settled(field(core, "left"), at) and self.settled(field(core, "right"), at)
        parts = ("condition", "consequence", "alternative")
        return core.type == "ternary_expression" and all(self.settled(field(core, part), at) for part in parts)

    def fixed(self, name: str, at: int) -> bool:
        """Return a name whose every declaration is fixed, of which one has been met at this offset."""
        found = self.declared.get(name, ())
        return (
            name not in self.assigned
            and bool(found)
            and all(each.kind in _FIXED for each in found)
            and any(each.ready <= at < each.scope.end_byte for each in found)
        )

    def is_number(self, name: str) -> bool:
        """Return whether a variable begins as a number and is only ever counted up or down."""
        found = self.declared.get(name, ())
        starts = bool(found) and all(
            each.kind == "let" and each.value is not None and bare(each.value).type == "number" for each in found
        )
        return starts and name not in self.assigned


@lru_cache(maxsize=4)
def bindings(scene: Scene) -> Bindings:
    """Return the names that the function around a node declares."""
    declared: dict[str, tuple[Declaration, ...]] = {}
    assigned: set[str] = set()
    for node in (scene.function.node, *scene.nodes):
        for each in _declarations(node, scene.function.node):
            declared[text_of(each.name)] = (*declared.get(text_of(each.name), ()), each)
        assigned |= set(_assigned(node))
    return Bindings(MappingProxyType(declared), frozenset(assigned))


def counted(scene: Scene) -> frozenset[str]:
    """Return the variables that hold numbers: only `x++`, `x--`, `x += 1` and `x -= 1` ever change them."""
    known = bindings(scene)
    others = {
        text_of(name)
        for node in scene.nodes
        if node.type in _TARGETS and not _counts(node)
        for name in pattern_names(field(node, _TARGETS[node.type]))
    }
    begun = Bindings(known.declared, frozenset(others))
    return frozenset(name for name in known.declared if begun.is_number(name))


def references(scene: Scene, name: str) -> Iterator[Node]:
    """Yield the nodes that refer to a name."""
    return (node for node in scene.nodes if node.type in NAMES and text_of(node) == name)


def pattern_names(pattern: Node) -> Iterator[Node]:
    """Yield the names that a pattern binds or assigns to."""
    if pattern.type in ("identifier", "shorthand_property_identifier_pattern"):
        yield pattern
    elif pattern.type in ("assignment_pattern", "object_assignment_pattern"):
        yield from pattern_names(field(pattern, "left"))
    elif pattern.type == "pair_pattern":
        yield from pattern_names(field(pattern, "value"))
    elif pattern.type in ("object_pattern", "array_pattern", "rest_pattern", "parenthesized_expression", "object",
                          "array", "as_expression", "non_null_expression"):  # fmt: skip
        for child in pattern.named_children:
            if child.type not in _UNSEEN:
                yield from pattern_names(child)


def scope_of(node: Node) -> Node:
    """Return the innermost block, loop or function around a node."""
    above = node.parent
    while above is not None and above.parent is not None:
        if above.type in BLOCK | FUNCTIONS | {"for_statement", "for_in_statement", "catch_clause", "switch_body"}:
            return above
        above = above.parent
    return above or node


def _declarations(node: Node, outermost: Node) -> Iterator[Declaration]:
    if node.type == "variable_declarator" and node.parent is not None:
        kind, value = text_of(node.parent.children[0]), node.child_by_field_name("value")
        for name in pattern_names(field(node, "name")):
            yield Declaration(kind, name, scope_of(node.parent), value if field(node, "name") == name else None)
    elif node.type in ("required_parameter", "optional_parameter") and _of_a_function(node):
        for name in pattern_names(field(node, "pattern")):
            yield _parameter(name, outermost)
    elif node.type == "arrow_function" and (single := node.child_by_field_name("parameter")) is not None:
        yield _parameter(single, outermost)
    elif node.type == "catch_clause" and (caught := node.child_by_field_name("parameter")) is not None:
        for name in pattern_names(caught):
            yield Declaration("parameter", name, node)
    elif node.type == "for_in_statement" and (kind_node := node.child_by_field_name("kind")) is not None:
        for name in pattern_names(field(node, "left")):
            yield Declaration(text_of(kind_node), name, node)
    elif (node.type in FUNCTIONS or "class" in node.type) and (named := node.child_by_field_name("name")) is not None:
        yield Declaration("function", named, scope_of(node))


def _of_a_function(parameter: Node) -> bool:
    """Return whether it isn't the parameter of a type."""
    listed = parameter.parent
    return listed is not None and listed.parent is not None and listed.parent.type in FUNCTIONS


def _parameter(name: Node, outermost: Node) -> Declaration:
    above = name.parent
    while above is not None and above.type not in FUNCTIONS:
        above = above.parent
    scope = above if above is not None else outermost
    return Declaration("parameter", name, scope, inner=scope != outermost)


def _assigned(node: Node) -> Iterator[str]:
    if node.type in _TARGETS:
        yield from (text_of(name) for name in pattern_names(field(node, _TARGETS[node.type])))
    elif node.type == "for_in_statement" and node.child_by_field_name("kind") is None:
        yield from (text_of(name) for name in pattern_names(field(node, "left")))


def _counts(node: Node) -> bool:
    if node.type == "update_expression":
        return True
    return (
        node.type == "augmented_assignment_expression"
        and text_of(node.child_by_field_name("operator")) in ("+=", "-=")
        and bare(field(node, "right")).type == "number"
    )


def uses(node: Node) -> set[str]:
    """Return every name that a text reads, writes or declares."""
    return {text_of(each) for each in (node, *below(node)) if each.type in NAMES}


def declared_by(statement: Node) -> list[Node]:
    """Return the names that a statement declares beside it."""
    listed = statement.named_children if "declaration" in statement.type else []
    names = [
        name for each in listed if each.type == "variable_declarator" for name in pattern_names(field(each, "name"))
    ]
    own = statement.child_by_field_name("name") if "declaration" in statement.type else None
    return [*names, own] if own is not None else names
