"""Mutation operators of Python."""

import types
from collections.abc import Iterator

import tree_sitter_python
from tree_sitter import Language, Node

from harness.judging.languages.found import parsed, text_of
from harness.judging.languages.mutating import (
    Mutation,
    Operator,
    Rules,
    changed,
    condition_negated,
    dropped,
    has_string,
    mutations_of,
    number_changed,
    shown,
    text_replaced,
    within,
)

_GRAMMAR = Language(tree_sitter_python.language())
_STRINGS = frozenset({"string", "concatenated_string"})
_LEFT_ALONE = frozenset(
    {"decorator", "import_statement", "import_from_statement", "type", "assert_statement", "comment"}
)


def mutations(source: bytes, path: str) -> list[Mutation]:  # noqa: ARG001
    """See `MutationOperators`."""
    return mutations_of(RULES, parsed(_GRAMMAR, source), source)


def is_same_code(one: bytes, other: bytes) -> bool:
    """Return whether both compile to the same bytecode, lines and columns left out."""
    try:
        codes = [compile(text, "<text>", "exec", dont_inherit=True, optimize=0) for text in (one, other)]
    except (SyntaxError, ValueError):
        return False
    return _bare(codes[0]) == _bare(codes[1])


def _bare(code: types.CodeType) -> tuple[object, ...]:
    constants = tuple(_bare(each) if isinstance(each, types.CodeType) else (type(each), repr(each))
                      for each in code.co_consts)  # fmt: skip
    return (code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars, code.co_name, code.co_flags,
            code.co_exceptiontable)  # fmt: skip


def _is_left_alone(node: Node) -> bool:
    if node.type in _LEFT_ALONE:
        return True
    if node.type == "expression_statement" and node.named_children and node.named_children[0].type == "string":
        return True  # a docstring
    function = text_of(node.child_by_field_name("function")) if node.type == "call" else ""
    return function.startswith(("log.", "logger.", "logging.", "_log.", "warnings.", "self.log"))


def _loop(node: Node) -> Iterator[Mutation]:
    condition = node.child_by_field_name("condition")
    if condition is not None:
        yield changed(Operator.CONDITION, condition, "False", f"the loop while {shown(condition)} never runs")


def _for(node: Node) -> Iterator[Mutation]:
    over = node.child_by_field_name("right")
    if over is not None and node.children[0].type != "async":
        yield changed(Operator.CONDITION, over, "()", f"the loop over {shown(over)} never runs")


def _choice(node: Node) -> Iterator[Mutation]:
    """Mutate `a if b else c`."""
    condition = node.named_children[1] if len(node.named_children) == 3 else None
    if condition is not None:
        new = f"not ({text_of(condition)})"
        yield changed(Operator.CONDITION, condition, new, f"({shown(condition)}) is negated")


def _not(node: Node) -> Iterator[Mutation]:
    argument = node.child_by_field_name("argument")
    if argument is not None:
        yield changed(Operator.UNARY, node, f"({text_of(argument)})", f"not is left out of {shown(node)}")


def _minus(node: Node) -> Iterator[Mutation]:
    argument = node.child_by_field_name("argument")
    if argument is not None and node.children[0].type in ("-", "~"):
        yield changed(Operator.UNARY, node, f"({text_of(argument)})", f"{shown(node)} without its sign")


def _string(node: Node) -> Iterator[Mutation]:
    if node.parent is not None and node.parent.type == "concatenated_string":
        return
    if within(node, frozenset({"interpolation"})) is not None:
        return  # its quotes depend on those around it
    start = next((text_of(child) for child in node.children if child.type == "string_start"), "")
    quote = start.lstrip("rRbBuUfF")
    prefix = "b" if "b" in start.lower() else ""
    if not quote:
        return
    is_empty = len(text_of(node)) == len(start) + len(quote)
    new = f'{prefix}"testwright"' if is_empty else f'{prefix}""'
    yield changed(Operator.STRING, node, new, f"{shown(node)} becomes {new}")


def _return(node: Node) -> Iterator[Mutation]:
    if not node.named_children:
        return
    value = node.named_children[0]
    if value.type not in ("none", "true", "false", "not_operator"):
        yield changed(Operator.RETURN, value, "None", f"returns None, not {shown(value)}")


def _call(node: Node) -> Iterator[Mutation]:
    inner = node.named_children[0] if len(node.named_children) == 1 else None
    awaited = inner.named_children[0] if inner is not None and inner.type == "await" else inner
    if inner is not None and awaited is not None and awaited.type == "call":
        if _is_left_alone(awaited) or text_of(awaited).startswith("super()."):
            return
        yield changed(Operator.CALL, node, "pass", f"the call {shown(inner)} is left out")


def _handler(node: Node) -> Iterator[Mutation]:
    """Yield what handles an error raises it again."""
    body = next((child for child in node.children if child.type == "block"), None)
    if body is not None and not text_of(body).strip().startswith("raise"):
        yield changed(Operator.ERROR_PATH, body, "raise", f"{shown(node.children[1])} is raised again, not handled")


def _assignment(node: Node) -> Iterator[Mutation]:
    """Change `None` in an assignment to something; a choice of `x or y` is left to its connector."""
    right = node.child_by_field_name("right")
    if right is not None and right.type == "none":
        yield changed(Operator.CONSTANT, right, '"testwright"', "None becomes a string")


_NEGATED = condition_negated(lambda condition: f"not ({condition})")
RULES = Rules(
    operated=frozenset({"comparison_operator", "binary_operator", "boolean_operator", "augmented_assignment"}),
    of={
        "if_statement": (_NEGATED,),
        "elif_clause": (_NEGATED,),
        "conditional_expression": (_choice,),
        "if_clause": (
            lambda node: [
                changed(Operator.CONDITION, inner, f"not ({text_of(inner)})", f"({shown(inner)}) is negated")
                for inner in node.named_children[:1]
            ],
        ),
        "while_statement": (_loop,),
        "for_statement": (_for,),
        "not_operator": (_not,),
        "unary_operator": (_minus,),
        "integer": (number_changed,),
        "string": (_string,),
        "true": (text_replaced({"True": "False"}),),
        "false": (text_replaced({"False": "True"}),),
        "return_statement": (_return,),
        "expression_statement": (_call,),
        "assignment": (_assignment,),
        "raise_statement": (dropped(Operator.ERROR_PATH, "pass", "the error of"),),
        "except_clause": (_handler,),
        "break_statement": (text_replaced({"break": "continue"}, Operator.CONDITION),),
        "continue_statement": (text_replaced({"continue": "break"}, Operator.CONDITION),),
    },
    left_alone=_is_left_alone,
    joins_strings=lambda node: has_string(node, _STRINGS),
)
