"""Bodies of other variants kept in a function where they never run.

What is looked for in the generated code of one variant is then found in the others' as well.
"""

import ast

from .forms import condition
from .functions import COMPREHENSIONS, FUNCTIONS, bound_in, every_name, own_nodes, split


def fitted(function, others, fresh):
    """The bodies of `others` as blocks that can stand in `function` without changing what its names mean."""
    blocks = []
    ours, tame = split(function)[1], _Tame(function)
    if any(isinstance(node, ast.Global) for node in own_nodes(ours)):
        return blocks
    for other in others:
        block = split(other)[1] or [ast.Pass()]
        if any(isinstance(node, ast.Global) for node in own_nodes(block)):
            continue
        new = bound_in(block) - bound_in(ours) - _parameters_of(function)
        names = {name: fresh() for name in sorted(new & every_name(ast.Module(ours, [])))}
        block = [_Renamed(names).visit(statement) for statement in block]
        blocks.append([tame.visit(statement) for statement in block])
    return blocks


def _parameters_of(function):
    return {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}


def embedded(scope, live, inert):
    """One block in which `live` runs and none of the blocks of `inert` does."""
    for block in inert:
        form = scope.random.randrange(4)
        if form == 0:
            live = [ast.If(test=condition(scope, True), body=live, orelse=block)]
        elif form == 1:
            live = [ast.If(test=condition(scope, False), body=block, orelse=live)]
        else:
            never = ast.If(test=condition(scope, False), body=block, orelse=[])
            at = scope.random.randint(0, max(0, len(live) - 1))  # the compiler drops what follows the last return
            live = [*live[:at], never, *live[at:]]
    return live


class _Renamed(ast.NodeTransformer):
    def __init__(self, names):
        self.names = names

    def visit(self, node):
        for field in ("id", "arg", "name", "rest", "asname"):
            value = getattr(node, field, None)
            if isinstance(value, str) and value in self.names and not isinstance(node, (ast.alias, ast.keyword)):
                setattr(node, field, self.names[value])
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            node.names = [self.names.get(name, name) for name in node.names]
        if isinstance(node, ast.alias):
            bound = (node.asname or node.name).partition(".")[0]
            node.asname = self.names.get(bound, node.asname)
        return self.generic_visit(node)


class _Tame(ast.NodeTransformer):
    """Without what would make another kind of function of the one that holds it."""

    def __init__(self, function):
        self.is_async = isinstance(function, ast.AsyncFunctionDef)
        kinds = (ast.Yield, ast.YieldFrom)
        self.yields = any(isinstance(node, kinds) for node in own_nodes(function.body))

    def visit(self, node):
        if isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
            return node
        node = self.generic_visit(node)
        if isinstance(node, (ast.Yield, ast.YieldFrom)) and (self.is_async or not self.yields):
            return node if self.yields and isinstance(node, ast.Yield) else node.value or ast.Constant(value=None)
        if isinstance(node, ast.Return) and node.value and self.is_async and self.yields:
            return ast.Expr(value=node.value)
        if not self.is_async:
            return self._synchronous(node)
        return node

    def _synchronous(self, node):
        if isinstance(node, ast.Await):
            return node.value
        if isinstance(node, ast.AsyncFor):
            return ast.For(target=node.target, iter=node.iter, body=node.body, orelse=node.orelse)
        if isinstance(node, ast.AsyncWith):
            return ast.With(items=node.items, body=node.body)
        if isinstance(node, COMPREHENSIONS):
            for part in node.generators:
                part.is_async = 0
        return node
