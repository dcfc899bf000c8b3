"""Mutation operators of Go."""

from collections.abc import Iterator

import tree_sitter_go
from tree_sitter import Language, Node

from harness.judging.languages.found import parsed, text_of
from harness.judging.languages.go.stubs import results_of
from harness.judging.languages.mutating import (
    Mutation,
    Operator,
    Rules,
    changed,
    condition_negated,
    has_string,
    mutations_of,
    number_changed,
    shown,
    text_replaced,
    within,
)

_GRAMMAR = Language(tree_sitter_go.language())
_STRINGS = frozenset({"interpreted_string_literal", "raw_string_literal"})
_FUNCTIONS = frozenset({"function_declaration", "method_declaration", "func_literal"})
_LEFT_ALONE = frozenset({"import_declaration", "field_declaration", "comment", "array_type"})
_SILENT = ("debug.Log", "log.", "Verbosef", "Warnf")


def mutations(source: bytes, path: str) -> list[Mutation]:  # noqa: ARG001
    """See `MutationOperators`."""
    return mutations_of(RULES, parsed(_GRAMMAR, source), source)


def is_same_code(one: bytes, other: bytes) -> bool:  # noqa: ARG001
    """Return False: Go's compiler alone can tell."""
    return False


def _is_left_alone(node: Node) -> bool:
    if node.type in _LEFT_ALONE:
        return True
    function = text_of(node.child_by_field_name("function")) if node.type == "call_expression" else ""
    return function.startswith(_SILENT)


def _loop(node: Node) -> Iterator[Mutation]:
    """Mutate `for i := 0; i < n; i++` and `for x := range y`."""
    for clause in node.named_children:
        if clause.type == "for_clause":
            condition = clause.child_by_field_name("condition")
        elif clause.type == "range_clause" or clause == node.child_by_field_name("body"):
            continue
        else:
            condition = clause
        if condition is not None and condition.type != "comment":
            yield changed(
                Operator.CONDITION, condition, f"false && ({text_of(condition)})",
                f"the loop while {shown(condition)} never runs",
            )  # fmt: skip


def _unary(node: Node) -> Iterator[Mutation]:
    operand = node.child_by_field_name("operand")
    if operand is not None and node.children[0].type in ("!", "-", "^"):
        sign = node.children[0].type
        yield changed(Operator.UNARY, node, f"({text_of(operand)})", f"{sign} is left out of {shown(node)}")


def _string(node: Node) -> Iterator[Mutation]:
    text = text_of(node)
    new = '"testwright"' if len(text) == 2 else '""'
    yield changed(Operator.STRING, node, new, f"{shown(node)} becomes {new}")


def _return(node: Node) -> Iterator[Mutation]:
    """Yield each value that is returned alone, as the zero value of its type; an error that is returned, as none."""
    function = within(node, _FUNCTIONS)
    listed = next((child for child in node.named_children if child.type == "expression_list"), None)
    if function is None or listed is None:
        return
    types, values = results_of(function), listed.named_children
    if len(types) != len(values):
        return
    for type_, value in zip(types, values, strict=True):
        if type_ == "error":
            if text_of(value) != "nil":
                yield changed(Operator.ERROR_PATH, value, "nil", f"the error {shown(value)} is not returned")
        elif type_ == "bool" and value.type not in ("true", "false", "unary_expression"):
            yield changed(Operator.RETURN, value, f"!({text_of(value)})", f"returns not {shown(value)}")
        elif type_ != "bool" and text_of(value) not in ("nil", '""', "0"):
            yield changed(Operator.RETURN, value, f"*new({type_})", f"returns the zero value, not {shown(value)}")


def _call(node: Node) -> Iterator[Mutation]:
    inner = node.named_children[0] if node.named_children else None
    if inner is not None and inner.type == "call_expression" and not _is_left_alone(inner):
        operator = Operator.ERROR_PATH if text_of(inner).startswith("panic(") else Operator.CALL
        yield changed(operator, node, "", f"the call {shown(inner)} is left out")


_NEGATED = condition_negated(lambda condition: f"!({condition})")
RULES = Rules(
    operated=frozenset({"binary_expression", "assignment_statement", "inc_statement", "dec_statement"}),
    of={
        "if_statement": (_NEGATED,),
        "for_statement": (_loop,),
        "unary_expression": (_unary,),
        "int_literal": (number_changed,),
        "interpreted_string_literal": (_string,),
        "true": (text_replaced({"true": "false"}),),
        "false": (text_replaced({"false": "true"}),),
        "return_statement": (_return,),
        "expression_statement": (_call,),
        "break_statement": (text_replaced({"break": "continue"}, Operator.CONDITION),),
        "continue_statement": (text_replaced({"continue": "break"}, Operator.CONDITION),),
    },
    left_alone=_is_left_alone,
    joins_strings=lambda node: has_string(node, _STRINGS),
)
