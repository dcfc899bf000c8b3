"""Facts that the syntax tree of TypeScript alone tells, on the safe side where it can't."""

from collections.abc import Iterator

from tree_sitter import Node

from harness.judging.languages.found import text_of
from harness.judging.languages.functions import Edit, below

FUNCTIONS = frozenset(
    {
        "function_declaration", "function_expression", "generator_function", "generator_function_declaration",
        "arrow_function", "method_definition",
    }
)  # fmt: skip
BLOCK = frozenset({"statement_block"})
JUMPS = frozenset({"return_statement", "throw_statement", "break_statement", "continue_statement"})
NAMES = frozenset({"identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern"})
_TYPED = frozenset({"as_expression", "satisfies_expression", "non_null_expression"})
_LITERALS = frozenset({"string", "number", "true", "false", "null", "undefined"})
_ATOMS = _LITERALS | {
    "identifier", "this", "member_expression", "subscript_expression", "call_expression", "parenthesized_expression",
    "template_string", "array",
}  # fmt: skip
_COMPARISONS = frozenset({"===", "!==", "==", "!=", "<", ">", "<=", ">=", "in", "instanceof"})
_QUOTED = {"call_expression": "function", "new_expression": "constructor", "for_in_statement": "right"}
OPPOSITES = {"===": "!==", "!==": "===", "==": "!=", "!=": "=="}


def replaced(node: Node, new: str) -> tuple[Edit, ...]:
    """Return the edit that puts a text in a node's place."""
    return ((node.start_byte, node.end_byte, new.encode()),)


def inserted(at: int, new: str) -> Edit:
    """Return the edit that puts a text at a byte."""
    return at, at, new.encode()


def bare(node: Node) -> Node:
    """Return an expression without parentheses and types around it."""
    while node.type == "parenthesized_expression" or node.type in _TYPED:
        inner = next((child for child in node.named_children if child.type != "comment"), None)
        if inner is None:
            return node
        node = inner
    return node


def field(node: Node, name: str) -> Node:
    """Return a part that the grammar promises; where a text is broken, the node itself."""
    return node.child_by_field_name(name) or node


def operator(node: Node) -> str:
    """Return the operator of a node, as written."""
    return text_of(node.child_by_field_name("operator"))


def wrapped(node: Node) -> str:
    """Return an expression's text, with parentheses where an operator beside it could tear it apart."""
    return text_of(node) if node.type in _ATOMS else f"({text_of(node)})"


def negated(node: Node) -> str:
    """Return what is true where the expression isn't, for a place where only that matters."""
    core = bare(node)
    if core.type == "unary_expression" and operator(core) == "!":
        return wrapped(field(core, "argument"))
    if core.type == "binary_expression" and operator(core) in OPPOSITES:
        left, right = text_of(core.child_by_field_name("left")), text_of(core.child_by_field_name("right"))
        return f"({left} {OPPOSITES[operator(core)]} {right})"
    return f"!({text_of(core)})"


def is_literal(node: Node) -> bool:
    """Return whether a node is a literal."""
    core = bare(node)
    return core.type in _LITERALS or (core.type == "template_string" and not core.named_child_count)


def is_boolean(node: Node) -> bool:
    """Return whether an expression can only be true or false."""
    core = bare(node)
    if core.type in ("true", "false"):
        return True
    if core.type == "unary_expression":
        return operator(core) in ("!", "delete")
    if core.type != "binary_expression":
        return False
    if operator(core) in ("&&", "||"):
        return is_boolean(field(core, "left")) and is_boolean(field(core, "right"))
    return operator(core) in _COMPARISONS


def takes_a_name(node: Node) -> bool:
    """Return whether an expression gets its name from the variable: a function or a class without a name."""
    core = bare(node)
    return core.type == "arrow_function" or (
        core.type in ("function_expression", "generator_function", "class")
        and core.child_by_field_name("name") is None
    )


def is_condition(node: Node) -> bool:
    """Return whether it only matters if an expression is true in the end."""
    above = node.parent
    while above is not None and above.type == "parenthesized_expression":
        node, above = above, above.parent
    if above is None:
        return False
    if above.type in ("if_statement", "while_statement", "do_statement", "for_statement", "ternary_expression"):
        return above.child_by_field_name("condition") == node
    return above.type == "unary_expression" and operator(above) == "!"


def own(node: Node) -> Iterator[Node]:
    """Yield all nodes below one that don't stand in a function or a class of their own."""
    waiting = list(reversed(node.children))
    while waiting:
        inner = waiting.pop()
        yield inner
        if inner.type not in FUNCTIONS and inner.type not in ("class", "class_declaration"):
            waiting += reversed(inner.children)


def has(node: Node, *types: str) -> bool:
    """Return whether a node, or any below it that isn't in a function of its own, is of one of these types."""
    return node.type in types or any(inner.type in types for inner in own(node))


def has_function(node: Node) -> bool:
    """Return whether a function stands in a node."""
    return node.type in FUNCTIONS or any(inner.type in FUNCTIONS or "class" in inner.type for inner in below(node))


def statements(block: Node) -> list[Node]:
    """Return what stands in a block, comments left out; empty for what is no block."""
    return [node for node in block.named_children if node.type != "comment"] if block.type in BLOCK else []


def in_block(statement: Node) -> bool:
    """Return whether other statements can be put beside it."""
    return statement.parent is not None and statement.parent.type in BLOCK


def is_labelled(statement: Node) -> bool:
    """Return whether a statement has a label."""
    return statement.parent is not None and statement.parent.type == "labeled_statement"


def inside(block: Node) -> str:
    """Return a statement's text as it stands in a block of its own."""
    return text_of(block) if block.type in BLOCK else "{ " + text_of(block) + " }"


def leaves(block: Node) -> bool:
    """Return whether whatever runs a block never comes to what stands behind it."""
    body = statements(block)
    return (bool(body) and body[-1].type in JUMPS) or block.type in JUMPS


def declarators(declaration: Node) -> list[Node]:
    """Return the declarators of a declaration, in their order."""
    return [child for child in declaration.named_children if child.type == "variable_declarator"]


def value_of(statement: Node) -> Node | None:
    """Return the expression that a return or an expression statement holds."""
    return next((child for child in statement.named_children if child.type != "comment"), None)


def is_body(statement: Node) -> bool:
    """Return whether a statement is a branch or what a loop repeats, without a block around it."""
    above = statement.parent
    if above is None or not statement.is_named or statement.type == "comment":
        return False
    part = "consequence" if above.type == "if_statement" else "body"
    return above.type == "else_clause" or (
        above.type in ("if_statement", "for_in_statement", "while_statement", "for_statement")
        and above.child_by_field_name(part) == statement
    )


def stated(statement: Node, text: str) -> tuple[Edit, ...]:
    """Replace a statement, by a block of its own where an `else` behind it could become its own."""
    return replaced(statement, text if in_block(statement) else f"{{ {text} }}")


def is_quoted(node: Node) -> bool:
    """Return whether an error would quote the expression: what is called, iterated over, spread, or taken apart."""
    above = node.parent
    while above is not None and above.type not in FUNCTIONS | BLOCK:
        if above.type in _QUOTED and above.child_by_field_name(_QUOTED[above.type]) == node:
            return True
        apart = above.type == "variable_declarator" and field(above, "name").type != "identifier"
        if apart or above.type == "spread_element":
            return True
        node, above = above, above.parent
    return False
