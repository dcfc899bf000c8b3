"""Rules drawn and applied, one upon what another made, over whole functions."""

import ast

from . import assignments, blocks, comparisons, expressions
from .forms import assign, integer_of
from .functions import COMPREHENSIONS, FUNCTIONS, HOLDING, split
from .scopes import Scope

FEWEST, MOST = 25, 80
"""Rules that are applied to one body."""
_DEEPEST = 12
"""Blocks within blocks: the compiler refuses more than twenty."""
STATEMENT_RULES = [*blocks.RULES, *assignments.RULES]
EXPRESSION_RULES = [*comparisons.RULES, *expressions.RULES]
EVERY_RULE = frozenset([*STATEMENT_RULES, *EXPRESSION_RULES])
_NESTING = {blocks.one_turn, blocks.loop_by_iterator, blocks.with_split}
_KEEP_ASKING = {
    comparisons.booleans_swapped, comparisons.de_morgan, comparisons.choice_flipped, expressions.never_the_other,
    expressions.either_way,
}  # fmt: skip
"""Rules that leave a test of `and` and `or` one."""
_ROUNDS = 12


class Place:
    """Demands on an expression where it stands: may it assign, and does only its truth matter?"""

    def __init__(self, may_bind, asked):
        self.may_bind, self.asked = may_bind, asked


def rewrite(scope, block, rules=EVERY_RULE):
    """Apply 25 to 80 rules to a block in place, fewer where it has no room. The number that was applied."""
    random, applied, inner = scope.random, 0, {}
    _draw_counters(scope, 2)
    wanted = random.randint(FEWEST, MOST)
    for _ in range(_ROUNDS):
        sites = []
        _add_sites(sites, scope, block, inner, 0)
        random.shuffle(sites)
        before, most = applied, applied + max(5, wanted // 3)
        for site in sites:
            if applied == min(most, wanted):
                break
            applied += site.apply(rules)
        if applied in (wanted, before):
            break
    for function_scope, texts in inner.values():
        function_scope.function.body = [*texts, *counters_of(function_scope), *function_scope.function.body]
    return applied


def _draw_counters(scope, most):
    if scope.may_bind:
        for _ in range(scope.random.randint(0, most)):
            scope.counters[scope.fresh()] = scope.random.randint(3, 60)


def counters_of(scope):
    """Statements that begin counters, before all else that a function does."""
    return [
        assign(chosen, integer_of(scope, scope.random.randrange(modulus)))
        for chosen, modulus in sorted(scope.counters.items())
    ]


class _StatementSite:
    __slots__ = ("block", "depth", "scope", "statement")

    def __init__(self, scope, block, statement, depth):
        self.scope, self.block, self.statement, self.depth = scope, block, statement, depth

    def apply(self, allowed):
        places = [at for at, statement in enumerate(self.block) if statement is self.statement]
        if not places:
            return False
        deep = self.depth + _height(self.statement) >= _DEEPEST
        rules = [rule for rule in STATEMENT_RULES if rule in allowed and not (deep and rule in _NESTING)]
        self.scope.random.shuffle(rules)
        return any(rule(self.scope, self.block, places[0]) for rule in rules)


class _ExpressionSite:
    __slots__ = ("field", "index", "node", "parent", "place", "scope")

    def __init__(self, scope, parent, field, index, node, place):
        self.scope, self.parent, self.field, self.index = scope, parent, field, index
        self.node, self.place = node, place

    def _now(self):
        value = getattr(self.parent, self.field)
        if self.index is None:
            return value
        return value[self.index] if self.index < len(value) else None

    def apply(self, allowed):
        if self._now() is not self.node:
            return False
        rules = [rule for rule in EXPRESSION_RULES if rule in allowed]
        self.scope.random.shuffle(rules)
        if self.place.asked and self.scope.asks_in_turn(self.node):
            rules = [rule for rule in rules if rule in _KEEP_ASKING]
        for rule in rules:
            made = rule(self.scope, self.node, self.place)
            if made is not None:
                if self.index is None:
                    setattr(self.parent, self.field, made)
                else:
                    getattr(self.parent, self.field)[self.index] = made
                return True
        return False


def _height(statement):
    inner = [child for block in blocks_of(statement) for child in block]
    return 1 + max(map(_height, inner), default=0)


def blocks_of(statement):
    """The blocks that a statement holds."""
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        return []
    holders = [statement, *getattr(statement, "handlers", ()), *getattr(statement, "cases", ())]
    blocks = [getattr(holder, field, None) for holder in holders for field in ("body", "orelse", "finalbody")]
    return [block for block in blocks if isinstance(block, list) and block]


def _add_sites(sites, scope, block, inner, depth):
    """Add all places of a block where rules may be applied. `inner` keeps the scopes of functions within."""
    for statement in block:
        if isinstance(statement, (ast.Global, ast.Nonlocal, ast.ClassDef)):
            continue
        if isinstance(statement, FUNCTIONS):
            _add_sites_of_function(sites, scope, statement, inner)
            continue
        sites.append(_StatementSite(scope, block, statement, depth))
        for parent, field, index, asked in _expressions_of(statement):
            _add_within(sites, scope, parent, field, index, Place(scope.may_bind, asked))
        for held in blocks_of(statement):
            _add_sites(sites, scope, held, inner, depth + 1)


def _add_sites_of_function(sites, scope, function, inner):
    """Decorators, defaults and annotations stay as they are, the docstring apart until the end."""
    if id(function) not in inner:
        texts, function.body = split(function)
        inner[id(function)] = Scope(function, scope.module, scope.random, scope), texts
        _draw_counters(inner[id(function)][0], 1)
    _add_sites(sites, inner[id(function)][0], function.body, inner, 0)


def _expressions_of(statement):
    """Where a statement holds expressions that it evaluates, and whether it asks for their truth alone."""
    for field in ("value", "test", "iter", "subject", "exc", "cause", "msg"):
        value = getattr(statement, field, None)
        if isinstance(value, ast.expr):
            yield statement, field, None, field == "test"
    for item in getattr(statement, "items", ()):
        yield item, "context_expr", None, False
    for case in getattr(statement, "cases", ()):
        if case.guard is not None:
            yield case, "guard", None, True
    for target in [*getattr(statement, "targets", ()), *filter(None, [getattr(statement, "target", None)])]:
        if isinstance(target, (ast.Attribute, ast.Subscript)):
            yield target, "value", None, False
            if isinstance(target, ast.Subscript):
                yield target, "slice", None, False


def _add_within(sites, scope, parent, field, index, place):
    """Add an expression and all that are within it and may be other ones."""
    value = getattr(parent, field)
    node = value if index is None else value[index]
    if not isinstance(node, ast.expr) or _is_super(node):
        return
    if not isinstance(node, (ast.Slice, ast.Starred)) and not _is_fixed(node, parent):
        sites.append(_ExpressionSite(scope, parent, field, index, node, place))
    if isinstance(node, (ast.Name, ast.Constant)):
        return
    may_bind = place.may_bind and not isinstance(node, _UNBINDING)
    for child, inner_field, inner_index, asked in _children(node, place.asked):
        there = place if may_bind == place.may_bind and asked == place.asked else Place(may_bind, asked)
        _add_within(sites, scope, child, inner_field, inner_index, there)


_UNBINDING = (ast.Lambda, *COMPREHENSIONS)


def _children(node, whole_is_asked):
    """Where expressions stand within another, and whether only their truth is asked for."""
    if isinstance(node, ast.JoinedStr):
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                yield part, "value", None, False
        return
    if isinstance(node, COMPREHENSIONS):
        for part in node.generators:
            yield part, "iter", None, False
            for index in range(len(part.ifs)):
                yield part, "ifs", index, True
    for field in HOLDING[type(node)]:
        if isinstance(node, ast.NamedExpr) and field == "target":
            continue
        value = getattr(node, field, None)
        if field == "keywords":
            for keyword in value:
                yield keyword, "value", None, False
        elif isinstance(value, ast.expr):
            asked = field in ("test", "operand") or (whole_is_asked and isinstance(node, ast.IfExp))
            yield node, field, None, asked
        elif isinstance(value, list):
            for index, part in enumerate(value):
                if isinstance(part, ast.expr):
                    yield node, field, index, whole_is_asked and isinstance(node, ast.BoolOp)


def _is_super(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def _is_fixed(node, parent):
    """Leave what is compared by identity the same object, and what is within a tuple of slices there."""
    if isinstance(node, ast.Tuple) and any(isinstance(part, ast.Slice) for part in node.elts):
        return True
    identity = isinstance(parent, ast.Compare) and any(isinstance(op, (ast.Is, ast.IsNot)) for op in parent.ops)
    return identity and isinstance(node, ast.Constant) and type(node.value) not in (bool, type(None))
