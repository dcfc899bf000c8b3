"""Mutation operators of C."""

from collections.abc import Iterator

from tree_sitter import Node

from harness.judging.languages.c.catalogue import GRAMMAR
from harness.judging.languages.found import parsed, text_of
from harness.judging.languages.mutating import (
    Mutation,
    Operator,
    Rules,
    changed,
    dropped,
    mutations_of,
    negated_by_a_sign,
    number_changed,
    shown,
    text_replaced,
    unary_left_out,
    within,
    without_parentheses,
)

_LEFT_ALONE = frozenset({"preproc_include", "preproc_def", "preproc_directive", "comment", "array_declarator",
                         "attribute_specifier", "enum_specifier"})  # fmt: skip
_FUNCTIONS = frozenset({"function_definition"})


def mutations(source: bytes, path: str) -> list[Mutation]:  # noqa: ARG001
    """See `MutationOperators`."""
    return mutations_of(RULES, parsed(GRAMMAR.language, source), source)


def is_same_code(one: bytes, other: bytes) -> bool:  # noqa: ARG001
    """Return False: the compiler alone can tell."""
    return False


def _is_left_alone(node: Node) -> bool:
    if node.type in _LEFT_ALONE:
        return True
    return node.type == "call_expression" and text_of(node.child_by_field_name("function")) in ("assert", "sizeof")


def _loop(node: Node) -> Iterator[Mutation]:
    condition = node.child_by_field_name("condition")
    if condition is not None and text_of(without_parentheses(condition)) not in ("0", "1"):
        inner = without_parentheses(condition)
        yield changed(Operator.CONDITION, inner, "0", f"the loop while {shown(inner)} never runs")


def _string(node: Node) -> Iterator[Mutation]:
    if node.parent is None or node.parent.type == "concatenated_string":
        return
    new = '"testwright"' if len(text_of(node)) == 2 else '""'
    yield changed(Operator.STRING, node, new, f"{shown(node)} becomes {new}")


def _return(node: Node) -> Iterator[Mutation]:
    """Change -1 and other errors to 0, a pointer to NULL, a number to 0."""
    value = node.named_children[0] if node.named_children else None
    function = within(node, _FUNCTIONS)
    if value is None or function is None:
        return
    text = text_of(value).strip("()")
    if text.startswith("-") and text[1:].isdigit():
        yield changed(Operator.ERROR_PATH, value, "0", f"returns 0, not the error {text}")
    elif text not in ("0", "NULL", "1"):
        yield changed(Operator.RETURN, value, "0", f"returns 0, not {shown(value)}")


def _call(node: Node) -> Iterator[Mutation]:
    inner = node.named_children[0] if node.named_children else None
    if inner is not None and inner.type == "call_expression" and not _is_left_alone(inner):
        yield changed(Operator.CALL, node, ";", f"the call {shown(inner)} is left out")


RULES = Rules(
    operated=frozenset({"binary_expression", "assignment_expression", "update_expression"}),
    of={
        "if_statement": (negated_by_a_sign,),
        "conditional_expression": (negated_by_a_sign,),
        "while_statement": (_loop,),
        "for_statement": (_loop,),
        "unary_expression": (unary_left_out,),
        "number_literal": (number_changed,),
        "string_literal": (_string,),
        "true": (text_replaced({"true": "false"}),),
        "false": (text_replaced({"false": "true"}),),
        "null": (),
        "return_statement": (_return,),
        "expression_statement": (_call,),
        "goto_statement": (dropped(Operator.ERROR_PATH, ";", "the jump"),),
        "break_statement": (dropped(Operator.CONDITION, ";", "the end of a case or loop by"),),
        "continue_statement": (dropped(Operator.CONDITION, ";", "the next round by"),),
    },
    left_alone=_is_left_alone,
    joins_strings=lambda _: False,
)
