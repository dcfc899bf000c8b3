"""Rules for single statements and their values, called as the rules of `blocks` are.

A temporary that may hold something big is deleted behind its use, so that nothing lives longer than it did.
"""

import ast

from .blocks import taken
from .forms import assign, call, delete, name


def condition_before(scope, block, at):
    """A condition's truth is asked for once, as before."""
    node = block[at]
    if not (isinstance(node, ast.If) and scope.may_bind):
        return False
    truth = scope.fresh()
    value = ast.IfExp(test=node.test, body=ast.Constant(value=True), orelse=ast.Constant(value=False))
    if scope.is_builtin("bool") and not scope.asks_in_turn(node.test) and scope.random.random() < 0.5:
        value = call("bool", node.test)
    node.test = name(truth)
    block.insert(at, assign(truth, value))
    return True


def choice_as_statement(scope, block, at):
    node = block[at]
    value = getattr(node, "value", None)
    if not isinstance(value, ast.IfExp):
        return False
    if isinstance(node, ast.Return):
        made = [ast.Return(value=part) for part in (value.body, value.orelse)]
    elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        made = [assign(node.targets[0].id, part) for part in (value.body, value.orelse)]
    else:
        return False
    block[at] = ast.If(test=value.test, body=made[:1], orelse=made[1:])
    return True


def statements_as_choice(scope, block, at):
    node = block[at]
    if not (isinstance(node, ast.If) and len(node.body) == len(node.orelse) == 1):
        return False
    first, second = node.body[0], node.orelse[0]
    if isinstance(first, ast.Return) and isinstance(second, ast.Return) and first.value and second.value:
        value = ast.IfExp(test=node.test, body=_value_of(node.body), orelse=_value_of(node.orelse))
        block[at] = ast.Return(value=value)
        return True
    if not (isinstance(first, ast.Assign) and isinstance(second, ast.Assign)):
        return False
    if list(map(ast.dump, first.targets)) != list(map(ast.dump, second.targets)):
        return False
    value = ast.IfExp(test=node.test, body=_value_of(node.body), orelse=_value_of(node.orelse))
    block[at] = ast.Assign(targets=first.targets, value=value)
    return True


def _value_of(block):
    [statement] = taken(block)
    return statement.value


def sum_unfolded(scope, block, at):
    """Adding in place is adding, for integers."""
    node = block[at]
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id in scope.integers:
        block[at] = assign(node.target.id, ast.BinOp(left=name(node.target.id), op=node.op, right=node.value))
        return True
    return False


def targets_in_turn(scope, block, at):
    node = block[at]
    if not isinstance(node, ast.Assign) or len(node.targets) < 2 or not scope.may_bind:
        return False
    value = scope.fresh()
    made = [ast.Assign(targets=[target], value=name(value)) for target in node.targets]
    block[at : at + 1] = [assign(value, node.value), *made, delete(value)]
    return True


def constants_together(scope, block, at):
    """Two neighbours that give constants to variables: together, or the other way round."""
    if at + 1 == len(block) or not all(map(_gives_a_constant, block[at : at + 2])):
        return False
    first, second = block[at : at + 2]
    if first.targets[0].id == second.targets[0].id:
        return False
    if scope.random.random() < 0.5:
        block[at : at + 2] = [second, first]
        return True
    target = ast.Tuple(elts=[first.targets[0], second.targets[0]], ctx=ast.Store())
    value = ast.Tuple(elts=[first.value, second.value], ctx=ast.Load())
    block[at : at + 2] = [ast.Assign(targets=[target], value=value)]
    return True


def _gives_a_constant(node):
    single = isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
    return single and isinstance(node.value, ast.Constant)


def value_before(scope, block, at):
    """Give what a statement evaluates first a name and a statement of its own."""
    node = block[at]
    chain = _evaluated_first(scope, node)
    if not chain or not scope.may_bind:
        return False
    parent, field, index = scope.random.choice(chain)
    value = getattr(parent, field) if index is None else getattr(parent, field)[index]
    chosen = scope.fresh()
    if index is None:
        setattr(parent, field, name(chosen))
    else:
        getattr(parent, field)[index] = name(chosen)
    if not (isinstance(node, ast.Return) or scope.is_light(value)):
        block.insert(at + 1, delete(chosen))
    block.insert(at, assign(chosen, value))
    return True


_FIRST = {
    ast.Call: ("func", None), ast.Attribute: ("value", None), ast.BinOp: ("left", None), ast.Compare: ("left", None),
    ast.Subscript: ("value", None), ast.Await: ("value", None), ast.IfExp: ("test", None), ast.BoolOp: ("values", 0),
    ast.UnaryOp: ("operand", None), ast.Tuple: ("elts", 0), ast.List: ("elts", 0),
}  # fmt: skip
_HEADS = {
    ast.Expr: "value", ast.Assign: "value", ast.Return: "value", ast.If: "test",
    ast.For: "iter", ast.AsyncFor: "iter",
}  # fmt: skip


def _evaluated_first(scope, statement):
    """Places of what a statement evaluates first, each within the one before."""
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        parent, field, index = statement.items[0], "context_expr", None
    elif type(statement) in _HEADS:
        parent, field, index = statement, _HEADS[type(statement)], None
    else:
        return []
    chain = []
    while True:
        children = getattr(parent, field)
        if not children:
            return chain
        node = children if index is None else children[index]
        if not isinstance(node, ast.expr) or isinstance(node, (ast.Starred, ast.Constant)) or _is_super(node):
            return chain
        asked = isinstance(parent, (ast.If, ast.IfExp, ast.UnaryOp, ast.BoolOp)) and scope.asks_in_turn(node)
        if not asked and not (isinstance(statement, ast.If) and _may_be_big(scope, node)):
            chain.append((parent, field, index))
        if type(node) not in _FIRST:
            return chain
        parent, (field, index) = node, _FIRST[type(node)]


def _may_be_big(scope, node):
    """Return whether a value may be of use to its test alone, so that it must not live on in the branches."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return not (isinstance(node, ast.Name) or scope.is_light(node))


def _is_super(node):
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"
    return called or (isinstance(node, ast.Name) and node.id == "super")


RULES = [
    condition_before, choice_as_statement, statements_as_choice, sum_unfolded, targets_in_turn,
    constants_together, value_before,
]  # fmt: skip
