"""Facts about the names in one function: which are integers, which builtins are themselves, which are free."""

import ast
import builtins
import keyword
import re

from .functions import COMPREHENSIONS, FUNCTIONS, bound_by, bound_in, every_name, own_nodes, parameters, walk

FRAME_READERS = {"locals", "eval", "exec", "_getframe", "currentframe", "f_locals", "f_code", "__code__"}
"""A function that uses one of these sees its own variables: it gets no new ones."""
_READERS_WITHOUT_ARGUMENTS = {"dir", "vars"}
_RESERVED = {*keyword.kwlist, *getattr(keyword, "softkwlist", ()), *dir(builtins)}
_WORD = re.compile(r"[a-z]{2,12}|[A-Z][a-z]{1,12}|[A-Z]{2,12}")
_SPARE = ["value", "item", "found", "part", "current", "size", "count", "rest", "state", "entry"]


class Module:
    """Facts that all functions of one module share."""

    def __init__(self, names, others=()):
        """`names` are the module's own, `others` those of modules that lend bodies."""
        self.hides_builtins, self.bound = names.hides_builtins, names.bound
        self.taken = _RESERVED.union(names.every, *(other.every for other in others))


class ModuleNames:
    """The names of a module as it was written."""

    def __init__(self, tree):
        self.hides_builtins, self.bound, self.every = False, bound_in(tree.body), every_name(tree)
        for node in walk(tree):
            if isinstance(node, ast.ImportFrom):
                self.hides_builtins |= any(alias.name == "*" for alias in node.names)
            elif isinstance(node, ast.Global):
                self.bound.update(node.names)


class Scope:
    """One function, and what may be done within it. `outer` is the scope of the function that holds it."""

    def __init__(self, function, module, random, outer=None):
        self.function, self.module, self.random, self.outer = function, module, random, outer
        nodes, every = list(own_nodes(function.body)), list(walk(function))
        bound, rebound_within = {name for node in nodes for name in bound_by(node)}, _rebound_within(function, every)
        self.bound = bound.union(parameters(function))
        self.may_bind = not (_reads_its_frame(every) or (outer and not outer.may_bind))
        self.steady = set(parameters(function)) - bound - rebound_within
        self.integers = _integers(self, nodes) - set(parameters(function)) - rebound_within
        self.words = outer.words if outer else _words(every)
        self.counters = {}

    def is_builtin(self, *names):
        """Return whether these names mean the builtins here."""
        if self.module.hides_builtins or set(names) & self.module.bound:
            return False
        scope = self
        while scope:
            if set(names) & scope.bound:
                return False
            scope = scope.outer
        return True

    def fresh(self):
        """A name that nothing in the module has, of words that the function uses."""
        while True:
            words = self.random.sample(self.words, self.random.randint(1, min(3, len(self.words))))
            name = "_".join(words) + self.random.choice(["", "", "", "_", "s", "2"])
            if name.isidentifier() and name not in self.module.taken and not name.startswith("__"):
                self.module.taken.add(name)
                self.bound.add(name)
                return name

    def word(self):
        return self.random.choice(self.words)

    def is_int(self, node):
        """Return whether an expression is certainly an integer, without asking any object for it but by `len`."""
        if isinstance(node, ast.Constant):
            return type(node.value) is int
        if isinstance(node, ast.Name):
            return node.id in self.integers
        if isinstance(node, ast.BinOp):
            exact = isinstance(node.op, (ast.Add, ast.Sub, ast.Mult))
            return exact and self.is_int(node.left) and self.is_int(node.right)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return node.func.id in ("len", "ord") and self.is_builtin(node.func.id)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            return ast.dump(node.func) == _FROM_BYTES and self.is_builtin("int")
        return False

    def is_bool(self, node):
        """Return whether an expression is certainly True or False."""
        if isinstance(node, ast.Constant):
            return type(node.value) is bool
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.op, ast.Not)
        if isinstance(node, ast.BoolOp):
            return all(map(self.is_bool, node.values))
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            if isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
                return True
            return self.is_int(node.left) and self.is_int(node.comparators[0])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return node.func.id in ("bool", "isinstance", "callable", "hasattr") and self.is_builtin(node.func.id)
        return False

    def is_pure(self, node):
        """Return whether an expression can neither raise nor do anything."""
        if isinstance(node, ast.Constant):
            return True
        if isinstance(node, ast.Name):
            return node.id in self.steady
        if isinstance(node, ast.Compare):
            identity = all(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops)
            return identity and all(map(self.is_pure, [node.left, *node.comparators]))
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.op, ast.Not) and self.is_bool(node.operand) and self.is_pure(node.operand)
        return isinstance(node, ast.BoolOp) and all(self.is_bool(part) and self.is_pure(part) for part in node.values)

    def is_light(self, node):
        """Return whether it matters to nobody that a value lives a little longer than it did."""
        return isinstance(node, (ast.Constant, ast.JoinedStr)) or self.is_bool(node) or self.is_int(node)

    def asks_in_turn(self, node):
        """Return whether a test of this expression asks operands for their truth and its value would ask again."""
        if isinstance(node, ast.BoolOp):
            return not self.is_bool(node)
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.op, ast.Not) and self.asks_in_turn(node.operand)
        return isinstance(node, ast.IfExp) and (self.asks_in_turn(node.body) or self.asks_in_turn(node.orelse))


_FROM_BYTES = ast.dump(ast.parse("int.from_bytes", mode="eval").body)


def _reads_its_frame(nodes):
    for node in nodes:
        name = getattr(node, "id", None) or getattr(node, "attr", None)
        if name in FRAME_READERS:
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not (node.args or node.keywords):
            if node.func.id in _READERS_WITHOUT_ARGUMENTS:
                return True
    return False


def _rebound_within(function, nodes):
    """Names that something within the function may bind again, or that mean something else there."""
    names = set()
    for node in nodes:
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            names.update(node.names)
        elif isinstance(node, ast.NamedExpr):
            names.add(node.target.id)
        elif isinstance(node, (ast.Lambda, *FUNCTIONS)) and node is not function:
            names.update(parameters(node))
        elif isinstance(node, COMPREHENSIONS):
            targets = [inner for part in node.generators for inner in walk(part.target)]
            names.update(inner.id for inner in targets if isinstance(inner, ast.Name))
    return names


def _integers(scope, nodes):
    """Variables of which every value is an integer."""
    values, others, assigned = {}, set(), set()
    for node in nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            values.setdefault(node.targets[0].id, []).append(node.value)
            assigned.add(id(node.targets[0]))
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            exact = isinstance(node.op, (ast.Add, ast.Sub, ast.Mult))
            values.setdefault(node.target.id, []).append(node.value if exact else ast.Constant(value=None))
            assigned.add(id(node.target))
    for node in nodes:
        if id(node) not in assigned:
            others.update(bound_by(node))
    scope.integers = set(values) - others
    while True:
        kept = {name for name in scope.integers if all(map(scope.is_int, values[name]))}
        if kept == scope.integers:
            return kept
        scope.integers = kept


def _words(nodes):
    """Words of the identifiers of a function, in lower case."""
    names = {getattr(node, field, None) for node in nodes for field in ("id", "attr", "arg", "name")}
    words = {word.lower() for name in names if isinstance(name, str) for word in _WORD.findall(name)}
    words = sorted(word for word in words if word not in _RESERVED)
    return words if len(words) > 5 else words + _SPARE
