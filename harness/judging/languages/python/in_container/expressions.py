"""Rules for expressions: each gives another expression of the same value and effects, or None where it has no room.

A rule is called as `rule(scope, node, place)`; `place` says whether an assignment expression may stand there,
and whether only the truth of the value is asked for: `and` and `or` ask each operand once there, and twice where the
value is wanted first.
What a rule moves it moves whole and in the same order; nothing is evaluated more often or less often than before.
"""

import ast

from .forms import (
    at,
    broken_copy,
    call,
    condition,
    constant,
    integer_of,
    is_small,
    items,
    lambda_of,
    may_waver,
    method,
    text_of,
    walrus,
    wavering,
)
from .functions import copied, walk

_NEVER_COPIED = (ast.Lambda, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)


def integer_unfolded(scope, node, place):
    if isinstance(node, ast.Constant) and type(node.value) is int and 0 <= node.value < 10**40:
        return integer_of(scope, node.value)
    return None


def text_unfolded(scope, node, place):
    if isinstance(node, ast.Constant) and type(node.value) in (str, bytes) and 1 < len(node.value) < 2000:
        return text_of(scope, node.value)
    return None


def constant_from_lambda(scope, node, place):
    if isinstance(node, ast.Constant):
        return call(lambda_of(None, node))
    return None


def text_joined_of_parts(scope, node, place):
    """An f-string, its parts evaluated and formatted in the same order."""
    if not isinstance(node, ast.JoinedStr) or len(node.values) < 2:
        return None
    parts = [ast.JoinedStr([part]) if isinstance(part, ast.FormattedValue) else part for part in node.values]
    return method(constant(""), "join", items(scope.random.choice([ast.List, ast.Tuple]), *parts))


def attribute_by_name(scope, node, place):
    """Names that begin with two underscores may mean others within a class."""
    if isinstance(node, ast.Attribute) and not node.attr.startswith("__") and scope.is_builtin("getattr"):
        return call("getattr", node.value, constant(node.attr))
    return None


def arguments_starred(scope, node, place):
    if not _is_callable_freely(node) or not node.args or any(isinstance(arg, ast.Starred) for arg in node.args):
        return None
    first = scope.random.randrange(len(node.args))
    packed = ast.Starred(value=items(scope.random.choice([ast.Tuple, ast.List]), *node.args[first:]), ctx=ast.Load())
    return ast.Call(func=node.func, args=[*node.args[:first], packed], keywords=node.keywords)


def keywords_packed(scope, node, place):
    if not _is_callable_freely(node) or not node.keywords:
        return None
    if any(word.arg is None or word.arg.startswith("__") for word in node.keywords):
        return None
    keys = [constant(word.arg) for word in node.keywords]
    packed = ast.Dict(keys=keys, values=[word.value for word in node.keywords])
    return ast.Call(func=node.func, args=node.args, keywords=[ast.keyword(arg=None, value=packed)])


def _is_callable_freely(node):
    return isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id == "super")


def slice_as_object(scope, node, place):
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and scope.is_builtin("slice"):
        bounds = [node.slice.lower or constant(None), node.slice.upper or constant(None)]
        bounds += [node.slice.step] if node.slice.step else []
        return at(node.value, call("slice", *bounds))
    return None


def integers_commuted(scope, node, place):
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mult)) and scope.is_int(node):
        if any(isinstance(side, (ast.Constant, ast.Name)) for side in (node.left, node.right)):
            return ast.BinOp(left=node.right, op=node.op, right=node.left)
    return None


def difference_as_sum(scope, node, place):
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)) and scope.is_int(node):
        other = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
        return ast.BinOp(left=node.left, op=other, right=ast.UnaryOp(op=ast.USub(), operand=node.right))
    return None


def literal_by_call(scope, node, place):
    if isinstance(node, ast.Dict):
        if None in node.keys or not scope.is_builtin("dict"):
            return None
        pairs = [items(ast.Tuple, key, value) for key, value in zip(node.keys, node.values)]
        return call("dict", items(ast.List, *pairs)) if pairs else call("dict")
    kinds = {ast.List: ("list", ast.Tuple), ast.Tuple: ("tuple", ast.List)}
    if type(node) in kinds and isinstance(node.ctx, ast.Load):
        builtin, other = kinds[type(node)]
        if scope.is_builtin(builtin) and not any(isinstance(part, ast.Slice) for part in node.elts):
            return call(builtin, items(other, *node.elts)) if node.elts else call(builtin)
    return None


def boxed(scope, node, place):
    """Put into something and taken out again."""
    if isinstance(node, ast.Constant) and scope.random.random() < 0.7:
        return None
    other = constant(scope.random.choice([scope.word(), scope.random.randint(0, 99)]))
    form = scope.random.randrange(5)
    if form == 0:
        return at(items(ast.List, node), constant(0))
    if form == 1:
        return at(items(ast.Tuple, node, other), constant(0))
    if form == 2:
        return at(items(ast.Tuple, other, node), constant(1))
    if form == 3:
        return at(ast.Dict(keys=[other], values=[node]), constant(other.value))
    return at(items(ast.List, other, node), ast.UnaryOp(op=ast.USub(), operand=constant(1)))


def named(scope, node, place):
    if place.may_bind and scope.is_light(node) and not isinstance(node, ast.Constant):
        return walrus(scope, node)
    return None


def never_the_other(scope, node, place):
    """A choice that is always the same; what isn't chosen looks like a mutant."""
    if not is_small(node) or any(isinstance(inner, _NEVER_COPIED) for inner in walk(node)):
        return None
    other = broken_copy(scope, node)
    wanted = scope.random.random() < 0.5
    body, orelse = (node, other) if wanted else (other, node)
    return ast.IfExp(test=condition(scope, wanted), body=body, orelse=orelse)


def either_way(scope, node, place):
    """A choice that differs from time to time, between the expression and its copy: rules change each by itself."""
    if not is_small(node) or not may_waver(scope) or any(isinstance(inner, _NEVER_COPIED) for inner in walk(node)):
        return None
    return ast.IfExp(test=wavering(scope), body=node, orelse=copied(node))


RULES = [
    integer_unfolded, text_unfolded, constant_from_lambda, text_joined_of_parts, attribute_by_name,
    arguments_starred, keywords_packed, slice_as_object, integers_commuted, difference_as_sum, literal_by_call,
    boxed, named, never_the_other, either_way,
]  # fmt: skip
