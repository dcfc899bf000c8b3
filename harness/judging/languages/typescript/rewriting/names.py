"""Rules that give a value a name, take one away, or change it."""

from collections.abc import Sequence

from tree_sitter import Node

from harness.judging.languages.composing import Rule, Scene
from harness.judging.languages.found import text_of
from harness.judging.languages.functions import Edit
from harness.judging.languages.typescript.rewriting.bindings import Declaration, bindings, uses
from harness.judging.languages.typescript.rewriting.reading import (
    BLOCK,
    FUNCTIONS,
    NAMES,
    bare,
    declarators,
    field,
    has,
    has_function,
    in_block,
    inserted,
    is_literal,
    is_quoted,
    operator,
    replaced,
    takes_a_name,
    value_of,
)

Edits = Sequence[Edit]
_TRIVIAL = frozenset({"identifier", "this", "super", "private_property_identifier"})
_CARRIED = frozenset(
    {"expression_statement", "lexical_declaration", "return_statement", "if_statement", "throw_statement"}
)
_LOOPS = frozenset({"for_statement", "while_statement", "do_statement", "for_in_statement"})
_NOT_IN_A_HELPER = (
    "await_expression",
    "yield_expression",
    "super",
    "call_expression",
    "new_expression",
    "meta_property",
)
_PATTERNS_WITH_VALUE = frozenset({"assignment_pattern", "object_assignment_pattern"})


def return_by_name(node: Node, scene: Scene) -> Edits:
    """Rewrite `return a;` as `const t = a; return t;`."""
    value = value_of(node)
    if value is None or _trivial(value) or takes_a_name(value) or not in_block(node):
        return ()
    name = scene.fresh()
    return replaced(node, f"{_kind(scene)} {name} = {text_of(value)}; return {name};")


def return_at_once(node: Node, _: Scene) -> Edits:
    """Rewrite `const t = a; return t;` as `return a;`."""
    behind, listed = node.next_named_sibling, declarators(node)
    if behind is None or behind.type != "return_statement" or len(listed) != 1 or not in_block(node):
        return ()
    name, value, returned = field(listed[0], "name"), listed[0].child_by_field_name("value"), value_of(behind)
    if value is None or returned is None or takes_a_name(value) or name.type != "identifier":
        return ()
    if text_of(bare(returned)) != text_of(name) or text_of(name) in uses(value):
        return ()
    return ((node.start_byte, behind.end_byte, f"return ({text_of(value)});".encode()),)


def name_condition(node: Node, scene: Scene) -> Edits:
    """Rewrite `if (c)` as `const t = c; if (t)`."""
    condition = bare(field(node, "condition"))
    if _trivial(condition) or takes_a_name(condition) or not in_block(node):
        return ()
    name = scene.fresh()
    return inserted(node.start_byte, f"{_kind(scene)} {name} = {text_of(condition)}; "), *replaced(condition, name)


def name_first_operand(node: Node, scene: Scene) -> Edits:
    """Rewrite `x = a + b;` as `const t = a; x = t + b;`, for what is found first of all in a statement."""
    first = _first(node)
    spine: list[Node] = []
    while first is not None and _goes_on(first):
        first = bare(first) if first.type == "parenthesized_expression" else _condition_or_left(first)
        spine.append(first)
    offered = [each for each in spine if not _trivial(each) and bare(each) == each]
    if not offered or not in_block(node) or (node.type == "lexical_declaration" and len(declarators(node)) != 1):
        return ()
    chosen, name = scene.chance.choice(offered), scene.fresh()
    if takes_a_name(chosen) or is_quoted(chosen):
        return ()
    return inserted(node.start_byte, f"{_kind(scene)} {name} = {text_of(chosen)}; "), *replaced(chosen, name)


def name_settled_value(node: Node, scene: Scene) -> Edits:
    """Rewrite `f(x, a === 1);` as `const t = a === 1; f(x, t);`, for what is the same at any time."""
    above: Node | None = node
    while above is not None and not (above.type in _CARRIED and in_block(above)):
        if above.type in FUNCTIONS | BLOCK | _LOOPS:
            return ()
        above = above.parent
    core = bare(node)
    if above is None or is_literal(core) or core != node or is_quoted(node):
        return ()
    if not bindings(scene).settled(core, above.start_byte):
        return ()
    name = scene.fresh()
    return inserted(above.start_byte, f"{_kind(scene)} {name} = {text_of(node)}; "), *replaced(node, name)


def helper_for_condition(node: Node, scene: Scene) -> Edits:
    """Rewrite `if (a.b)` as `const f = () => a.b; if (f())`."""
    condition = bare(field(node, "condition"))
    if _trivial(condition) or not in_block(node) or "arguments" in uses(condition):
        return ()
    if has(condition, *_NOT_IN_A_HELPER) or has_function(condition):
        return ()
    name = scene.fresh()
    helper = f"const {name} = () => {{ return ({text_of(condition)}); }}; "
    return inserted(node.start_byte, helper), *replaced(condition, f"{name}()")


def rename_locals(_: Node, scene: Scene) -> Edits:
    """Give other names to some of the variables of a function, but to none that a function has."""
    known = bindings(scene)
    offered = [name for name, found in sorted(known.declared.items()) if len(found) == 1 and _renamable(found[0])]
    chosen = [name for name in offered if scene.chance.random() < 0.6]
    named = [each for each in scene.nodes if each.type in NAMES and text_of(each) in chosen]
    scopes = {name: known.declared[name][0].scope for name in chosen}
    outside = {text_of(each) for each in named if not _holds(scopes[text_of(each)], each)}
    told = {text_of(each) for each in named if _is_told(each)}
    fresh = {name: scene.fresh() for name in chosen if name not in outside | told}
    return tuple(_renamed(each, fresh[text_of(each)]) for each in named if text_of(each) in fresh)


def _first(statement: Node) -> Node | None:
    """Return the expression that a statement finds the value of before it does anything else."""
    if statement.type == "if_statement":
        return field(statement, "condition")
    if statement.type == "lexical_declaration":
        return declarators(statement)[0].child_by_field_name("value")
    value = value_of(statement)
    if value is not None and value.type == "assignment_expression":
        return field(value, "right") if field(value, "left").type == "identifier" else None
    return value


def _condition_or_left(node: Node) -> Node:
    if node.type == "unary_expression":
        return field(node, "argument")
    return field(node, "condition" if node.type == "ternary_expression" else "left")


def _goes_on(node: Node) -> bool:
    """Return whether a part of an expression is found before the rest of it."""
    negation = node.type == "unary_expression" and operator(node) == "!"
    return negation or node.type in ("binary_expression", "ternary_expression", "parenthesized_expression")


def _trivial(node: Node) -> bool:
    return bare(node).type in _TRIVIAL or is_literal(node)


def _kind(scene: Scene) -> str:
    return scene.chance.choice(("const", "const", "let"))


def _renamable(declaration: Declaration) -> bool:
    above, value = declaration.name.parent, declaration.value
    if above is None or above.type in _PATTERNS_WITH_VALUE or (value is not None and takes_a_name(value)):
        return False
    return declaration.inner and declaration.kind in ("const", "let", "parameter")


def _is_told(name: Node) -> bool:
    """Return whether an error would call what the name stands for by it, or a function is called by it."""
    node, above = name, name.parent
    while above is not None and bare(above) == name:
        node, above = above, above.parent
    if above is None:
        return False
    if above.type == "assignment_expression":
        return above.child_by_field_name("left") == node and takes_a_name(field(above, "right"))
    told = {"call_expression": "function", "new_expression": "constructor", "for_in_statement": "right"}
    if above.type in told:
        return above.child_by_field_name(told[above.type]) == node
    if above.type == "variable_declarator":
        return above.child_by_field_name("value") == node and field(above, "name").type != "identifier"
    return above.type == "spread_element"


def _holds(scope: Node, node: Node) -> bool:
    return scope.start_byte <= node.start_byte and node.end_byte <= scope.end_byte


def _renamed(node: Node, new: str) -> Edit:
    inside_braces = node.type in ("shorthand_property_identifier", "shorthand_property_identifier_pattern")
    text = f"{text_of(node)}: {new}" if inside_braces else new
    return node.start_byte, node.end_byte, text.encode()


RULES = (
    Rule("return-by-name", frozenset({"return_statement"}), return_by_name),
    Rule("return-at-once", frozenset({"lexical_declaration"}), return_at_once),
    Rule("name-condition", frozenset({"if_statement"}), name_condition),
    Rule("name-first-operand", _CARRIED, name_first_operand),
    Rule(
        "name-settled-value",
        frozenset({"binary_expression", "unary_expression", "ternary_expression"}),
        name_settled_value,
    ),
    Rule("helper-for-condition", frozenset({"if_statement"}), helper_for_condition),
    Rule("rename-locals", frozenset({"variable_declarator"}), rename_locals),
)
