"""Mutation operators of TypeScript."""

from collections.abc import Iterator

import tree_sitter_typescript
from tree_sitter import Language, Node

from harness.judging.languages.found import parsed, text_of
from harness.judging.languages.mutating import (
    Mutation,
    Operator,
    Rules,
    changed,
    dropped,
    has_string,
    mutations_of,
    negated_by_a_sign,
    number_changed,
    shown,
    text_replaced,
    unary_left_out,
)

_GRAMMAR = Language(tree_sitter_typescript.language_typescript())
_WITH_TAGS = Language(tree_sitter_typescript.language_tsx())
_STRINGS = frozenset({"string", "template_string"})
_LEFT_ALONE = frozenset(
    {
        "import_statement", "export_clause", "type_annotation", "type_alias_declaration", "interface_declaration",
        "type_arguments", "type_parameters", "decorator", "comment", "literal_type", "ambient_declaration",
        "function_signature", "enum_declaration",
    }
)  # fmt: skip


def mutations(source: bytes, path: str) -> list[Mutation]:
    """See `MutationOperators`."""
    grammar = _GRAMMAR if path.endswith((".ts", ".mts", ".cts")) else _WITH_TAGS
    return mutations_of(RULES, parsed(grammar, source), source)


def is_same_code(one: bytes, other: bytes) -> bool:  # noqa: ARG001
    """Return what esbuild makes of both can tell."""
    return False


def _is_left_alone(node: Node) -> bool:
    if node.type in _LEFT_ALONE:
        return True
    above = node.parent
    is_typed = above is not None and above.type in ("as_expression", "satisfies_expression")
    return is_typed and above is not None and node != above.named_children[0]


def _loop(node: Node) -> Iterator[Mutation]:
    condition = node.child_by_field_name("condition")
    if condition is not None:
        inner = (
            condition.named_children[0]
            if condition.type in ("parenthesized_expression", "expression_statement") and condition.named_children
            else condition
        )
        if inner.type != "empty_statement":
            yield changed(Operator.CONDITION, inner, "false", f"the loop while {shown(inner)} never runs")


def _over(node: Node) -> Iterator[Mutation]:
    over = node.child_by_field_name("right")
    if over is not None:
        yield changed(Operator.CONDITION, over, "[]", f"the loop over {shown(over)} never runs")


def _string(node: Node) -> Iterator[Mutation]:
    text = text_of(node)
    new = '"testwright"' if len(text) == 2 else '""'
    yield changed(Operator.STRING, node, new, f"{shown(node)} becomes {new}")


def _return(node: Node) -> Iterator[Mutation]:
    if not node.named_children:
        return
    value = node.named_children[0]
    if value.type in ("undefined", "null", "true", "false"):
        return
    yield changed(Operator.RETURN, value, "undefined as any", f"returns undefined, not {shown(value)}")


def _call(node: Node) -> Iterator[Mutation]:
    inner = node.named_children[0] if node.named_children else None
    awaited = inner.named_children[0] if inner is not None and inner.type == "await_expression" else inner
    if inner is not None and awaited is not None and awaited.type == "call_expression":
        if text_of(awaited.child_by_field_name("function")) in ("super", "console.log", "console.warn"):
            return
        yield changed(Operator.CALL, node, ";", f"the call {shown(inner)} is left out")


def _handler(node: Node) -> Iterator[Mutation]:
    body = node.child_by_field_name("body")
    if body is not None and body.named_children:
        yield changed(Operator.ERROR_PATH, body, "{}", "what handles the error is left out")


RULES = Rules(
    operated=frozenset({"binary_expression", "augmented_assignment_expression", "update_expression"}),
    of={
        "if_statement": (negated_by_a_sign,),
        "ternary_expression": (negated_by_a_sign,),
        "while_statement": (_loop,),
        "for_statement": (_loop,),
        "for_in_statement": (_over,),
        "unary_expression": (unary_left_out,),
        "number": (number_changed,),
        "string": (_string,),
        "template_string": (_string,),
        "true": (text_replaced({"true": "false"}),),
        "false": (text_replaced({"false": "true"}),),
        "return_statement": (_return,),
        "expression_statement": (_call,),
        "throw_statement": (dropped(Operator.ERROR_PATH, ";", "the error of"),),
        "catch_clause": (_handler,),
        "break_statement": (text_replaced({"break;": ";"}, Operator.CONDITION),),
        "continue_statement": (text_replaced({"continue;": ";"}, Operator.CONDITION),),
    },
    left_alone=_is_left_alone,
    joins_strings=lambda node: has_string(node, _STRINGS),
)
