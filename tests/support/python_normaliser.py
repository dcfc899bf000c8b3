"""An attacker's tool: takes a rewritten function back to one form, with the whole catalogue of rules in hand.

It sees the syntax tree, so more than an attacker has who must decompile code objects first. What it makes of pristine
code is compared with what it makes of a variant; where both are the same, the variant is known to be harmless.
"""

import ast
import copy
from collections.abc import Callable, Iterator
from typing import Any

_ROUNDS = 40
_PURE_METHODS = {"join", "upper", "isupper", "startswith", "find", "index", "__add__", "format", "__mod__"}
_PURE_CALLS: dict[str, Callable[..., Any]] = {
    "len": len, "ord": ord, "int": int, "bool": bool, "isinstance": isinstance, "getattr": getattr,
}  # fmt: skip
_KINDS = {"str": str, "bytes": bytes, "int": int, "dict": dict, "list": list}
_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Lt: lambda a, b: a < b, ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b, ast.LtE: lambda a, b: a <= b, ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b, ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
    ast.Is: lambda a, b: a is b, ast.IsNot: lambda a, b: a is not b,
}  # fmt: skip
_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_SWAP = {ast.Gt: ast.Lt, ast.GtE: ast.LtE}
_OPPOSITE = {
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.LtE: ast.Gt, ast.Gt: ast.LtE,
}  # fmt: skip


def normalised(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """One text for all that the tool knows to be the same."""
    node = copy.deepcopy(function)
    before = ""
    for _ in range(_ROUNDS):
        for inner in list(ast.walk(node)):
            if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
                counters = _Counters(inner)
                reads = [part for part in ast.walk(inner) if isinstance(part, ast.Assign)]
                own = {id(name) for part in reads if isinstance(part.value, ast.BinOp) for name in ast.walk(part)}
                others = (part for part in ast.walk(inner) if _is_read(part) and id(part) not in own)
                counters.compared = frozenset(part.id for part in others)  # type: ignore[attr-defined]
                counters.visit(inner)
        _Simplify().visit(node)
        for inner in ast.walk(node):
            for field in ("body", "orelse", "finalbody"):
                if isinstance(block := getattr(inner, field, None), list):
                    setattr(inner, field, _block(block, node, needed=field == "body"))
        after = ast.dump(node)
        if after == before:
            break
        before = after
    return before


class _Unknown(Exception):
    pass


def _value(node: ast.AST) -> Any:
    """What an expression of constants and harmless calls comes to. Raises _Unknown."""
    match node:
        case ast.Constant():
            return node.value
        case ast.UnaryOp(op=ast.Not()):
            return not _value(node.operand)
        case ast.UnaryOp(op=ast.USub()):
            return -_value(node.operand)
        case ast.Name() if node.id in _KINDS:
            return _KINDS[node.id]
        case ast.Tuple() | ast.List():
            return tuple(_value(part) for part in node.elts)
        case ast.BinOp() if type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](_value(node.left), _value(node.right))
        case ast.Compare(ops=[op]) if type(op) in _OPERATORS:
            return _compared(node)
        case ast.Call(func=ast.Name(id=name), keywords=[]) if name in _PURE_CALLS:
            return _PURE_CALLS[name](*map(_value, node.args))
        case ast.Call(func=ast.Attribute(attr=name), keywords=[]) if name in _PURE_METHODS:
            return getattr(_value(node.func.value), name)(*map(_value, node.args))
        case ast.Subscript():
            return _value(node.value)[_index(node.slice)]
    raise _Unknown


def _index(node: ast.AST) -> Any:
    if isinstance(node, ast.Slice):
        return slice(*(_value(part) if part else None for part in (node.lower, node.upper, node.step)))
    return _value(node)


def _compared(node: ast.Compare) -> Any:
    """Comparisons of one thing with itself and of remainders with their divisor are known too."""
    left, right, operator = node.left, node.comparators[0], node.ops[0]
    if isinstance(left, ast.Name) and isinstance(operator, (ast.Is, ast.IsNot)) and ast.dump(left) == ast.dump(right):
        return isinstance(operator, ast.Is)
    if isinstance(left, ast.Name) and isinstance(operator, ast.In) and isinstance(right, ast.Tuple):  # noqa: SIM102
        if any(ast.dump(left) == ast.dump(part) for part in right.elts):
            return True
    if isinstance(left, ast.BinOp) and isinstance(left.op, ast.Mod) and isinstance(operator, ast.Lt):  # noqa: SIM102
        if "'id'" in ast.dump(left.left) and _value(right) >= _value(left.right):
            return True
    return _OPERATORS[type(operator)](_value(left), _value(right))


class _Counters(ast.NodeTransformer):
    """Variables of one function that only ever are constants and remainders, and those that nothing reads."""

    def __init__(self, function: ast.AST) -> None:
        self.moduli: dict[str, int] = {}
        self.constants: dict[str, ast.expr] = {}
        stored: dict[str, list[ast.expr | None]] = {}
        self.read = {node.id for node in ast.walk(function) if _is_read(node)}
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                stored.setdefault(node.targets[0].id, []).append(node.value)
        every = [node.id for node in ast.walk(function) if isinstance(node, ast.Name) and not _is_read(node)]
        for name, values in stored.items():
            if len(values) != every.count(name):
                continue
            first, *others = sorted(values, key=lambda value: not isinstance(value, ast.Constant))
            remainders = [value for value in others if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mod)]
            if not isinstance(first, ast.Constant) or len(remainders) < len(others):
                continue
            if not others:
                self.constants[name] = first
            elif all(isinstance(value.right, ast.Constant) for value in remainders):
                self.moduli[name] = remainders[0].right.value  # type: ignore[attr-defined]

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self.constants.get(node.id, node) if _is_read(node) else node

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        self.generic_visit(node)
        return node if node.target.id in self.read else node.value

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        name, bound = node.left, node.comparators[0]
        self.generic_visit(node)
        if isinstance(name, ast.Name) and name.id in self.moduli and isinstance(bound, ast.Constant):
            modulus = self.moduli[name.id]
            if isinstance(node.ops[0], ast.Lt) and (bound.value >= modulus or bound.value <= 0):
                return ast.Constant(value=bound.value >= modulus)
            if isinstance(node.ops[0], (ast.Eq, ast.NotEq)) and bound.value >= modulus:
                return ast.Constant(value=isinstance(node.ops[0], ast.NotEq))
        if isinstance(bound, ast.Name) and bound.id in self.moduli and isinstance(name, ast.Constant):  # noqa: SIM102
            if isinstance(node.ops[0], ast.LtE) and (name.value >= self.moduli[bound.id] or name.value <= 0):
                return ast.Constant(value=name.value <= 0)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        self.generic_visit(node)
        unread = [isinstance(target, ast.Name) and target.id not in self.read for target in node.targets]
        plain = isinstance(node.value, (ast.Constant, ast.Name)) or all(
            isinstance(target, ast.Name) and target.id in self.moduli for target in node.targets
        )
        if all(unread) and plain:
            return ast.Pass()
        if all(isinstance(target, ast.Name) and self._is_only_counted(target.id) for target in node.targets):
            return ast.Pass()
        return node

    def _is_only_counted(self, name: str) -> bool:
        return name in self.moduli and name not in self.compared

    compared: frozenset[str] = frozenset()


def _is_read(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)


class _Simplify(ast.NodeTransformer):
    """Each rule for expressions, turned round."""

    def visit(self, node: ast.AST) -> Any:
        node = self.generic_visit(node)
        if not isinstance(node, ast.expr) or isinstance(node, (ast.Constant, ast.Name)):
            return node
        if not (isinstance(node, (ast.Tuple, ast.List)) and node.elts):
            try:
                value = _value(node)
                if isinstance(value, (str, bytes, int, type(None))):
                    return ast.Constant(value=value)
            except Exception:
                pass
        return self._other(node) or node

    def _other(self, node: ast.expr) -> ast.AST | None:
        match node:
            case ast.IfExp(test=ast.Constant(value=value)):
                return node.body if value else node.orelse
            case ast.IfExp(body=ast.Constant(value=True), orelse=ast.Constant(value=False)):
                return node.test
            case ast.IfExp(body=ast.Constant(value=False), orelse=ast.Constant(value=True)):
                return ast.UnaryOp(op=ast.Not(), operand=node.test)
            case ast.IfExp(test=ast.UnaryOp(op=ast.Not(), operand=test)):
                return ast.IfExp(test=test, body=node.orelse, orelse=node.body)
            case ast.UnaryOp(op=ast.Not(), operand=ast.UnaryOp(op=ast.Not(), operand=inner)):
                return inner
            case ast.UnaryOp(op=ast.Not(), operand=ast.Compare(ops=[op]) as inner):
                return ast.Compare(left=inner.left, ops=[_OPPOSITE[type(op)]()], comparators=inner.comparators)
            case ast.UnaryOp(op=ast.Not(), operand=ast.BoolOp() as inner):
                operator = ast.Or() if isinstance(inner.op, ast.And) else ast.And()
                return ast.BoolOp(operator, [ast.UnaryOp(op=ast.Not(), operand=part) for part in inner.values])
            case ast.Compare(ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=bool(value))]):
                positive = value is isinstance(node.ops[0], ast.Is)
                return node.left if positive else ast.UnaryOp(op=ast.Not(), operand=node.left)
            case ast.Compare(left=ast.Constant(), ops=[op], comparators=[right]) if not isinstance(
                right, ast.Constant
            ):
                swapped = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE}.get(type(op), type(op))
                if not isinstance(op, (ast.In, ast.NotIn)):
                    return ast.Compare(left=right, ops=[swapped()], comparators=[node.left])
            case ast.Compare(ops=[op]) if type(op) in _SWAP:
                return ast.Compare(left=node.comparators[0], ops=[_SWAP[type(op)]()], comparators=[node.left])
            case ast.Subscript(value=ast.Tuple() | ast.List() | ast.Dict()):
                return _unboxed(node)
            case ast.Subscript(slice=ast.Call(func=ast.Name(id="slice"), args=args)):
                low, high, step = [*args, None, None][:3]
                parts = [
                    None if isinstance(part, ast.Constant) and part.value is None else part for part in (low, high)
                ]
                return ast.Subscript(value=node.value, slice=ast.Slice(*parts, step), ctx=ast.Load())
            case ast.BoolOp(values=values) if any(isinstance(value, ast.Constant) for value in values):
                neutral = isinstance(node.op, ast.And)
                left = [part for part in values if not (isinstance(part, ast.Constant) and part.value is neutral)]
                return left[0] if len(left) == 1 else ast.BoolOp(op=node.op, values=left) if left else None
            case ast.IfExp(body=body, orelse=orelse) if ast.dump(body) == ast.dump(orelse):
                return body
            case ast.Call():
                return _called(node)
            case ast.BinOp(op=ast.Sub(), right=ast.UnaryOp(op=ast.USub(), operand=right)):
                return ast.BinOp(left=node.left, op=ast.Add(), right=right)
            case ast.BinOp(op=ast.Add(), left=ast.Constant(value=int()), right=right):
                return ast.BinOp(left=right, op=ast.Add(), right=node.left)
        return None


def _unboxed(node: ast.Subscript) -> ast.AST | None:
    try:
        index = _index(node.slice)
    except Exception:
        return None
    if isinstance(node.value, ast.Dict) and len(node.value.values) == 1:
        return node.value.values[0]
    if isinstance(node.value, (ast.Tuple, ast.List)) and index in range(-2, len(node.value.elts)):
        return node.value.elts[index]
    return None


def _called(node: ast.Call) -> ast.AST | None:
    last = node.args[-1] if node.args else None
    if isinstance(last, ast.Starred) and isinstance(last.value, (ast.Tuple, ast.List)):
        return ast.Call(func=node.func, args=[*node.args[:-1], *last.value.elts], keywords=node.keywords)
    if len(node.keywords) == 1 and node.keywords[0].arg is None and isinstance(node.keywords[0].value, ast.Dict):
        packed = node.keywords[0].value
        if all(isinstance(key, ast.Constant) for key in packed.keys):
            words = [
                ast.keyword(arg=key.value, value=value) for key, value in zip(packed.keys, packed.values, strict=True)
            ]  # type: ignore[union-attr]
            return ast.Call(func=node.func, args=node.args, keywords=words)
    match node:
        case ast.Call(func=ast.Lambda(args=ast.arguments(args=[])) as made, args=[]):
            return made.body
        case ast.Call(func=ast.Lambda(args=ast.arguments(args=[_]), body=ast.Compare() as body), args=[given]):
            return ast.Compare(left=given, ops=body.ops, comparators=body.comparators)
        case ast.Call(func=ast.Name(id="getattr"), args=[value, ast.Constant(value=str(name))]):
            return ast.Attribute(value=value, attr=name, ctx=ast.Load())
        case ast.Call(func=ast.Name(id="bool"), args=[value]):
            return value
        case ast.Call(func=ast.Name(id="dict" | "list" | "tuple" as kind), args=[], keywords=[]):
            empty = {"dict": ast.Dict([], []), "list": ast.List([], ast.Load()), "tuple": ast.Tuple([], ast.Load())}
            return empty[kind]
        case ast.Call(func=ast.Name(id="list"), args=[ast.Tuple(elts=parts)]):
            return ast.List(elts=parts, ctx=ast.Load())
        case ast.Call(func=ast.Name(id="tuple"), args=[ast.List(elts=parts)]):
            return ast.Tuple(elts=parts, ctx=ast.Load())
        case ast.Call(func=ast.Name(id="dict"), args=[ast.List(elts=pairs)]):
            if all(isinstance(pair, ast.Tuple) for pair in pairs):
                return ast.Dict([pair.elts[0] for pair in pairs], [pair.elts[1] for pair in pairs])
        case ast.Call(
            func=ast.Attribute(value=ast.Constant(value=""), attr="join"), args=[ast.List() | ast.Tuple() as parts]
        ):
            pieces = [part.values if isinstance(part, ast.JoinedStr) else [part] for part in parts.elts]
            if all(isinstance(part, (ast.JoinedStr, ast.Constant)) for part in parts.elts):
                return ast.JoinedStr(values=[piece for part in pieces for piece in part])
    return None


def _block(block: list[Any], function: ast.AST, needed: bool) -> list[Any]:
    """Each rule for statements, turned round."""
    made = [statement for old in block for statement in _statement(old)]
    made = _inlined(made, function)
    for at, statement in enumerate(made):
        if isinstance(statement, _ENDS):
            made = made[: at + 1]
            break
        if (
            isinstance(statement, ast.If)
            and isinstance(statement.body[-1:] and statement.body[-1], _ENDS)
            and statement.orelse
        ):
            made[at + 1 : at + 1] = statement.orelse
            statement.orelse = []
            return _block(made, function, needed)
    return made or ([ast.Pass()] if needed else [])


def _statement(node: Any) -> Iterator[Any]:
    match node:
        case ast.Pass():
            return
        case ast.If(test=ast.Constant(value=value)):
            yield from node.body if value else node.orelse
            return
        case ast.If() if list(map(ast.dump, node.body)) == list(map(ast.dump, node.orelse)):
            yield from node.body
            return
        case ast.If(test=ast.UnaryOp(op=ast.Not(), operand=test)) if node.orelse:
            node = ast.If(test=test, body=node.orelse, orelse=node.body)
        case ast.If(body=[ast.Pass()]) if node.orelse:
            node = ast.If(test=ast.UnaryOp(op=ast.Not(), operand=node.test), body=node.orelse, orelse=[])
        case ast.If(orelse=[], body=[ast.If(orelse=[]) as inner]):
            values = [*_parts(node.test), *_parts(inner.test)]
            node = ast.If(test=ast.BoolOp(op=ast.And(), values=values), body=inner.body, orelse=[])
        case ast.If(body=[ast.Return(value=ast.expr() as a)], orelse=[ast.Return(value=ast.expr() as b)]):
            node = ast.Return(value=ast.IfExp(test=node.test, body=a, orelse=b))
        case ast.If(body=[ast.Assign() as a], orelse=[ast.Assign() as b]):
            if list(map(ast.dump, a.targets)) == list(map(ast.dump, b.targets)):
                node = ast.Assign(targets=a.targets, value=ast.IfExp(test=node.test, body=a.value, orelse=b.value))
        case ast.While(test=ast.Constant(value=True), body=[*rest, ast.Break()]):
            if not any(isinstance(part, (ast.Break, ast.Continue)) for item in rest for part in ast.walk(item)):
                yield from rest
                return
        case ast.While(test=ast.Constant(value=True), body=[ast.If(body=[ast.Break()], orelse=rest) as leave, *more]):
            test = ast.UnaryOp(op=ast.Not(), operand=leave.test)
            node = ast.While(test=test, body=[*rest, *more] or [ast.Pass()], orelse=[])
        case ast.Try(handlers=handlers):
            for handler in handlers:
                if isinstance(handler.type, ast.Tuple) and len(handler.type.elts) == 1:
                    handler.type = handler.type.elts[0]
    yield node


def _parts(test: ast.expr) -> list[ast.expr]:
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]


class _Replace(ast.NodeTransformer):
    def __init__(self, name: str, value: ast.expr) -> None:
        self.name, self.value, self.count = name, value, 0

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id == self.name and isinstance(node.ctx, ast.Load):
            self.count += 1
            return self.value
        return node


def _inlined(block: list[Any], function: ast.AST) -> list[Any]:
    """Temporaries that are used once in the next statement, and loops by an iterator."""
    made = list(block)
    for at in range(len(made) - 1):
        here, after = made[at], made[at + 1]
        if not (isinstance(here, ast.Assign) and len(here.targets) == 1 and isinstance(here.targets[0], ast.Name)):
            continue
        name = here.targets[0].id
        if loop := _for(here, after):
            return [*made[:at], loop, *_without(made[at + 2 :], name)]
        uses = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == name]
        loads = [node for node in uses if isinstance(node.ctx, ast.Load)]
        inside = any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(here.value))
        if not inside and len(loads) == 1 and sum(isinstance(node.ctx, ast.Store) for node in uses) == 1:
            replace = _Replace(name, here.value)
            after = replace.visit(after)
            if replace.count:
                return [*made[:at], after, *_without(made[at + 2 :], name)]
    return made


def _without(block: list[Any], name: str) -> list[Any]:
    return [node for node in block if not (isinstance(node, ast.Delete) and name in ast.dump(node.targets[0]))]


def _for(here: ast.Assign, after: ast.AST) -> ast.For | None:
    match here, after:
        case (
            ast.Assign(value=ast.Call(func=ast.Name(id="iter"), args=[over])),
            ast.While(test=ast.Constant(value=True), body=[ast.Try(body=[ast.Assign(targets=[target])]), *body]),
        ):
            return ast.For(target=target, iter=over, body=body or [ast.Pass()], orelse=[])
    return None
