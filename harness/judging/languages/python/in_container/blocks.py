"""Rules for blocks: each changes a block in place where a statement stands, and says whether it did.

A rule is called as `rule(scope, block, at)`. Order of evaluation, frames and scopes stay as they are. A list of
statements that is no longer part of the function is left empty: then no rule takes it for a block that still runs.
"""

import ast

from .forms import (
    assign,
    broken_copy,
    call,
    condition,
    delete,
    is_small,
    may_waver,
    name,
    negated,
    next_of_counter,
    wavering,
)
from .functions import FUNCTIONS, copied, walk

_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_JUMPS = (ast.Break, ast.Continue)
_FIXED = (*FUNCTIONS, ast.ClassDef, ast.Global, ast.Nonlocal)
_EXCEPTIONS = {"Exception", "KeyboardInterrupt", "StopIteration", "StopAsyncIteration"}


def _has(statement, kinds):
    return any(isinstance(node, kinds) for node in walk(statement))


def taken(block):
    """The statements of a block, which is empty from now on."""
    statements = block[:]
    block.clear()
    return statements


def _passing():
    return [ast.Pass()]


def branches_swapped(scope, block, at):
    node = block[at]
    if not isinstance(node, ast.If):
        return False
    node.test, node.body, node.orelse = negated(node.test), node.orelse or _passing(), node.body
    return True


def rest_under_guard(scope, block, at):
    """Make what follows a branch that leaves the other branch."""
    node = block[at]
    rest = block[at + 1 :]
    if not (isinstance(node, ast.If) and not node.orelse and isinstance(node.body[-1], _ENDS) and rest):
        return False
    if any(_has(statement, (ast.Global, ast.Nonlocal)) for statement in rest):
        return False
    node.orelse = rest
    del block[at + 1 :]
    return True


def guard_for_rest(scope, block, at):
    node = block[at]
    if not (isinstance(node, ast.If) and node.orelse and isinstance(node.body[-1], _ENDS)):
        return False
    block[at + 1 : at + 1] = taken(node.orelse)
    return True


def conjunction_nested(scope, block, at):
    node = block[at]
    if not (isinstance(node, ast.If) and not node.orelse and isinstance(node.test, ast.BoolOp)):
        return False
    if not isinstance(node.test.op, ast.And):
        return False
    first, rest = node.test.values[0], node.test.values[1:]
    inner = rest[0] if len(rest) == 1 else ast.BoolOp(op=ast.And(), values=rest)
    node.body = [ast.If(test=inner, body=node.body, orelse=[])]
    node.test = first
    return True


def nesting_joined(scope, block, at):
    node = block[at]
    if not (isinstance(node, ast.If) and not node.orelse and len(node.body) == 1):
        return False
    [inner] = node.body
    if not (isinstance(inner, ast.If) and not inner.orelse):
        return False
    node.body.clear()
    node.test, node.body = ast.BoolOp(op=ast.And(), values=[node.test, inner.test]), inner.body
    return True


def while_true(scope, block, at):
    node = block[at]
    if not isinstance(node, ast.While) or node.orelse or isinstance(node.test, ast.Constant):
        return False
    leave = ast.If(test=negated(node.test), body=[ast.Break()], orelse=[])
    node.test = ast.Constant(value=True)
    node.body.insert(0, leave)
    return True


def loop_by_iterator(scope, block, at):
    node = block[at]
    if not isinstance(node, ast.For) or node.orelse or not scope.may_bind:
        return False
    if not scope.is_builtin("iter", "next", "StopIteration"):
        return False
    iterator = scope.fresh()
    take = ast.Assign(targets=[node.target], value=call("next", name(iterator)))
    if not isinstance(node.target, ast.Name):  # unpacking may raise StopIteration of its own
        item = scope.fresh()
        take, unpack = assign(item, take.value), [ast.Assign(targets=[node.target], value=name(item)), delete(item)]
    else:
        unpack = []
    end = ast.ExceptHandler(type=name("StopIteration"), name=None, body=[ast.Break()])
    guarded = ast.Try(body=[take], handlers=[end], orelse=[], finalbody=[])
    node.body[:0] = [guarded, *unpack]
    loop = ast.While(test=ast.Constant(value=True), body=node.body, orelse=[])
    block[at : at + 1] = [assign(iterator, call("iter", node.iter)), loop, delete(iterator)]
    return True


def with_split(scope, block, at):
    node = block[at]
    if not isinstance(node, (ast.With, ast.AsyncWith)) or len(node.items) < 2:
        return False
    node.body = [type(node)(items=node.items[1:], body=node.body)]
    node.items = node.items[:1]
    return True


def except_as_tuple(scope, block, at):
    node = block[at]
    changed = False
    for handler in getattr(node, "handlers", ()):
        if isinstance(handler.type, ast.Name) and _is_exception(scope, handler.type.id):
            handler.type = ast.Tuple(elts=[handler.type], ctx=ast.Load())
            changed = True
    return changed


def _is_exception(scope, word):
    return (word in _EXCEPTIONS or word.endswith("Error")) and scope.is_builtin(word)


def always_run(scope, block, at):
    """Under a condition that always holds; what never runs looks like a mutant."""
    node = block[at]
    if isinstance(node, _FIXED) or _has(node, _FIXED):
        return False
    other = []
    if is_small(node) and not _has(node, (*_JUMPS, ast.Import, ast.ImportFrom)) and scope.random.random() < 0.6:
        other = [broken_copy(scope, node)]
    if scope.random.random() < 0.5 and other:
        block[at] = ast.If(test=condition(scope, wanted=False), body=other, orelse=[node])
    else:
        block[at] = ast.If(test=condition(scope, wanted=True), body=[node], orelse=other)
    return True


def either_way(scope, block, at):
    """The statement or its copy, one at one time and the other at another: rules change each by itself."""
    node = block[at]
    if not is_small(node) or _has(node, _FIXED) or not may_waver(scope):
        return False
    block[at] = ast.If(test=wavering(scope), body=[node], orelse=[copied(node)])
    return True


def one_turn(scope, block, at):
    node = block[at]
    if isinstance(node, _FIXED) or _has(node, (*_FIXED, *_JUMPS)):
        return False
    block[at] = ast.While(test=ast.Constant(value=True), body=[node, ast.Break()], orelse=[])
    return True


def mutant_beside(scope, block, at):
    """A changed copy of a statement that never runs."""
    node = block[at]
    if not is_small(node) or _has(node, (*_FIXED, *_JUMPS, ast.Import, ast.ImportFrom)):
        return False
    block.insert(at, ast.If(test=condition(scope, wanted=False), body=[broken_copy(scope, node)], orelse=[]))
    return True


def counted(scope, block, at):
    if not scope.counters:
        return False
    block.insert(at, next_of_counter(scope, scope.random.choice(sorted(scope.counters))))
    return True


RULES = [
    branches_swapped, rest_under_guard, guard_for_rest, conjunction_nested, nesting_joined, while_true,
    loop_by_iterator, with_split, except_as_tuple, always_run, either_way, one_turn, mutant_beside, counted,
]  # fmt: skip
