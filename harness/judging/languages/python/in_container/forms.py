"""Expressions put together: constants in other forms, and conditions whose value is known and doesn't show."""

import ast

from .functions import copied, walk


def name(text):
    return ast.Name(id=text, ctx=ast.Load())


def constant(value):
    return ast.Constant(value=value)


def call(function, *arguments):
    return ast.Call(func=name(function) if isinstance(function, str) else function, args=list(arguments), keywords=[])


def method(value, attribute, *arguments):
    return call(ast.Attribute(value=value, attr=attribute, ctx=ast.Load()), *arguments)


def assign(target, value):
    return ast.Assign(targets=[ast.Name(id=target, ctx=ast.Store())], value=value)


def walrus(scope, node):
    """The value, which has a name from now on."""
    target = ast.Name(id=scope.fresh(), ctx=ast.Store())
    return ast.NamedExpr(target=target, value=node)


def delete(target):
    return ast.Delete(targets=[ast.Name(id=target, ctx=ast.Del())])


def items(kind, *parts):
    return kind(elts=list(parts), ctx=ast.Load())


def at(value, index):
    return ast.Subscript(value=value, slice=index, ctx=ast.Load())


def negated(node):
    """Where truth alone is asked for."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return node.operand
    return ast.UnaryOp(op=ast.Not(), operand=node)


def lambda_of(parameter, body):
    one = [ast.arg(arg=parameter)] if parameter else []
    arguments = ast.arguments(posonlyargs=[], args=one, kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.Lambda(args=arguments, body=body)


def text_of(scope, value):
    """An expression for a text or bytes, of pieces that the compiler doesn't join."""
    random, empty = scope.random, value[:0]
    middle = random.randint(0, len(value))
    pieces = [constant(value[:middle]), constant(value[middle:])]
    form = random.randrange(6)
    if form == 0:
        return method(constant(empty), "join", items(random.choice([ast.List, ast.Tuple]), *pieces))
    if form == 1:
        return method(pieces[0], "__add__", pieces[1])
    if form == 2:
        return at(constant(value[::-1]), ast.Slice(step=ast.UnaryOp(op=ast.USub(), operand=constant(1))))
    if form == 3:
        return at(constant(value + value[:middle]), ast.Slice(lower=constant(0), upper=constant(len(value))))
    if form == 4 and isinstance(value, str):
        both = {"format": "{}{}", "__mod__": "%s%s"}
        chosen = random.choice(sorted(both))
        pair = pieces if chosen == "format" else [items(ast.Tuple, *pieces)]
        return method(constant(both[chosen]), chosen, *pair)
    return method(pieces[0], "join", items(ast.Tuple, constant(empty), pieces[1]))


def integer_of(scope, value):
    """An expression for an integer that the compiler doesn't compute."""
    random = scope.random
    forms = [at(items(ast.List, constant(value), constant(random.randint(0, 9))), constant(0))]
    if scope.is_builtin("int"):
        forms.append(call("int", constant(str(value))))
    if scope.is_builtin("len") and 0 <= value <= 12:
        forms.append(call("len", constant((scope.word() * 12)[:value])))
    if scope.is_builtin("ord"):
        letter = random.choice(scope.word())
        rest = constant(abs(value - ord(letter)))
        operator = ast.Add() if value >= ord(letter) else ast.Sub()
        forms.append(ast.BinOp(left=call("ord", constant(letter)), op=operator, right=rest))
    return random.choice(forms)


def _known_text(scope):
    """An expression and the text that it is."""
    value = scope.word() + scope.random.choice(["", "s", "_", "."]) + scope.random.choice(["", scope.word()])
    form = scope.random.randrange(4)
    if form == 0:
        return constant(value), value
    if form == 1:
        return method(constant(value), "upper"), value.upper()
    return text_of(scope, value), value


def _known_integer(scope):
    """An expression and the integer that it is."""
    node, text = _known_text(scope)
    if scope.is_builtin("len") and scope.random.random() < 0.5:
        return call("len", node), len(text)
    letter = scope.random.choice(text)
    return method(node, scope.random.choice(["find", "index"]), constant(letter)), text.find(letter)


def condition(scope, wanted):
    """An expression that is always `wanted`: of constants, of a parameter, or of a counter whose range is known."""
    forms = [_of_integers, _of_texts, _of_texts, _of_kinds]
    if scope.counters:
        forms += [_of_counter] * 4
    if scope.steady and scope.may_bind:
        forms += [_of_parameter] * 3
    node, value = scope.random.choice(forms)(scope)
    return node if value is wanted else negated(node)


def _compared(left, operator, right):
    return ast.Compare(left=left, ops=[operator], comparators=[right])


def _of_integers(scope):
    left, value = _known_integer(scope)
    bound = value + scope.random.randint(-6, 6)
    operator, holds = scope.random.choice(
        [
            (ast.Lt(), value < bound),
            (ast.GtE(), value >= bound),
            (ast.Eq(), value == bound),
            (ast.Gt(), value > bound),
        ]
    )
    return _compared(left, operator, integer_of(scope, bound) if bound >= 0 else constant(bound)), holds


def _of_texts(scope):
    left, text = _known_text(scope)
    piece = scope.random.choice([scope.word()[:2], text[1:3], text[:1], scope.word()])
    form = scope.random.randrange(4)
    if form == 0:
        return _compared(constant(piece), ast.In(), left), piece in text
    if form == 1:
        return method(left, "startswith", constant(piece)), text.startswith(piece)
    if form == 2:
        return _compared(left, ast.Eq(), constant(piece)), text == piece
    return method(left, "isupper"), text.isupper()


def _of_kinds(scope):
    node, _ = _known_text(scope)
    kind = scope.random.choice(["str", "bytes", "int", "dict", "list"])
    if not scope.is_builtin("isinstance", kind):
        return _of_texts(scope)
    return call("isinstance", node, name(kind)), kind == "str"


def _of_parameter(scope):
    chosen = scope.random.choice(sorted(scope.steady))
    form = scope.random.randrange(3)
    if form == 0 and scope.is_builtin("id"):
        divisor = scope.random.randint(3, 40)
        left = ast.BinOp(left=call("id", name(chosen)), op=ast.Mod(), right=constant(divisor))
        return _compared(left, ast.Lt(), constant(divisor + scope.random.randint(0, 3))), True
    if form == 1:
        return _compared(name(chosen), ast.In(), items(ast.Tuple, name(chosen), constant(scope.word()))), True
    return _compared(name(chosen), ast.Is(), name(chosen)), True


def _of_counter(scope):
    """A counter is never below 0 nor as large as its modulus."""
    chosen = scope.random.choice(sorted(scope.counters))
    modulus = scope.counters[chosen]
    form = scope.random.randrange(3)
    if form == 0:
        return _compared(name(chosen), ast.Lt(), constant(modulus + scope.random.randint(0, 2))), True
    if form == 1:
        return _compared(name(chosen), ast.Lt(), constant(0)), False
    return _compared(name(chosen), ast.Eq(), constant(modulus + scope.random.randint(0, 5))), False


def may_waver(scope):
    return bool(scope.counters or (scope.steady and scope.is_builtin("id")))


def wavering(scope):
    """A condition that holds at some times and not at others: what it chooses between must be the same."""
    divisor = scope.random.randint(2, 30)
    if scope.counters and scope.random.random() < 0.5:
        value = name(scope.random.choice(sorted(scope.counters)))
    elif scope.steady and scope.is_builtin("id"):
        shifted = ast.BinOp(
            left=call("id", name(scope.random.choice(sorted(scope.steady)))),
            op=ast.RShift(),
            right=constant(scope.random.randint(4, 9)),
        )
        value = shifted
    else:
        value = name(scope.random.choice(sorted(scope.counters)))
    remainder = ast.BinOp(left=value, op=ast.Mod(), right=constant(divisor))
    return _compared(remainder, ast.Lt(), constant(scope.random.randint(1, divisor - 1)))


def next_of_counter(scope, chosen):
    """Another value in the counter's range, which may depend on an argument's address."""
    factor, more = constant(scope.random.randint(1, 5)), constant(scope.random.randint(0, 9))
    grown = ast.BinOp(left=ast.BinOp(left=name(chosen), op=ast.Mult(), right=factor), op=ast.Add(), right=more)
    if scope.steady and scope.is_builtin("id") and scope.random.random() < 0.5:
        parameter = scope.random.choice(sorted(scope.steady))
        grown = ast.BinOp(left=grown, op=ast.Add(), right=call("id", name(parameter)))
    return assign(chosen, ast.BinOp(left=grown, op=ast.Mod(), right=constant(scope.counters[chosen])))


def is_small(node):
    """Return whether a copy of it doesn't make a function much longer."""
    left, todo = 80, [node]
    while todo and left >= 0:
        todo += ast.iter_child_nodes(todo.pop())
        left -= 1
    return left >= 0


def broken_copy(scope, node):
    """A copy of code that never runs, with something changed as a mutant would change it."""
    other = copied(node)
    changeable = [inner for inner in walk(other) if isinstance(inner, (ast.Compare, ast.BoolOp))]
    changeable += [inner for inner in walk(other) if isinstance(inner, ast.Constant) and type(inner.value) is int]
    if changeable:
        chosen = scope.random.choice(changeable)
        if isinstance(chosen, ast.Constant):
            chosen.value += scope.random.choice([-1, 1])
        elif isinstance(chosen, ast.BoolOp):
            chosen.op = ast.And() if isinstance(chosen.op, ast.Or) else ast.Or()
        else:
            chosen.ops[0] = scope.random.choice([ast.Eq, ast.NotEq, ast.Lt, ast.GtE, ast.Is, ast.NotIn])()
    return other
