"""Rules for comparisons and truth values, called as the rules of `expressions` are."""

import ast

from .forms import at, call, condition, constant, integer_of, items, lambda_of, name, negated, walrus

_SWAPPED = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE, ast.Eq: ast.Eq, ast.NotEq: ast.NotEq}
_OPPOSITE = {ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
_PLAIN = (str, int, bytes, float, type(None))


def _single(node):
    return isinstance(node, ast.Compare) and len(node.ops) == 1


def _not(node):
    """Negate a test; of `not x` the result is not x, which may be neither True nor False."""
    return ast.UnaryOp(op=ast.Not(), operand=node)


def _compare(left, operator, right):
    return ast.Compare(left=left, ops=[operator], comparators=[right])


def equality_swapped(scope, node, place):
    """A plain constant has no say in `==` that the other side doesn't have as well."""
    if _single(node) and isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
        left, right = node.left, node.comparators[0]
        if any(isinstance(side, ast.Constant) and type(side.value) in _PLAIN for side in (left, right)):
            return _compare(right, node.ops[0], left)
    return None


def identity_swapped(scope, node, place):
    if _is_identity(node) and isinstance(node.comparators[0], ast.Constant):
        return _compare(node.comparators[0], node.ops[0], node.left)
    return None


def _is_identity(node):
    return _single(node) and isinstance(node.ops[0], (ast.Is, ast.IsNot))


def integers_swapped(scope, node, place):
    if _single(node) and type(node.ops[0]) in _SWAPPED and _are_integers(scope, node):
        sides = [node.left, node.comparators[0]]
        if any(isinstance(side, ast.Constant) for side in sides) or all(isinstance(side, ast.Name) for side in sides):
            return _compare(sides[1], _SWAPPED[type(node.ops[0])](), sides[0])
    return None


def integers_opposite(scope, node, place):
    if _single(node) and type(node.ops[0]) in _OPPOSITE and _are_integers(scope, node):
        opposite = _compare(node.left, _OPPOSITE[type(node.ops[0])](), node.comparators[0])
        return _compare(opposite, ast.Is(), constant(False))
    return None


def integer_bound_moved(scope, node, place):
    """`a < b` is `a + 1 <= b`, `a <= b` is `a < b + 1`."""
    if not (_single(node) and _are_integers(scope, node)):
        return None
    left, right = node.left, node.comparators[0]
    one = integer_of(scope, 1)
    if isinstance(node.ops[0], ast.Lt):
        return _compare(ast.BinOp(left=left, op=ast.Add(), right=one), ast.LtE(), right)
    if isinstance(node.ops[0], ast.LtE):
        return _compare(left, ast.Lt(), ast.BinOp(left=right, op=ast.Add(), right=one))
    return None


def _are_integers(scope, node):
    return scope.is_int(node.left) and scope.is_int(node.comparators[0])


def boolean_compared(scope, node, place):
    """A value that is True or False is what it is compared with."""
    if not scope.is_bool(node) or isinstance(node, ast.Constant):
        return None
    form = scope.random.randrange(4)
    if form == 0:
        return _compare(node, ast.Is(), constant(True))
    if form == 1:
        return _compare(_not(node), ast.Is(), constant(False))
    if form == 2:
        return _compare(node, ast.IsNot(), constant(False))
    return ast.IfExp(test=node, body=constant(True), orelse=constant(False))


def negation_unfolded(scope, node, place):
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        if scope.random.random() < 0.5:
            return ast.IfExp(test=node.operand, body=constant(False), orelse=constant(True))
        return _compare(node, ast.Is(), constant(True))
    return None


def booleans_swapped(scope, node, place):
    """Only where no operand can raise or do anything."""
    if isinstance(node, ast.BoolOp) and scope.is_pure(node) and scope.is_bool(node):
        return ast.BoolOp(op=node.op, values=node.values[::-1])
    return None


def de_morgan(scope, node, place):
    if isinstance(node, ast.BoolOp) and scope.is_bool(node):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        return negated(ast.BoolOp(op=other, values=[negated(value) for value in node.values]))
    return None


def boolean_as_choice(scope, node, place):
    """`a and b` is `b if (t := a) else t`."""
    if not (isinstance(node, ast.BoolOp) and place.may_bind):
        return None
    first, rest = node.values[0], node.values[1:]
    other = rest[0] if len(rest) == 1 else ast.BoolOp(op=node.op, values=rest)
    if not scope.is_light(first):
        return None
    test = walrus(scope, first)
    again = name(test.target.id)
    body, orelse = (other, again) if isinstance(node.op, ast.And) else (again, other)
    return ast.IfExp(test=test, body=body, orelse=orelse)


def choice_flipped(scope, node, place):
    if isinstance(node, ast.IfExp):
        return ast.IfExp(test=negated(node.test), body=node.orelse, orelse=node.body)
    return None


def constants_chosen_by_index(scope, node, place):
    if isinstance(node, ast.IfExp) and all(isinstance(part, ast.Constant) for part in (node.body, node.orelse)):
        return at(items(ast.Tuple, node.orelse, node.body), ast.IfExp(node.test, constant(True), constant(False)))
    return None


def truth_asked(scope, node, place):
    """Ask what stands for a truth value alone for it first."""
    if isinstance(node, ast.IfExp) and scope.is_builtin("bool") and not scope.asks_in_turn(node.test):
        return ast.IfExp(test=call("bool", node.test), body=node.body, orelse=node.orelse)
    return None


def boolean_unfolded(scope, node, place):
    if not (isinstance(node, ast.Constant) and type(node.value) is bool):
        return None
    test = condition(scope, wanted=node.value)
    if scope.is_bool(test):
        return test
    if node.value:
        return _compare(test, ast.Is(), constant(True))
    return _compare(negated(test), ast.Is(), constant(False))


def helper_for_a_test(scope, node, place):
    """A test of a parameter against a constant, done by a function of its own. It calls nothing: no frame shows."""
    if not (_is_identity(node) and scope.is_pure(node)):
        return None
    if not (isinstance(node.left, ast.Name) and isinstance(node.comparators[0], ast.Constant)):
        return None
    parameter = scope.fresh()
    return call(lambda_of(parameter, _compare(name(parameter), node.ops[0], node.comparators[0])), node.left)


RULES = [
    equality_swapped, identity_swapped, integers_swapped, integers_opposite, integer_bound_moved,
    boolean_compared, negation_unfolded, booleans_swapped, de_morgan, boolean_as_choice, choice_flipped,
    constants_chosen_by_index, truth_asked, boolean_unfolded, helper_for_a_test,
]  # fmt: skip
